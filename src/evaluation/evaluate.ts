/** What a policy does on held-out questions, sampled or greedy, scored by the rule of a run. */
import type { PolicyEngine } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { PAPER_REWARD, type RewardParts, type RewardSettings } from '../reward/reward.ts';
import { scorerOf } from '../reward/score.ts';
import { rollOut, type RunCalls } from '../rollout/rollout.ts';
import { workflowFigures, type WorkflowFigures } from '../reward/workflow.ts';
import { policyLength, type StopReason, type Trajectory } from '../rollout/trajectory.ts';
import { drawDifferentTasks, drawTasks, type Suite } from '../tasks/task.ts';
import { bootstrap, passAtK, wilson, type Interval } from './statistics.ts';

export interface EvaluationSettings {
  readonly questionsPerTier: number;
  /** Rollouts of each question. */
  readonly samples: number;
  readonly seed: number;
  /** 0 takes the most probable token: then one sample says all. */
  readonly temperature: number;
  readonly maxCalls: number;
  readonly maxLength: number;
  readonly reward: RewardSettings;
  /** Ids never sampled, beside those of the checkpoint (`conditions.ts`). */
  readonly bannedTokens: readonly number[];
}

export const DEFAULT_EVALUATION: EvaluationSettings = {
  questionsPerTier: 128, samples: 1, seed: 1, temperature: 1, maxCalls: 3, maxLength: 160, reward: PAPER_REWARD, bannedTokens: [],
};

/** The parts of a reward, format in one. Those of the other rule are left out. */
export const PART_NAMES = ['answer', 'state', 'functions', 'format', 'execution', 'callCost'] as const;
export type PartName = (typeof PART_NAMES)[number];

/** Figures of some rollouts: means over them, unless said otherwise. */
export interface Figures {
  /** pass@1: right answers, or workflows whose final state is the goal. */
  readonly accuracy: number;
  /** 95 %: Wilson's with one sample a question; with several the bootstrap over questions. */
  readonly accuracyInterval: Interval;
  /** pass@k, without bias, for k = 1, 2, 4, … up to the samples of a question. */
  readonly passAt: Readonly<Record<number, number>>;
  /** The total, of at most 4; of at most 1.2 for workflows. */
  readonly reward: number;
  /** They add up to the reward, where none was stretched for a part that the rule left out. */
  readonly rewardParts: Readonly<Partial<Record<PartName, number>>>;
  /** Share of rollouts in the strict form. */
  readonly strictFormat: number;
  /** Calls a rollout. */
  readonly calls: number;
  /** Share of calls that ran; null where none was made. */
  readonly callSuccess: number | null;
  /** Of rollouts in which a call failed, the share in which a later call ran; null where none failed. */
  readonly selfCorrection: number | null;
  /** Of rollouts that corrected themselves, the share with the right answer; null where none did. */
  readonly rightAfterCorrection: number | null;
  /** Tokens that the policy wrote. */
  readonly tokens: number;
  /** Share of rollouts by the reason why they ended. */
  readonly stops: Readonly<Record<StopReason, number>>;
  /** Counts of the paper's τ-bench figure; of workflows alone. */
  readonly workflow?: WorkflowFigures;
}

export interface TierResult extends Figures {
  readonly tier: number;
}

export interface EvaluationResult extends Figures {
  readonly tiers: readonly TierResult[];
}

export interface ScoredRollout {
  readonly trajectory: Trajectory;
  readonly reward: RewardParts;
}

export interface EvaluationParts {
  readonly engine: PolicyEngine;
  readonly tokenizer: Tokenizer;
  readonly suite: Suite;
  readonly runCalls: RunCalls;
  readonly signal?: AbortSignal;
  /** Rollouts that have ended, of all. */
  readonly onProgress?: (done: number, of: number) => void;
  /** Sees the rollouts of each batch once they are scored. */
  readonly onRollouts?: (scored: readonly ScoredRollout[]) => void;
}

/** Rollouts in one batch: the size of a training step, so that no further shapes have to be compiled. */
const BATCH = 96;
/** Keeps the random numbers of evaluations apart from those of training steps. */
const EVALUATION_STEP = 0x7e57;

/**
 * Deterministic for a seed, whatever policy is evaluated: two of them meet the same questions.
 * @throws the signal's reason when cancelled; RangeError where nothing would be sampled, or greedily several times.
 */
