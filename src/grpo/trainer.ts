/** One step of GRPO: draw questions, roll out groups, score, compare, update. The loop around it is the caller's. */
import type { PolicyEngine, UpdateReport, UpdateTokens } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { RewardParts } from '../reward/reward.ts';
import { scorerOf } from '../reward/score.ts';
import { rollOut, type RolloutProgress, type RunCalls } from '../rollout/rollout.ts';
import { policyLength, type Trajectory } from '../rollout/trajectory.ts';
import { drawTasks, type Suite } from '../tasks/task.ts';
import { compareGroup, type GroupStatistics } from './advantages.ts';
import { lossMask, tokenWeights } from './batch.ts';
import { stepMetrics } from './metrics.ts';
import type { GroupRecord, SkipReason, StepRecord, StepWarning, TrainedTrajectory } from './record.ts';
import type { AdvantageRule, GrpoSettings } from './settings.ts';
import { batchItems, makeUpdate, plannedUpdates } from './update.ts';

export interface TrainerParts {
  /** Loaded with the policy to train. With β > 0 it must hold a reference (`holdReference`). */
  readonly engine: PolicyEngine;
  readonly tokenizer: Tokenizer;
  readonly suite: Suite;
  readonly runCalls: RunCalls;
  /** How an attempt is scored. Default: the rule that belongs to the vocabulary's tags. */
  readonly score?: (trajectory: Trajectory) => RewardParts;
  readonly settings: GrpoSettings;
  readonly seed: number;
  /** Tiers to draw from, in equal parts. Default: all of the suite. */
  readonly tiers?: readonly number[];
}

export type StepProgress =
  | RolloutProgress
  | { readonly phase: 'updating'; readonly finished: number; readonly of: number };

export interface StepOptions {
  /**
   * Aborting while rollouts are sampled ends the step: the promise rejects with the signal's reason and the weights
   * are those of before. Once updates have begun the step is completed.
   */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: StepProgress) => void;
  /** Tokens of the rollouts of earlier steps (`num_tokens`), for the count so far. */
  readonly tokensBefore?: number;
}

/** Settings that would train on something else than was sampled, or on nothing. @throws RangeError in words. */
export function checkSettings(settings: GrpoSettings): void {
  const { temperature, questions, group, minibatches, innerEpochs, maxLength } = settings;
  if (!(temperature > 0)) throw new RangeError('training needs a temperature above 0: ratios are of the law that sampled');
  for (const [name, value] of Object.entries({ questions, group, minibatches, innerEpochs, maxLength })) {
    if (!Number.isInteger(value) || value < 1) throw new RangeError(`${name} must be a whole number of at least 1`);
  }
  if (minibatches > questions * group) throw new RangeError('more minibatches than rollouts');
  if (!(settings.optimizer.learningRate > 0)) throw new RangeError('the learning rate must be above 0');
  // Written so that NaN is refused too.
  if (!(settings.beta >= 0)) throw new RangeError('β must not be negative');
  if (!Number.isFinite(settings.reward.callCost)) throw new RangeError('the cost of a call must be a number');
}

interface ComparedGroup {
  readonly trajectories: readonly Trajectory[];
  readonly rewards: readonly RewardParts[];
  readonly statistics: GroupStatistics;
  readonly dropped: boolean;
}

/**
 * Makes step number `step` (from 1). Its randomness comes from (seed, step) alone, so a step can be made again from
 * the weights before it.
 */
