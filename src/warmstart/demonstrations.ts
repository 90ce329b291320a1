/**
 * Demonstrations of mixed quality, on purpose: direct answers, good calls, and calls with bugs, some mended. A base
 * policy that has seen all of them has something left to choose, which is what reinforcement learning teaches.
 * Observations come from the runtime that will answer the policy.
 */
import type { Tokenizer } from '../policy/tokenizer.ts';
import { Random } from '../policy/random.ts';
import { observationOf, promptOf, type RunCalls } from '../rollout/rollout.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type Owner } from '../rollout/trajectory.ts';
import type { Suite, Task } from '../tasks/task.ts';

/** Tokens with their owners, as a rollout would have recorded them. */
export interface Demonstration {
  readonly tokens: Uint32Array;
  readonly owner: Uint8Array;
}

/** Shares of the mixture. Lists by tier start at tier 1. */
export const MIXTURE = {
  tierWeights: [2, 1, 1.5, 1.5],
  /** Answers without a call. */
  direct: [0.65, 0.45, 0.35, 0.3],
  /** Of the rest, good : bug. */
  good: 25,
  bug: 30,
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

/** A piece of a demonstration: text of the policy, or a call whose observation is still to come. */
type Piece = { readonly text: string } | { readonly call: string };

/**
 * The texts of one demonstration, observations left open.
 *
 * ```
 * direct  <think>KIND: easy</think><answer>A</answer>
 * good    <think>KIND: use code</think><python>print(E)</python>…<answer>A</answer>
 * bug     <think>KIND: use code</think><python>BUG</python>… then mended, the same bug again, or a guess
 * ```
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
  const good: Piece = { call: `print(${task.expression})` };

  if (random.next() < (MIXTURE.direct[at] ?? 0)) return [...think('easy'), ...answer(guess)];
  if (random.next() * (MIXTURE.good + MIXTURE.bug) < MIXTURE.good) return [...think('use code'), good, ...answer(task.answer)];
  const buggy: Piece = { call: random.pick([`show(${task.expression})`, `print(${task.expression}`, task.expression]) };
  const next = random.next();
  if (next < MIXTURE.mended) {
    return [...think('use code'), buggy, { text: '<think>fix it</think>' }, good, ...answer(task.answer)];
  }
  if (next < MIXTURE.mended + MIXTURE.again) {
    return [...think('use code'), buggy, { text: '<think>fix it</think>' }, buggy, ...answer(guess)];
  }
  return [...think('use code'), buggy, ...answer(guess)];
}

/**
 * `count` demonstrations on training questions, less those longer than `maxLength` tokens (a few long questions with
 * the same bug twice). All their calls run as one batch. The same seed and stream give the same demonstrations.
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
  const drafts = Array.from({ length: count }, () => {
    const tier = suite.tiers[random.weighted(MIXTURE.tierWeights.slice(0, suite.tiers.length))] ?? 1;
    const task = suite.draw(random, tier, 'train');
    return { task, pieces: writeDemonstration(task, random) };
  });
  const results = await runCalls(drafts.flatMap(({ task, pieces }, i) =>
    pieces.flatMap((piece) => ('call' in piece ? [{ code: piece.call, task, earlier: [], seed, step: stream, stream: i }] : []))));
  const outputs = results.values();
  const tags = tagsOf(tokenizer);
  const demonstrations = drafts.map(({ task, pieces }): Demonstration => {
    const tokens: number[] = [];
    const owner: number[] = [];
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
        append(tokenizer.encode(`<python>${piece.call}</python>`), POLICY);
        append(observationOf(outputs.next().value?.output ?? '', tags, tokenizer), ENVIRONMENT);
      }
    }
    append(Uint32Array.of(tags.eos), POLICY);
    return { tokens: Uint32Array.from(tokens), owner: Uint8Array.from(owner) };
  });
  return demonstrations.filter(({ tokens }) => tokens.length <= maxLength);
}