export async function evaluate(parts: EvaluationParts, settings: EvaluationSettings = DEFAULT_EVALUATION): Promise<EvaluationResult> {
  const { engine, tokenizer, suite, runCalls, signal } = parts;
  const { questionsPerTier, samples, seed } = settings;
  if (questionsPerTier < 1 || samples < 1) throw new RangeError('an evaluation needs at least one question and one sample');
  if (settings.temperature === 0 && samples > 1) throw new RangeError('greedy samples of a question are all the same: take one');
  const draw = suite.distinct === true ? drawDifferentTasks : drawTasks;
  const questions = draw(suite, questionsPerTier * suite.tiers.length, 'held-out', seed, EVALUATION_STEP);
  const tasks = questions.flatMap((task) => Array.from({ length: samples }, () => task));
  const score = scorerOf(suite, tokenizer, settings.reward);
  const scored: ScoredRollout[] = [];
  for (let from = 0; from < tasks.length; from += BATCH) {
    const trajectories = await rollOut({
      engine, tokenizer, runCalls,
      tasks: tasks.slice(from, from + BATCH),
      seed,
      step: EVALUATION_STEP,
      firstStream: from,
      temperature: settings.temperature,
      bannedTokens: settings.bannedTokens,
      maxCalls: settings.maxCalls,
      maxLength: Math.min(settings.maxLength, engine.config?.max_position_embeddings ?? settings.maxLength),
      ...(signal === undefined ? {} : { signal }),
    });
    signal?.throwIfAborted();
    const batch = trajectories.map((trajectory) => ({ trajectory, reward: score(trajectory) }));
    scored.push(...batch);
    parts.onRollouts?.(batch);
    parts.onProgress?.(scored.length, tasks.length);
  }
  const ofTier = (tier: number): ScoredRollout[] => scored.filter(({ trajectory }) => trajectory.task.tier === tier);
  return {
    ...figuresOf(scored, samples, seed),
    tiers: suite.tiers.map((tier) => ({ tier, ...figuresOf(ofTier(tier), samples, seed) })),
  };
}

/** @param scored rollouts question by question, `samples` of each. */
export function figuresOf(scored: readonly ScoredRollout[], samples: number, seed: number): Figures {
  const calls = scored.flatMap(({ trajectory }) => trajectory.calls);
  const stumbled = scored.filter(({ trajectory }) => trajectory.calls.some((call) => !call.ok));
  const corrected = stumbled.filter(({ trajectory }) => correctedItself(trajectory));
  const right = ({ reward }: ScoredRollout): number => (reward.correct ? 1 : 0);
  const rightOf = Array.from({ length: scored.length / samples }, (_, i) => sum(scored.slice(i * samples, (i + 1) * samples), right));
  const stopped = (reason: StopReason): number => mean(scored, ({ trajectory }) => (trajectory.stop === reason ? 1 : 0));
  return {
    accuracy: mean(scored, right),
    accuracyInterval: samples === 1 ? wilson(sum(scored, right), scored.length) : bootstrap(rightOf.map((n) => n / samples), seed),
    passAt: Object.fromEntries(powersOfTwo(samples).map((k) => [k, mean(rightOf, (n) => passAtK(samples, n, k))])),
    reward: mean(scored, ({ reward }) => reward.total),
    rewardParts: partMeans(scored),
    strictFormat: mean(scored, ({ reward }) => (reward.formatStrict > 0 ? 1 : 0)),
    calls: calls.length / scored.length,
    callSuccess: meanOrNull(calls, (call) => (call.ok ? 1 : 0)),
    selfCorrection: meanOrNull(stumbled, ({ trajectory }) => (correctedItself(trajectory) ? 1 : 0)),
    rightAfterCorrection: meanOrNull(corrected, right),
    tokens: mean(scored, ({ trajectory }) => policyLength(trajectory)),
    stops: { end: stopped('end'), length: stopped('length'), calls: stopped('calls'), cancelled: stopped('cancelled') },
    ...(ofWorkflows(scored) ? { workflow: workflowFigures(scored) } : {}),
  };
}

const ofWorkflows = (scored: readonly ScoredRollout[]): boolean => scored.every(({ reward }) => reward.workflow !== undefined);

function partMeans(scored: readonly ScoredRollout[]): Figures['rewardParts'] {
  const part = (value: (reward: RewardParts) => number): number => mean(scored, ({ reward }) => value(reward));
  const format = part((r) => r.formatRelaxed + r.formatStrict);
  const callCost = part((r) => r.callCost);
  return ofWorkflows(scored)
    ? { state: part((r) => r.workflow?.state ?? 0), functions: part((r) => r.workflow?.functions ?? 0), format, callCost }
    : { answer: part((r) => r.answer), format, execution: part((r) => r.execution ?? 0), callCost };
}

/** 1, 2, 4, … and the number itself. */
function powersOfTwo(most: number): number[] {
  const powers: number[] = [];
  for (let k = 1; k < most; k *= 2) powers.push(k);
  return [...powers, most];
}

/** A failed call, and after it one that runs. */
export function correctedItself({ calls }: Pick<Trajectory, 'calls'>): boolean {
  const failed = calls.findIndex((call) => !call.ok);
  return failed >= 0 && calls.slice(failed + 1).some((call) => call.ok);
}

function sum<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((total, item) => total + value(item), 0);
}

function mean<T>(items: readonly T[], value: (item: T) => number): number {
  return sum(items, value) / items.length;
}

function meanOrNull<T>(items: readonly T[], value: (item: T) => number): number | null {
  return items.length === 0 ? null : mean(items, value);
}
