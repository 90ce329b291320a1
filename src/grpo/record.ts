/** What one training step leaves behind: everything that was sampled, scored, compared and pushed. */
import type { UpdateTokens } from '../policy/engine.ts';
import type { RewardParts } from '../reward/reward.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import type { Task } from '../tasks/task.ts';

export interface ScoredTrajectory extends Trajectory {
  readonly reward: RewardParts;
  /** How far it stands above its group, by the rule of the run. */
  readonly advantage: number;
}

/** A rollout with what the update did to each of its tokens. */
export interface TrainedTrajectory extends ScoredTrajectory {
  /** Length n: the token's share in the loss; 0 is "context only". From the batch that the trainer used. */
  readonly weights: Float32Array;
  /** From the last inner epoch's update; undefined where no update was made for it. */
  readonly update: UpdateTokens | undefined;
}

export interface GroupRecord {
  readonly task: Task;
  readonly members: readonly TrainedTrajectory[];
  readonly mean: number;
  /** By the run's rule (n−1 or n); 1 for a group of one. */
  readonly std: number;
  /** All rewards equal: every advantage is 0. */
  readonly equal: boolean;
  /** Sampled, and left out of the update because its rewards were equal. */
  readonly dropped: boolean;
}

/** Why a step changed no weights. */
export type SkipReason = 'all-groups-equal' | 'non-finite' | 'no-trainable-token';

/** Metrics of a step by name: TRL's names where TRL has one, else `calls/tier_1` and the like. */
export type Metrics = Readonly<Record<string, number>>;

export interface StepRecord {
  /** From 1. */
  readonly step: number;
  readonly groups: readonly GroupRecord[];
  readonly metrics: Metrics;
  readonly skipped?: SkipReason;
  /** Things a person should know about this step, e.g. that the ratio was exactly 1 everywhere on a second epoch. */
  readonly warnings: readonly StepWarning[];
}

export type StepWarning = 'ratio-always-one' | 'group-of-one' | 'rollout-without-policy-token' | 'non-finite-reward';
