/**
 * What was asked of the lab's microscope, and its answers. An answer is kept under the key of its question, so that
 * going back to a token, an operation or a switch costs nothing.
 */
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { Inspection, InspectionKind, InspectionPhase, InspectionResults } from '../../lab/inspection.ts';
import type { LabEvent } from '../../lab/protocol.ts';
import type { RuleFailure } from '../../reward/rule.ts';
import { labStore, onLabEvent, send } from './lab.ts';

export type Answer<K extends InspectionKind> =
  | { readonly state: 'waiting'; readonly phase: InspectionPhase | undefined; readonly done: number; readonly of: number }
  | { readonly state: 'ready'; readonly result: InspectionResults[K] }
  | { readonly state: 'failed'; readonly message: string; readonly rule?: RuleFailure };

const WAITING = { state: 'waiting', phase: undefined, done: 0, of: 0 } as const;

/** Answers kept; the largest hold a few hundred kilobytes. */
const KEPT = 48;

const answers = createStore<{ readonly of: ReadonlyMap<string, Answer<InspectionKind>> }>(() => ({ of: new Map() }));
const keyOf = new Map<number, string>();
let last = 0;

function put(key: string, answer: Answer<InspectionKind>): void {
  answers.setState(({ of }) => {
    const kept = [...of].filter(([k]) => k !== key).slice(1 - KEPT);
    return { of: new Map([...kept, [key, answer]]) };
  });
}

onLabEvent((event: LabEvent): void => {
  if (event.type !== 'inspected' && event.type !== 'inspect-progress' && event.type !== 'inspect-failed') return;
  const key = keyOf.get(event.id);
  if (key === undefined) return;
  if (event.type === 'inspect-progress') {
    put(key, { state: 'waiting', phase: event.phase, done: event.done, of: event.of });
    return;
  }
  keyOf.delete(event.id);
  put(key, event.type === 'inspected' ? { state: 'ready', result: event.result } : { state: 'failed', message: event.message, ...(event.rule === undefined ? {} : { rule: event.rule }) });
});

/** Asks, unless it is being asked or the answer is there. A question that failed is asked again. */
export function ask(key: string, inspection: Inspection): void {
  const known = answers.getState().of.get(key);
  if (known !== undefined && known.state !== 'failed') return;
  const id = ++last;
  keyOf.set(id, key);
  put(key, WAITING);
  send({ type: 'inspect', id, inspection });
}

/**
 * Asks as `ask` does, and resolves with the answer.
 * @throws what the lab says where it failed; an AbortError where the question was taken back.
 */
export function answerTo<I extends Inspection>(
  key: string, inspection: I, onWaiting: (answer: Extract<Answer<I['kind']>, { state: 'waiting' }>) => void,
): Promise<InspectionResults[I['kind']]> {
  return new Promise((resolve, reject) => {
    ask(key, inspection);
    let known: unknown;
    const tell = ({ of }: { readonly of: ReadonlyMap<string, Answer<InspectionKind>> }): void => {
      const answer = of.get(key) as Answer<I['kind']> | undefined;
      if (answer !== undefined && answer === known) return;
      known = answer;
      if (answer?.state === 'waiting') {
        onWaiting(answer);
        return;
      }
      end();
      if (answer === undefined) reject(new DOMException('The question was taken back', 'AbortError'));
      else if (answer.state === 'failed') reject(new Error(answer.message));
      else resolve(answer.result);
    };
    const end = answers.subscribe(tell);
    tell(answers.getState());
  });
}

/** Takes a question back that has no answer yet. */
export function cancelAsking(key: string): void {
  for (const [id, k] of keyOf) {
    if (k !== key) continue;
    keyOf.delete(id);
    send({ type: 'inspect-cancel', id });
  }
  if (answers.getState().of.get(key)?.state !== 'waiting') return;
  answers.setState(({ of }) => ({ of: new Map([...of].filter(([k]) => k !== key)) }));
}

/**
 * Asks as soon as the lab is there, and gives what is known so far.
 * @param key everything that the answer depends on; undefined asks nothing.
 * @param make called once for a key.
 */
export function useInspection<I extends Inspection>(key: string | undefined, make: () => I): Answer<I['kind']> | undefined {
  const open = useStore(labStore, (s) => s.connection === 'open');
  const answer = useAnswer<I['kind']>(key);
  useEffect(() => {
    // A failed question is not asked again by itself.
    if (open && key !== undefined && !answers.getState().of.has(key)) ask(key, make());
    // `make` belongs to the key.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [open, key]);
  return key === undefined ? undefined : (answer ?? WAITING);
}

/** The answer to what was asked with `ask`. */
export function useAnswer<K extends InspectionKind>(key: string | undefined): Answer<K> | undefined {
  // The key holds the kind of the question, and so that of the answer.
  return useStore(answers, ({ of }) => (key === undefined ? undefined : of.get(key))) as Answer<K> | undefined;
}
