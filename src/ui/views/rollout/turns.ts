/** A trajectory as a conversation of two: what the policy wrote, and what the environment answered. Pure; no DOM. */
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { ENVIRONMENT, POLICY, PROMPT, type Owner, type SpanKind, type ToolCall } from '../../../rollout/trajectory.ts';
import { tokenizerOf } from '../step/tokenizers.ts';

export interface Turn {
  readonly kind: SpanKind;
  readonly owner: Owner;
  /** Tokens [start, end), tags included. */
  readonly start: number;
  readonly end: number;
  /** What stands between the tags; the tags where nothing does. */
  readonly text: string;
  readonly closed: boolean;
  readonly forged: boolean;
  /** Of a call that was executed: what it was, and its number from 1. */
  readonly call?: { readonly call: ToolCall; readonly number: number };
}

type Told = Pick<TrainedTrajectory, 'task' | 'spans' | 'tokens' | 'calls'>;

/** The spans, each executed call with what the runtime said of it. */
export function turnsOf(rollout: Told): Turn[] {
  const { spans, calls } = rollout;
  let executed = 0;
  return spans.map((span, i): Turn => {
    const { kind, owner, start, end, closed, forged } = span;
    const turn = { kind, owner, start, end, closed, forged, text: innerText(rollout, start, end) };
    if (kind !== 'call' || !closed) return turn;
    // A call was executed where an observation follows; or nothing does, since the observation would not have fitted.
    const next = spans[i + 1];
    const answered = next === undefined ? executed < calls.length : next.owner === ENVIRONMENT;
    const call = answered ? calls[executed] : undefined;
    return call === undefined ? turn : { ...turn, call: { call, number: ++executed } };
  });
}

/** The text of a span without its tags, where it has any. */
function innerText(rollout: Pick<Told, 'task' | 'tokens'>, start: number, end: number): string {
  const { task, tokens } = rollout;
  const [from, to] = innerRange(rollout, start, end);
  return tokenizerOf(task).decode(from < to ? tokens.subarray(from, to) : tokens.subarray(start, end));
}

/** The range between the tags of a span. */
export function innerRange({ task, tokens }: Pick<Told, 'task' | 'tokens'>, start: number, end: number): readonly [number, number] {
  const tokenizer = tokenizerOf(task);
  const special = (i: number): boolean => i < end && tokenizer.isSpecial(tokens[i] ?? 0);
  const from = special(start) ? start + 1 : start;
  return [from, end > from && special(end - 1) ? end - 1 : end];
}

export function turnAt(turns: readonly Turn[], token: number): number {
  return turns.findIndex(({ start, end }) => token >= start && token < end);
}

/** What can be put in the place of a turn: code for a call, text for an observation. */
export function isEditable({ kind, owner }: Turn): boolean {
  return (kind === 'call' && owner === POLICY) || (kind === 'output' && owner === ENVIRONMENT);
}

/** The turn that `edit` means at a token: the one it stands in, else the next that can be edited, else the last. */
export function editableAt(turns: readonly Turn[], token: number): Turn | undefined {
  return turns.find((turn) => isEditable(turn) && turn.end > token) ?? turns.findLast(isEditable);
}

/** Where the policy begins to write; 0 where it wrote nothing. */
export function firstDrawn(owner: Uint8Array): number {
  return Math.max(0, owner.findIndex((who) => who !== PROMPT));
}
