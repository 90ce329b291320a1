/**
 * What the group's numbers would be if its rewards were others: dragged, scored with other switches, or by a rule that
 * the person wrote. Nothing is sampled again, and nothing here touches the run. Pure; no DOM.
 */
import { compareGroup } from '../../../grpo/advantages.ts';
import type { GroupRecord, StepRecord } from '../../../grpo/record.ts';
import type { AdvantageRule } from '../../../grpo/settings.ts';
import type { Tokenizer } from '../../../policy/tokenizer.ts';
import type { RewardParts, RewardSettings } from '../../../reward/reward.ts';
import { mostOf, scorerOf } from '../../../reward/score.ts';
import { SUITES } from '../../../tasks/arithmetic.ts';

/** How a group is scored before anything is dragged. */
export interface Scoring {
  /** As the run did; with other switches; by the paper's rule in Python; by a rule of the person's own. */
  readonly by: 'run' | 'switches' | 'paper' | 'own';
  /** In the order of the group; null where the rule does not apply. */
  readonly rewards: readonly (number | null)[];
  /** Parts of each reward; undefined where a rule gives only the sum. */
  readonly parts: readonly RewardParts[] | undefined;
}

export function scoringOfRun(group: GroupRecord): Scoring {
  const parts = group.members.map(({ reward }) => reward);
  return { by: 'run', rewards: parts.map(({ total }) => total), parts };
}

/** Whether the switches can be turned: they are those of the math rule. */
export function canSwitch(group: GroupRecord): boolean {
  return SUITES[group.task.suite] !== undefined && group.members.every(({ reward }) => reward.workflow === undefined);
}

/** The group scored anew from its record. @throws RangeError where the suite of its questions is not known. */
export function scoringBySwitches(group: GroupRecord, tokenizer: Tokenizer, settings: RewardSettings): Scoring {
  const suite = SUITES[group.task.suite];
  if (suite === undefined) throw new RangeError(`no rule for the questions of ${group.task.suite}`);
  const parts = group.members.map(scorerOf(suite, tokenizer, settings));
  return { by: 'switches', rewards: parts.map(({ total }) => total), parts };
}

/** Rewards that the person gave by hand, by place in the group. */
export type Dragged = ReadonlyMap<number, number>;

export interface RowNow {
  /** Null where the rule does not apply: the rollout is then left out of the comparison. */
  readonly reward: number | null;
  /** Undefined where the bar has no parts: a rule of one's own. */
  readonly parts: RewardParts | undefined;
  readonly advantage: number | undefined;
  readonly dragged: boolean;
  /** As the run scored and compared it. */
  readonly sampled: { readonly reward: number; readonly advantage: number };
}

export interface GroupNow {
  readonly rows: readonly RowNow[];
  /** NaN where no rollout counts. */
  readonly mean: number;
  readonly std: number;
  /** Rollouts that are compared. */
  readonly counted: number;
  readonly equal: boolean;
}

export function groupNow(group: GroupRecord, scoring: Scoring, dragged: Dragged, rule: AdvantageRule): GroupNow {
  const rewards = group.members.map((_, i) => dragged.get(i) ?? scoring.rewards[i] ?? null);
  const counted = rewards.filter((reward) => reward !== null);
  const compared = counted.length === 0 ? undefined : compareGroup(counted, rule);
  const advantages = compared?.advantages.values();
  return {
    rows: group.members.map(({ reward, advantage }, i): RowNow => ({
      reward: rewards[i] ?? null,
      parts: scoring.parts?.[i],
      advantage: (rewards[i] ?? null) === null ? undefined : advantages?.next().value,
      dragged: dragged.has(i),
      sampled: { reward: reward.total, advantage },
    })),
    mean: compared?.mean ?? NaN,
    std: compared?.std ?? NaN,
    counted: counted.length,
    equal: compared?.equal ?? false,
  };
}

/** What a comparison comes to, for the sentence under the rows. Rollouts count from 1. */
export type Verdict =
  | { readonly kind: 'none' | 'alone' | 'equal' }
  | {
      readonly kind: 'pushes';
      readonly up: readonly number[];
      readonly down: readonly number[];
      /** Wrong, and pushed up all the same. */
      readonly wrongUp: readonly number[];
    };

