import { describe, expect, it } from 'vitest';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import { ENVIRONMENT, POLICY } from '../../../rollout/trajectory.ts';
import { syntheticStep } from '../../testing/synthetic.ts';
import { arrayOf, barHeight, lastUpdate, operationValue, scaleOf, storedView, strongestToken } from './arrays.ts';
import { OPERATIONS } from './operations.ts';

const record = syntheticStep({ step: 3, seed: 1, grpo: DEFAULT_GRPO, progress: 0.3 });
const group = record.groups.find(({ equal, members }) => !equal && members.some(({ calls, advantage }) => calls.length > 0 && advantage !== 0));
if (group === undefined) throw new Error('the synthetic step has no mixed group with a call');
const view = storedView(record, group, DEFAULT_GRPO);
const at = group.members.findIndex(({ calls, advantage }) => calls.length > 0 && advantage !== 0);
const [rollout, member] = [group.members[at], view.members[at]];
if (rollout === undefined || member === undefined) throw new Error('no rollout with a call');

describe('the stored update', () => {
  it('counts the batch, not the group', () => {
    expect(view.rollouts).toBe(DEFAULT_GRPO.questions * DEFAULT_GRPO.group);
    const own = record.groups.flatMap(({ members }) => members).reduce((n, { owner }) => n + owner.filter((o) => o === POLICY).length, 0);
    expect([view.tokensInLoss, view.observationTokensInLoss]).toEqual([own, 0]);
  });

  it('leaves at an observation a weight, a sum and a push of exactly 0, and no ratio', () => {
    const observed = rollout.owner.indexOf(ENVIRONMENT);
    const values = Object.fromEntries(OPERATIONS.map((o) => [o, operationValue(member, view.settings, o, observed)]));
    expect(values).toMatchObject({ weight: 0, sum: 0, gradient: 0, ratio: NaN, clip: NaN, advantage: NaN });
  });

  it('pushes with the advantage', () => {
    const t = strongestToken(rollout);
    expect(rollout.owner[t]).toBe(POLICY);
    expect(Math.sign(operationValue(member, view.settings, 'gradient', t))).toBe(Math.sign(member.advantage));
  });
});

describe('a scale', () => {
  it('is symmetric about 1 for ratios, and wider than the band', () => {
    const scale = scaleOf([Float64Array.of(1, 1.000001, NaN)], 'ratio', view.settings);
    if (scale?.kind !== 'ratio') throw new Error('no ratio scale');
    expect(scale.most).toBeGreaterThan(1.2);
    expect(barHeight(1, scale)).toBe(0);
    expect(barHeight(NaN, scale)).toBe(0);
    expect(barHeight(scale.most, scale)).toBeCloseTo(1, 12);
  });

  it('of an update without values is none', () => {
    const bare = { ...member, tokens: undefined };
    expect(scaleOf([arrayOf(bare, view.settings, 'ratio')], 'ratio', view.settings)).toBeUndefined();
  });
});

it('knows which update of a step covered a rollout last', () => {
  const settings = { innerEpochs: 2, minibatches: 4 };
  const all = record.groups.flatMap(({ members }) => members);
  const [first, sixth] = [all[0], all[5]];
  if (first === undefined || sixth === undefined) throw new Error('too few rollouts');
  expect([lastUpdate(record, first, settings), lastUpdate(record, sixth, settings)]).toEqual([4, 5]);
  expect(lastUpdate(record, sixth, { innerEpochs: 1, minibatches: 1 })).toBe(0);
});
