/**
 * One complete attempt: token ids with who wrote each of them. The owner is recorded when a token is appended;
 * nothing here is ever derived from decoded text, and nothing is tokenised twice.
 */
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { Task } from '../tasks/task.ts';
import type { PythonErrorKind } from '../tools/python/python.ts';

/** Who wrote a token. */
export const PROMPT = 0;
export const POLICY = 1;
export const ENVIRONMENT = 2;
export type Owner = typeof PROMPT | typeof POLICY | typeof ENVIRONMENT;

/** `stray`: policy tokens outside every tag pair, and tags that close nothing. */
export type SpanKind = 'prompt' | 'think' | 'call' | 'output' | 'answer' | 'stray';

/** A token range [start, end), tags included. Spans cover the trajectory without gaps or overlaps. */
export interface Span {
  readonly kind: SpanKind;
  readonly start: number;
  readonly end: number;
  readonly owner: Owner;
  /** Whether its closing tag is there. Prompts and strays have none and count as closed. */
  readonly closed: boolean;
  /** An output tag that the policy wrote itself: it earns nothing. */
  readonly forged: boolean;
}

/** A call that was executed. `ok` is what the runtime said. */
export interface ToolCall {
  readonly code: string;
  readonly ok: boolean;
  /** What entered the context between the output tags, before tokenisation. */
  readonly output: string;
  readonly truncated: boolean;
  readonly errorKind?: PythonErrorKind;
  readonly errorType?: string;
  readonly seconds: number;
}

/**
 * Why a rollout ended: `<eos>`; the token budget, or an observation that would not fit; one call more than
 * allowed; or the person stopped it.
 */
export type StopReason = 'end' | 'length' | 'calls' | 'cancelled';

export interface Trajectory {
  readonly task: Task;
  /** Length n, prompt first. */
  readonly tokens: Uint32Array;
  /** Length n; values of `Owner`. */
  readonly owner: Uint8Array;
  /** Length n, under the law that sampled; NaN for prompt and observations. */
  readonly logProbs: Float32Array;
  readonly spans: readonly Span[];
  readonly calls: readonly ToolCall[];
  readonly stop: StopReason;
}

/** Ids of the tags of a rollout. */
export interface Tags {
  readonly bos: number;
  readonly eos: number;
  readonly think: TagPair;
  readonly call: TagPair;
  readonly output: TagPair;
  /** Function calling has none: there the final state is the answer. */
  readonly answer?: TagPair;
}

export interface TagPair {
  readonly open: number;
  readonly close: number;
}

/** ARTIST's two vocabularies of tags: of math with Python, and of function calling. The kinds of spans are the same. */
const TAG_NAMES = {
  math: { think: 'think', call: 'python', output: 'output' },
  functions: { think: 'reasoning', call: 'tool', output: 'tool_result' },
} as const;

/** @throws RangeError where the vocabulary lacks a tag. */
export function tagsOf(tokenizer: Tokenizer): Tags {
  const pair = (name: string): TagPair => ({ open: tokenizer.id(`<${name}>`), close: tokenizer.id(`</${name}>`) });
  const functions = tokenizer.has('<tool>');
  const names = TAG_NAMES[functions ? 'functions' : 'math'];
  return {
    bos: tokenizer.id('<bos>'),
    eos: tokenizer.id('<eos>'),
    think: pair(names.think),
    call: pair(names.call),
    output: pair(names.output),
    ...(functions ? {} : { answer: pair('answer') }),
  };
}

/** The one mask of loss, lengths and metrics: 1 where the policy wrote the token. */
export function policyMask(trajectory: Pick<Trajectory, 'owner'>): Uint8Array {
  return trajectory.owner.map((owner) => (owner === POLICY ? 1 : 0));
}

/** Tokens that the policy wrote. */
export function policyLength(trajectory: Pick<Trajectory, 'owner'>): number {
  return trajectory.owner.reduce((n, owner) => n + (owner === POLICY ? 1 : 0), 0);
}
