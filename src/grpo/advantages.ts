/** How attempts at one question are compared: group-relative advantages, with no critic. */
import type { AdvantageRule } from './settings.ts';

/** Keeps the quotient finite for a nearly equal group (TRL adds the same). */
const STD_EPSILON = 1e-4;
/** Rewards that differ by less are equal: sums of halves, eighths and shares of calls, in floating point. */
const EQUAL_WITHIN = 1e-9;

export interface GroupStatistics {
  readonly advantages: readonly number[];
  readonly mean: number;
  /** n−1 or n, by the rule (n−1 for `mean`); 1 for a group of one. */
  readonly std: number;
  /** All rewards equal: every advantage is exactly 0. */
  readonly equal: boolean;
}

/**
 * Advantages of one group. They sum to 0.
 * @throws RangeError for an empty group or a reward that is not finite.
 */
export function compareGroup(rewards: readonly number[], rule: AdvantageRule): GroupStatistics {
  const n = rewards.length;
  if (n === 0) throw new RangeError('a group needs at least one rollout');
  if (!rewards.every(Number.isFinite)) throw new RangeError('a reward is not finite');
  const mean = rewards.reduce((a, b) => a + b, 0) / n;
  const squares = rewards.reduce((sum, r) => sum + (r - mean) ** 2, 0);
  const std = n === 1 ? 1 : Math.sqrt(squares / (rule === 'population-std' ? n : n - 1));
  const equal = Math.max(...rewards) - Math.min(...rewards) < EQUAL_WITHIN;
  const scale = rule === 'mean' ? 1 : std + STD_EPSILON;
  return { advantages: rewards.map((r) => (equal ? 0 : (r - mean) / scale)), mean, std, equal };
}

/**
 * The share of groups in which all outcomes are equal when each is right with probability p: p^G + (1−p)^G. Shown
 * beside the measured share, which also sees the rewards' other parts.
 */
export function expectedEqualShare(successRate: number, group: number): number {
  return successRate ** group + (1 - successRate) ** group;
}