export async function trainStep(parts: TrainerParts, step: number, options: StepOptions = {}): Promise<StepRecord> {
  const { engine, settings } = parts;
  const began = performance.now();
  const warnings = new Set<StepWarning>();
  if (settings.group === 1) warnings.add('group-of-one');
  const groups = await sampleGroups(parts, step, options);
  const kept = groups.filter((group) => !group.dropped);
  const scored = kept.flatMap((group) =>
    group.trajectories.map((trajectory, i) => ({ trajectory, advantage: group.statistics.advantages[i] ?? 0 })),
  );
  if (scored.some(({ trajectory }) => policyLength(trajectory) === 0)) warnings.add('rollout-without-policy-token');

  const updates: UpdateReport[] = [];
  const tokensOf = new Map<Trajectory, UpdateTokens>();
  // What each token weighs where all rollouts are one batch; minibatches weigh their own below.
  const whole = tokenWeights(scored.map(({ trajectory }) => lossMask(trajectory, settings.mask)), settings.aggregation, settings.maxLength);
  const weightsOf = new Map(scored.map(({ trajectory }, i) => [trajectory, whole[i] ?? new Float32Array()]));
  let skipped: SkipReason | undefined;
  if (groups.some((group) => !Number.isFinite(group.statistics.mean))) {
    warnings.add('non-finite-reward');
    skipped = 'non-finite';
  } else if (kept.length === 0 || (settings.beta === 0 && kept.every((group) => group.statistics.equal))) {
    // With no pull to a reference, equal groups have no gradient; Adam's momentum alone would still move the weights.
    skipped = 'all-groups-equal';
  } else {
    options.onProgress?.({ phase: 'updating', finished: 0, of: scored.length });
    const items = await batchItems(engine, scored, settings);
    const plan = plannedUpdates(items, settings);
    // Handed over together: the engine carries them out in order, and does not wait for a report to be read before the next.
    const reports = await Promise.all(plan.map((planned) => makeUpdate(engine, planned, settings)));
    updates.push(...reports);
    for (const [u, report] of reports.entries()) {
      const planned = plan[u];
      if (planned === undefined) continue;
      for (const [i, { trajectory }] of planned.items.entries()) {
        const tokens = report.rows[i];
        const weights = report.batch[i]?.weights;
        if (tokens !== undefined) tokensOf.set(trajectory, tokens);
        if (weights !== undefined) weightsOf.set(trajectory, weights);
      }
      if (planned.epoch > 0 && report.applied && ratioAlwaysOne(report)) warnings.add('ratio-always-one');
    }
    if (!updates.some((report) => report.applied)) {
      skipped = updates.some((report) => report.skipped === 'non-finite') ? 'non-finite' : 'no-trainable-token';
    }
  }

  const records = groups.map((group): GroupRecord => record(group, tokensOf, weightsOf));
  const metrics = stepMetrics(records, settings, {
    tokensBefore: options.tokensBefore ?? 0,
    seconds: (performance.now() - began) / 1000,
    updates,
  });
  return { step, groups: records, metrics, ...(skipped === undefined ? {} : { skipped }), warnings: [...warnings] };
}

/** Samples the step's groups; equal ones are replaced in as many further passes as there are refills (DAPO's dynamic sampling). */
async function sampleGroups(parts: TrainerParts, step: number, options: StepOptions): Promise<ComparedGroup[]> {
  const { engine, tokenizer, suite, settings, seed } = parts;
  const score = parts.score ?? scorerOf(suite, tokenizer, settings.reward);
  // One stream of questions a step; a refill goes on in it, so that it meets other questions.
  const tasks = drawTasks(suite, settings.questions * (1 + settings.refills), 'train', seed, step, parts.tiers);
  const groups: ComparedGroup[] = [];
  for (let pass = 0, drawn = 0; pass <= settings.refills; pass++) {
    const missing = settings.questions - groups.filter((group) => !group.dropped).length;
    if (missing === 0) break;
    const asked = tasks.slice(drawn, drawn + missing);
    const trajectories = await rollOut({
      engine,
      tokenizer,
      runCalls: parts.runCalls,
      tasks: asked.flatMap((task) => Array.from({ length: settings.group }, () => task)),
      seed,
      step,
      firstStream: drawn * settings.group,
      temperature: settings.temperature,
      maxCalls: settings.maxCalls,
      maxLength: Math.min(settings.maxLength, engine.config?.max_position_embeddings ?? settings.maxLength),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    });
    options.signal?.throwIfAborted();
    for (let g = 0; g < asked.length; g++) {
      const members = trajectories.slice(g * settings.group, (g + 1) * settings.group);
      const rewards = members.map(score);
      const statistics = compareOrRefuse(rewards.map((r) => r.total), settings.advantage);
      groups.push({ trajectories: members, rewards, statistics, dropped: settings.refills > 0 && statistics.equal });
    }
    drawn += asked.length;
  }
  return groups;
}

/** A reward that is not finite has no place in a comparison: nothing is learned from its group, and the step says so. */
function compareOrRefuse(rewards: readonly number[], rule: AdvantageRule): GroupStatistics {
  if (rewards.every(Number.isFinite)) return compareGroup(rewards, rule);
  return { advantages: rewards.map(() => 0), mean: NaN, std: NaN, equal: false };
}

/** On a second pass the policy has moved: a ratio of exactly 1 everywhere means that old log-probs are not old. */
function ratioAlwaysOne(report: UpdateReport): boolean {
  return report.rows.every((row) => row.ratio.every((ratio) => Number.isNaN(ratio) || ratio === 1));
}

function record(
  group: ComparedGroup,
  tokensOf: ReadonlyMap<Trajectory, UpdateTokens>,
  weightsOf: ReadonlyMap<Trajectory, Float32Array>,
): GroupRecord {
  const { trajectories, rewards, statistics, dropped } = group;
  const members = trajectories.map((trajectory, i): TrainedTrajectory => {
    const reward = rewards[i];
    if (reward === undefined) throw new Error('a rollout without a reward');
    return {
      ...trajectory,
      reward,
      advantage: statistics.advantages[i] ?? 0,
      // A dropped group has no token in the loss.
      weights: weightsOf.get(trajectory) ?? new Float32Array(trajectory.tokens.length),
      update: tokensOf.get(trajectory),
    };
  });
  const [first] = trajectories;
  if (first === undefined) throw new Error('a group without rollouts');
  return { task: first.task, members, mean: statistics.mean, std: statistics.std, equal: statistics.equal, dropped };
}