export function verdictOf(group: GroupRecord, { rows, counted, equal }: GroupNow): Verdict {
  if (counted === 0) return { kind: 'none' };
  if (counted === 1) return { kind: 'alone' };
  if (equal) return { kind: 'equal' };
  const numbers = (is: (row: RowNow, i: number) => boolean): number[] => rows.flatMap((row, i) => (is(row, i) ? [i + 1] : []));
  const up = ({ advantage = 0 }: RowNow): boolean => advantage > 0;
  return {
    kind: 'pushes',
    up: numbers(up),
    down: numbers(({ advantage = 0 }) => advantage < 0),
    wrongUp: numbers((row, i) => up(row) && group.members[i]?.reward.correct === false),
  };
}

/** What bars and lollipops are drawn against. It does not depend on what is dragged: nothing moves under the hand. */
export interface Axis {
  readonly low: number;
  readonly high: number;
  readonly mostAdvantage: number;
}

/** The largest advantage that is drawn to scale in units of σ: no group of six has one beyond it. */
const MOST_SIGMAS = 2.25;

export function axisOf(group: GroupRecord, scoring: Scoring, base: GroupNow, rule: AdvantageRule): Axis {
  const rewards = [...group.members.map(({ reward }) => reward.total), ...scoring.rewards.filter((reward) => reward !== null)];
  const low = Math.min(0, ...rewards);
  const high = Math.max(...group.members.map(({ reward }) => mostOf(reward)), ...rewards);
  const n = Math.max(group.members.length, 2);
  const advantages = base.rows.flatMap(({ advantage = 0, sampled }) => [Math.abs(advantage), Math.abs(sampled.advantage)]);
  return { low, high, mostAdvantage: Math.max(rule === 'mean' ? ((high - low) * (n - 1)) / n : MOST_SIGMAS, ...advantages) };
}

/** A press of an arrow key; a quarter on the paper's axis of 4. */
export function keyStep({ low, high }: Axis): number {
  return 0.25 * 10 ** Math.max(0, Math.ceil(Math.log10((high - low) / 10)));
}

/** Where a key moves a reward; undefined where the key has no meaning. */
export function keyed(key: string, reward: number, axis: Axis): number | undefined {
  const step = keyStep(axis);
  const to = { ArrowRight: reward + step, ArrowUp: reward + step, ArrowLeft: reward - step, ArrowDown: reward - step, PageUp: reward + 4 * step, PageDown: reward - 4 * step, Home: axis.low, End: axis.high }[key];
  return to === undefined ? undefined : Math.min(axis.high, Math.max(axis.low, to));
}

/** How near to the sampled reward, as a share of the axis, a dragged one falls back to it. */
const MAGNET = 0.015;

/** The reward at a place of the axis, 0 to 1: in fifths of a key's step, and caught by the sampled one. */
export function draggedTo(at: number, axis: Axis, sampled: number): number {
  const reward = axis.low + (axis.high - axis.low) * Math.min(1, Math.max(0, at));
  if (Math.abs(reward - sampled) < MAGNET * (axis.high - axis.low)) return sampled;
  const grain = keyStep(axis) / 5;
  const rounded = Math.round(reward / grain) * grain;
  // Without the dust of binary fractions: two rewards dragged to one place are equal.
  return Math.min(axis.high, Math.max(axis.low, Number(rounded.toFixed(6))));
}

export interface EqualShare {
  readonly equal: number;
  readonly groups: number;
  /** Of all rollouts of the step. */
  readonly correct: number;
  /** Rollouts a question. */
  readonly group: number;
}

export function equalShareOf({ groups }: StepRecord): EqualShare {
  const all = groups.flatMap(({ members }) => members);
  return {
    equal: groups.filter(({ equal }) => equal).length,
    groups: groups.length,
    correct: all.filter(({ reward }) => reward.correct).length / Math.max(all.length, 1),
    group: groups[0]?.members.length ?? 0,
  };
}
