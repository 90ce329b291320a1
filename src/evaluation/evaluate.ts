/** What training changed: held-out questions, sampled, scored with the paper's rule. */
import type { PolicyEngine } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { scoreMath } from '../reward/math.ts';
import { PAPER_REWARD, type RewardParts, type RewardSettings } from '../reward/reward.ts';
import { rollOut, type RunCalls } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { drawTasks, type Suite } from '../tasks/task.ts';

export interface EvaluationSettings {
  readonly questionsPerTier: number;
  readonly seed: number;
  /** 0 takes the most probable token. */
  readonly temperature: number;
  readonly maxCalls: number;
  readonly maxLength: number;
  readonly reward: RewardSettings;
}

export const DEFAULT_EVALUATION: EvaluationSettings = {
  questionsPerTier: 128, seed: 1, temperature: 1, maxCalls: 3, maxLength: 160, reward: PAPER_REWARD,
};

export interface TierResult {
  readonly tier: number;
  readonly accuracy: number;
  /** Calls a question. */
  readonly calls: number;
  /** Share of calls that ran; null where none was made. */
  readonly callSuccess: number | null;
  /** Of rollouts in which a call failed, the share in which a later call ran; null where none failed. */
  readonly selfCorrection: number | null;
}

export interface EvaluationResult {
  readonly reward: number;
  readonly rewardParts: { readonly answer: number; readonly format: number; readonly execution: number };
  readonly accuracy: number;
  readonly tiers: readonly TierResult[];
}

export interface EvaluationParts {
  readonly engine: PolicyEngine;
  readonly tokenizer: Tokenizer;
  readonly suite: Suite;
  readonly runCalls: RunCalls;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, of: number) => void;
}

/** Rollouts in one batch: the size of a training step, so that no further shapes have to be compiled. */
const BATCH = 96;
/** Keeps the random numbers of evaluations apart from those of training steps. */
const EVALUATION_STEP = 0x7e57;

interface Scored {
  readonly trajectory: Trajectory;
  readonly reward: RewardParts;
}

/** One rollout a question. Deterministic for a seed. @throws the signal's reason when cancelled. */
export async function evaluate(parts: EvaluationParts, settings: EvaluationSettings = DEFAULT_EVALUATION): Promise<EvaluationResult> {
  const { engine, tokenizer, suite, runCalls, signal } = parts;
  const tasks = drawTasks(suite, settings.questionsPerTier * suite.tiers.length, 'held-out', settings.seed, EVALUATION_STEP);
  const scored: Scored[] = [];
  for (let from = 0; from < tasks.length; from += BATCH) {
    const trajectories = await rollOut({
      engine, tokenizer, runCalls,
      tasks: tasks.slice(from, from + BATCH),
      seed: settings.seed,
      step: EVALUATION_STEP,
      firstStream: from,
      temperature: settings.temperature,
      maxCalls: settings.maxCalls,
      maxLength: Math.min(settings.maxLength, engine.config?.max_position_embeddings ?? settings.maxLength),
      ...(signal === undefined ? {} : { signal }),
    });
    signal?.throwIfAborted();
    scored.push(...trajectories.map((trajectory) => ({ trajectory, reward: scoreMath(trajectory, suite, tokenizer, settings.reward) })));
    parts.onProgress?.(scored.length, tasks.length);
  }
  return {
    reward: mean(scored, ({ reward }) => reward.total),
    rewardParts: {
      answer: mean(scored, ({ reward }) => reward.answer),
      format: mean(scored, ({ reward }) => reward.formatRelaxed + reward.formatStrict),
      execution: mean(scored, ({ reward }) => reward.execution ?? 0),
    },
    accuracy: mean(scored, ({ reward }) => (reward.correct ? 1 : 0)),
    tiers: suite.tiers.map((tier) => tierResult(tier, scored.filter(({ trajectory }) => trajectory.task.tier === tier))),
  };
}

function tierResult(tier: number, scored: readonly Scored[]): TierResult {
  const calls = scored.flatMap(({ trajectory }) => trajectory.calls);
  const stumbled = scored.filter(({ trajectory }) => trajectory.calls.some((call) => !call.ok));
  return {
    tier,
    accuracy: mean(scored, ({ reward }) => (reward.correct ? 1 : 0)),
    calls: calls.length / scored.length,
    callSuccess: calls.length === 0 ? null : mean(calls, (call) => (call.ok ? 1 : 0)),
    selfCorrection: stumbled.length === 0 ? null : mean(stumbled, ({ trajectory }) => (correctedItself(trajectory) ? 1 : 0)),
  };
}

/** A failed call, and after it one that runs. */
export function correctedItself({ calls }: Pick<Trajectory, 'calls'>): boolean {
  const failed = calls.findIndex((call) => !call.ok);
  return failed >= 0 && calls.slice(failed + 1).some((call) => call.ok);
}

function mean<T>(items: readonly T[], value: (item: T) => number): number {
  return items.reduce((sum, item) => sum + value(item), 0) / items.length;
}
