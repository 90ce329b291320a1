import { describe, expect, it } from 'vitest';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import type { GroupRecord } from '../../../grpo/record.ts';
import { syntheticStep } from '../../testing/synthetic.ts';
import { characters as tokenizer } from '../step/tokenizers.ts';
import { axisOf, draggedTo, equalShareOf, groupNow, keyed, scoringBySwitches, scoringOfRun, verdictOf, type Scoring } from './play.ts';

const record = syntheticStep({ step: 1, seed: 5, grpo: DEFAULT_GRPO, progress: 0.2 });
const [group] = record.groups.filter(({ equal, members }) => !equal && members.some(({ calls }) => calls.length === 0) && members.some(({ calls }) => calls.length > 0));
if (group === undefined) throw new Error('no mixed group');
const run = scoringOfRun(group);
const own = (rewards: readonly (number | null)[]): Scoring => ({ by: 'own', rewards, parts: undefined });
/** The worked group of the paper's rule. */
const WORKED = [4, 3, 2.25, 2, 0.25, 0];
const judged = (right: readonly boolean[]): GroupRecord => ({ ...group, members: group.members.map((member, i) => ({ ...member, reward: { ...member.reward, correct: right[i] ?? false } })) });

describe('a group as it would be', () => {
  it('is the sampled one where nothing was changed', () => {
    const now = groupNow(group, run, new Map(), 'sample-std');
    expect(now.rows.map(({ advantage }) => advantage)).toEqual(group.members.map(({ advantage }) => advantage));
    expect([now.mean, now.std, now.equal]).toEqual([group.mean, group.std, group.equal]);
    expect(scoringBySwitches(group, tokenizer, DEFAULT_GRPO.reward).rewards).toEqual(run.rewards);
  });

  it('follows each reward in all advantages', () => {
    const now = groupNow(group, own(WORKED), new Map(), 'sample-std');
    expect(now.rows.map(({ advantage = NaN }) => Number(advantage.toFixed(4)))).toEqual([1.3401, 0.6968, 0.2144, 0.0536, -1.072, -1.2329]);
    const dragged = groupNow(group, own(WORKED), new Map([[5, 4]]), 'mean');
    expect(dragged.mean).toBeCloseTo(15.5 / 6, 12);
    expect(dragged.rows[0]?.advantage).toBeCloseTo(4 - 15.5 / 6, 12);
    expect(dragged.rows.map(({ dragged: by }) => by)).toEqual([false, false, false, false, false, true]);
  });

  it('leaves out rollouts to which the rule does not apply', () => {
    const now = groupNow(group, own([1, null, 3, null, null, null]), new Map(), 'mean');
    expect(now.rows.map(({ advantage }) => advantage)).toEqual([-1, undefined, 1, undefined, undefined, undefined]);
    expect([now.mean, now.counted]).toEqual([2, 2]);
    expect(groupNow(group, own([null, null, null, null, null, null]), new Map(), 'mean').counted).toBe(0);
  });

  it('is scored anew by switches', () => {
    const full = scoringBySwitches(group, tokenizer, { noCall: 'full', callCost: 0.5 });
    group.members.forEach(({ calls, reward }, i) => {
      if (calls.length > 0) expect(full.rewards[i]).toBeCloseTo(reward.total - 0.5 * calls.length, 12);
      else expect(full.rewards[i]).toBeGreaterThan(reward.total);
    });
  });
});

describe('what it comes to', () => {
  const verdict = (rewards: readonly (number | null)[], right: readonly boolean[] = []) =>
    verdictOf(judged(right), groupNow(group, own(rewards), new Map(), 'sample-std'));

  it('names wrong rollouts that are pushed up', () => {
    // The fourth has a wrong answer and a call that ran: the paper's own rule lifts it above the mean.
    expect(verdict(WORKED, [true, true, true, false, false, false])).toEqual({ kind: 'pushes', up: [1, 2, 3, 4], down: [5, 6], wrongUp: [4] });
  });

  it('knows groups that push nothing', () => {
    expect(verdict([2, 2, 2, 2, 2, 2])).toEqual({ kind: 'equal' });
    expect(verdict([2, null, null, null, null, null])).toEqual({ kind: 'alone' });
    expect(verdict([null, null, null, null, null, null])).toEqual({ kind: 'none' });
  });
});

describe('dragging', () => {
  const axis = axisOf(group, run, groupNow(group, run, new Map(), 'sample-std'), 'sample-std');

  it('goes by quarters and whole points on keys, and stays on the axis', () => {
    expect(['ArrowRight', 'ArrowLeft', 'PageUp', 'PageDown', 'Home', 'End', 'x'].map((key) => keyed(key, 2.125, axis))).toEqual([2.375, 1.875, 3.125, 1.125, 0, 4, undefined]);
    expect([keyed('PageUp', 3.5, axis), keyed('ArrowLeft', 0.125, axis)]).toEqual([4, 0]);
  });

  it('is caught by the sampled reward, and makes equal what is at one place', () => {
    expect([draggedTo(0.53, axis, 2.125), draggedTo(0.7, axis, 2.125), draggedTo(0.701, axis, 0), draggedTo(-1, axis, 2), draggedTo(2, axis, 2)]).toEqual([2.125, 2.8, 2.8, 0, 4]);
  });

  it('takes larger steps on a longer axis', () => {
    const long = axisOf(group, own([100, 0, 0, 0, 0, 0]), groupNow(group, own([100, 0, 0, 0, 0, 0]), new Map(), 'mean'), 'mean');
    expect([long.high, keyed('ArrowRight', 0, long)]).toEqual([100, 2.5]);
    expect(long.mostAdvantage).toBeCloseTo((100 * 5) / 6, 9);
  });
});

it('counts equal groups of a step, and the share of right answers', () => {
  const share = equalShareOf(record);
  expect([share.groups, share.group]).toEqual([16, 6]);
  expect(share.equal).toBe(record.groups.filter(({ members }) => new Set(members.map(({ reward }) => reward.total)).size === 1).length);
  expect(share.correct).toBeCloseTo(record.metrics.accuracy ?? NaN, 12);
});
