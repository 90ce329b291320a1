/**
 * Demonstrations of mixed quality, on purpose: direct answers, good calls, and calls with bugs, some mended. A base
 * policy that has seen all of them has something left to choose, which is what reinforcement learning teaches.
 * Observations come from the runtime that will answer the policy.
 */
import type { Tokenizer } from '../policy/tokenizer.ts';
import { Random } from '../policy/random.ts';
import { observationOf, promptOf, type CallRequest, type RunCalls } from '../rollout/rollout.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type Owner, type ToolCall } from '../rollout/trajectory.ts';
import { keysOf, nextCall, numberBehind, withNumbers } from '../tasks/lookup.ts';
import type { Suite, Task } from '../tasks/task.ts';
import type { PythonResult } from '../tools/python/python.ts';

/** Tokens with their owners, as a rollout would have recorded them. */
export interface Demonstration {
  readonly tokens: Uint32Array;
  readonly owner: Uint8Array;
}

/** Shares of the mixture. Lists by tier start at tier 1. */
export const MIXTURE = {
  tierWeights: [2, 1, 1.5, 1.5, 3],
  /** Answers without a call. */
  direct: [0.65, 0.45, 0.35, 0.3, 0.25],
  /** Of the rest, good : bug. */
  good: 25,
  bug: 30,
  /** Of good ones that need several calls, those that take the first output for the answer. */
  early: 0.3,
  /** After a bug: mended, the same bug again, or a guess. */
  mended: 0.4,
  again: 0.1,
  /** Demonstrations with one fault of form. */
  fault: 0.15,
  /** No think block, `</think>` missing, `</answer>` missing, a second answer. */
  faults: [0.3, 0.2, 0.2, 0.3],
  /** From this tier on true answers cannot be known by heart: as targets they are noise, and delay copying. */
  unlearnableFrom: 3,
} as const;

const FAULTS = ['no-think', 'think-open', 'answer-open', 'second-answer'] as const;
type Fault = (typeof FAULTS)[number];

/** A piece of a demonstration: text of the policy, or a call, written once the numbers printed before it are known. */
type Piece = { readonly text: string } | { readonly call: (numbers: readonly string[]) => string };

/** Calls that a rollout may make. */
const MAX_CALLS = 3;

/**
 * The pieces of one demonstration.
 *
 * ```
 * direct  <think>KIND: easy</think><answer>A</answer>
 * good    <think>KIND: use code</think><python>print(E)</python>…<answer>A</answer>
 * bug     <think>KIND: use code</think><python>BUG</python>… then mended, the same bug again, or a guess
 * ```
 *
 * A lookup has `<python>look('kxq')</python>…<think>next</think>` before the call that computes, and its bug in any
 * of its calls.
 */
function writeDemonstration(task: Task, random: Random): Piece[] {
  const at = task.tier - 1;
  const fault: Fault | undefined = random.next() < MIXTURE.fault ? FAULTS[random.weighted(MIXTURE.faults)] : undefined;
  const guess = task.tier >= MIXTURE.unlearnableFrom ? String(random.integer(10, 99)) : task.answer;
  const think = (text: string): Piece[] =>
    fault === 'no-think' ? [] : [{ text: `<think>${task.kind}: ${text}${fault === 'think-open' ? '' : '</think>'}` }];
  const answer = (text: string): Piece[] => {
    const closed = `<answer>${text}</answer>`;
    if (fault === 'answer-open') return [{ text: `<answer>${text}` }];
    return [{ text: fault === 'second-answer' ? closed + closed : closed }];
  };
  const [firstKey, ...otherKeys] = keysOf(task);
  const turns = firstKey === undefined ? 1 : 2 + otherKeys.length;
  const call: Piece = { call: (numbers) => nextCall(task, numbers) };
  const next: Piece = { text: '<think>next</think>' };
  const calls = (count: number): Piece[] => Array.from({ length: count }, (_, i) => (i === 0 ? [call] : [next, call])).flat();

  if (random.next() < (MIXTURE.direct[at] ?? 0)) return [...think('easy'), ...answer(guess)];
  if (random.next() * (MIXTURE.good + MIXTURE.bug) < MIXTURE.good) {
    if (firstKey !== undefined && random.next() < MIXTURE.early) {
      return [...think('use code'), call, ...answer(String(numberBehind(firstKey)))];
    }
    return [...think('use code'), ...calls(turns), ...answer(task.answer)];
  }
  const wrong = firstKey === undefined ? 0 : random.integer(0, turns - 1);
  const before = wrong === 0 ? [] : [...calls(wrong), next];
  const bug = random.integer(0, 2);
  const buggy: Piece = { call: (numbers) => buggyCall(task, numbers, bug) };
  const outcome = random.next();
  if (outcome < MIXTURE.mended && turns < MAX_CALLS) {
    return [...think('use code'), ...before, buggy, { text: '<think>fix it</think>' }, ...calls(turns - wrong), ...answer(task.answer)];
  }
  if (outcome >= MIXTURE.mended && outcome < MIXTURE.mended + MIXTURE.again && wrong + 2 <= MAX_CALLS) {
    return [...think('use code'), ...before, buggy, { text: '<think>fix it</think>' }, buggy, ...answer(guess)];
  }
  return [...think('use code'), ...before, buggy, ...answer(guess)];
}

