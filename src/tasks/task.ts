/** What is asked: a question, its exact answer, and the code that computes it. Pure; no policy, no text format. */
import { Random } from './random.ts';

/** Which questions a policy may train on; the two sets never meet (see each suite for exceptions). */
export type Split = 'train' | 'held-out';

export interface Task {
  /** Unique within the suite: the question itself. */
  readonly id: string;
  readonly suite: string;
  /** Difficulty, from 1. */
  readonly tier: number;
  readonly question: string;
  /** Exact, as Python would print it. */
  readonly answer: string;
  /** A Python expression whose value is the answer. */
  readonly expression: string;
  /** One word for what kind of question this is. */
  readonly kind: string;
}

/** The suite of function calling: known by its name where its tasks are not needed. */
export const WORKFLOW = 'workflow';

export interface Suite {
  readonly name: string;
  readonly tiers: readonly number[];
  /** Whether an evaluation asks no question twice; left out where some tier has too few for that. */
  readonly distinct?: boolean;
  /** Draws one question of a tier from one side of the split. */
  draw(random: Random, tier: number, split: Split): Task;
  /** Whether a given answer is right. */
  check(task: Task, answer: string): boolean;
  /** The side on which a question lies; tiers that are exempt from the split lie on both. */
  splitOf(task: Task): Split | 'both';
}

/**
 * `count` tasks with the tiers in equal parts, in a fixed order of tiers. The same seed, stream and split give the
 * same tasks.
 */
export function drawTasks(
  suite: Suite,
  count: number,
  split: Split,
  seed: number,
  stream: number,
  tiers: readonly number[] = suite.tiers,
): Task[] {
  const random = new Random(seed, stream);
  return Array.from({ length: count }, (_, i) => {
    const tier = tiers[i % tiers.length];
    if (tier === undefined) throw new RangeError('no tiers to draw from');
    return suite.draw(random, tier, split);
  });
}

/** As `drawTasks` with all tiers, and no question twice. Ends only where each tier has enough of them. */
export function drawDifferentTasks(suite: Suite, count: number, split: Split, seed: number, stream: number): Task[] {
  const random = new Random(seed, stream);
  const drawn = new Map<string, Task>();
  while (drawn.size < count) {
    const tier = suite.tiers[drawn.size % suite.tiers.length];
    if (tier === undefined) throw new RangeError('no tiers to draw from');
    const task = suite.draw(random, tier, split);
    drawn.set(task.id, task);
  }
  return [...drawn.values()];
}