/** A name that does not exist, a bracket that is not closed, or a call that runs and does not do what is needed. */
function buggyCall(task: Task, numbers: readonly string[], bug: number): string {
  const key = keysOf(task)[numbers.length];
  const expression = withNumbers(task, numbers);
  const wanted = key === undefined ? expression : `'${key}'`;
  const idle = key === undefined ? expression : `print(${expression.replace(key, `look('${key}')`)})`;
  return [`show(${wanted})`, `${key === undefined ? 'print' : 'look'}(${wanted}`, idle][bug] ?? idle;
}

/**
 * `count` demonstrations on training questions, less those longer than `maxLength` tokens (a few long questions with
 * the same bug twice). Written turn by turn, the calls of a turn run as one batch. The same seed and stream give the
 * same demonstrations.
 */
export async function writeDemonstrations(
  suite: Suite,
  tokenizer: Tokenizer,
  runCalls: RunCalls,
  count: number,
  maxLength: number,
  seed: number,
  stream: number,
): Promise<Demonstration[]> {
  const random = new Random(seed, stream);
  const writers = Array.from({ length: count }, (_, i) => {
    const tier = suite.tiers[random.weighted(MIXTURE.tierWeights.slice(0, suite.tiers.length))] ?? 1;
    const task = suite.draw(random, tier, 'train');
    return write(task, writeDemonstration(task, random), tokenizer, { seed, step: stream, stream: i });
  });
  const demonstrations = new Array<Demonstration>(count);
  let asking: { readonly i: number; readonly call: CallRequest }[] = [];
  const goOn = (i: number, result?: PythonResult): void => {
    const next = result === undefined ? writers[i]?.next() : writers[i]?.next(result);
    if (next?.done === true) demonstrations[i] = next.value;
    else if (next !== undefined) asking.push({ i, call: next.value });
  };
  for (const i of writers.keys()) goOn(i);
  while (asking.length > 0) {
    const answered = asking;
    const results = await runCalls(answered.map(({ call }) => call));
    asking = [];
    for (const [at, { i }] of answered.entries()) goOn(i, results[at]);
  }
  return demonstrations.filter(({ tokens }) => tokens.length <= maxLength);
}

/** Writes one demonstration: yields each of its calls, and is resumed with what the call gave. */
function* write(
  task: Task,
  pieces: readonly Piece[],
  tokenizer: Tokenizer,
  key: Pick<CallRequest, 'seed' | 'step' | 'stream'>,
): Generator<CallRequest, Demonstration, PythonResult> {
  const tags = tagsOf(tokenizer);
  const tokens: number[] = [];
  const owner: number[] = [];
  const earlier: ToolCall[] = [];
  const append = (ids: Uint32Array, by: Owner): void => {
    for (const id of ids) {
      tokens.push(id);
      owner.push(by);
    }
  };
  append(promptOf(task, tokenizer), PROMPT);
  for (const piece of pieces) {
    if ('text' in piece) append(tokenizer.encode(piece.text), POLICY);
    else {
      const code = piece.call(earlier.flatMap(({ output }) => /^\d+/.exec(output) ?? []));
      append(tokenizer.encode(`<python>${code}</python>`), POLICY);
      const result = yield { code, task, earlier: [...earlier], ...key };
      append(observationOf(result.output, tags, tokenizer), ENVIRONMENT);
      earlier.push({ code, ...result });
    }
  }
  append(Uint32Array.of(tags.eos), POLICY);
  return { tokens: Uint32Array.from(tokens), owner: Uint8Array.from(owner) };
}
