import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scripted } from '../rollout/testing.ts';
import { POLICY } from '../rollout/trajectory.ts';
import { compareGroup, expectedEqualShare } from './advantages.ts';
import { lossMask, tokenWeights, updateRows } from './batch.ts';
import { DEFAULT_GRPO, VARIANTS, type AdvantageRule, type Aggregation } from './settings.ts';
import { checkSettings } from './trainer.ts';

const RULES: readonly AdvantageRule[] = ['sample-std', 'population-std', 'mean'];

describe('advantages', () => {
  const worked = [4, 3, 2.25, 2, 0.25, 0];

  it('of the worked group', () => {
    const sample = compareGroup(worked, 'sample-std');
    expect(sample.mean).toBeCloseTo(1.916667, 6);
    expect(sample.std).toBeCloseTo(1.554563, 6);
    expect(sample.advantages.map((a) => Number(a.toFixed(4)))).toEqual([1.3401, 0.6968, 0.2144, 0.0536, -1.072, -1.2329]);
    const population = compareGroup(worked, 'population-std');
    expect(population.std).toBeCloseTo(1.419116, 6);
    expect(population.advantages.map((a) => Number(a.toFixed(4)))).toEqual([1.4679, 0.7633, 0.2349, 0.0587, -1.1744, -1.3505]);
    // The wrong rollout with the useless call (reward 2) stands above the mean: a weakness of the rule.
    expect(sample.advantages[3]).toBeGreaterThan(0);
  });

  it('are exactly 0 in a group of equal rewards, whatever the sum of its parts rounds to', () => {
    for (const rule of RULES) {
      const { advantages, equal } = compareGroup([0.1 + 0.2, 0.3, 0.3], rule);
      expect(equal).toBe(true);
      expect(advantages).toEqual([0, 0, 0]);
    }
  });

  it('are 0 in a group of one, with a std of 1', () => {
    expect(compareGroup([3], 'sample-std')).toMatchObject({ advantages: [0], std: 1 });
  });

  it('refuse a reward that is not finite', () => {
    expect(() => compareGroup([1, NaN], 'mean')).toThrow('not finite');
    expect(() => compareGroup([], 'mean')).toThrow('at least one');
  });

  it('sum to 0, keep the order of rewards, and do not change when a constant is added', () => {
    const rewards = fc.array(fc.integer({ min: -32, max: 32 }).map((n) => n / 8), { minLength: 1, maxLength: 16 });
    fc.assert(
      fc.property(rewards, fc.constantFrom(...RULES), fc.integer({ min: -5, max: 5 }), (rs, rule, shift) => {
        const { advantages } = compareGroup(rs, rule);
        expect(advantages.reduce((a, b) => a + b, 0)).toBeCloseTo(0, 9);
        for (const [i, a] of advantages.entries()) {
          for (const [j, b] of advantages.entries()) if ((rs[i] ?? 0) > (rs[j] ?? 0)) expect(a).toBeGreaterThan(b);
        }
        for (const [i, a] of compareGroup(rs.map((r) => r + shift), rule).advantages.entries()) {
          expect(a).toBeCloseTo(advantages[i] ?? NaN, 9);
        }
      }),
    );
  });

  it('know the share of equal groups among right-or-wrong outcomes', () => {
    expect(expectedEqualShare(0.5, 6)).toBeCloseTo(2 * 0.5 ** 6);
    expect(expectedEqualShare(1, 6)).toBe(1);
  });
});

describe('the batch of an update', () => {
  const script = '<think>go</think><python>print(17+25)</python><answer>42</answer><eos>';

  it('covers the tokens that the policy wrote, and no others', async () => {
    const [t] = await scripted([script]);
    if (t === undefined) throw new Error('no trajectory');
    expect([...lossMask(t, true)]).toEqual([...t.owner].map((owner) => (owner === POLICY ? 1 : 0)));
    // Mask off: observations too, and still never the prompt.
    expect([...lossMask(t, false)]).toEqual([...t.owner].map((owner) => (owner === 0 ? 0 : 1)));
  });

  it('shares the loss out as each aggregation says', () => {
    const masks = [Uint8Array.of(0, 1, 1), Uint8Array.of(0, 1, 1, 1, 1), Uint8Array.of(0, 0)];
    const sums = (aggregation: Aggregation): number[] =>
      tokenWeights(masks, aggregation, 10).map((w) => Number(w.reduce((a, b) => a + b, 0).toFixed(6)));
    expect(sums('sequence-mean')).toEqual([0.333333, 0.333333, 0]);
    expect(sums('token-mean')).toEqual([0.333333, 0.666667, 0]);
    expect(sums('constant')).toEqual([0.066667, 0.133333, 0]);
  });

  it('gives a masked token exactly the weight 0, and one length to all arrays', () => {
    const mask = fc.uint8Array({ min: 0, max: 1, maxLength: 20 });
    fc.assert(
      fc.property(fc.array(mask, { minLength: 1, maxLength: 6 }), fc.constantFrom<Aggregation>('sequence-mean', 'token-mean', 'constant'), (masks, aggregation) => {
        for (const [i, weights] of tokenWeights(masks, aggregation, 160).entries()) {
          expect(weights).toHaveLength(masks[i]?.length ?? -1);
          for (const [t, weight] of weights.entries()) expect(weight > 0).toBe(masks[i]?.[t] === 1);
        }
      }),
    );
  });

  it('has rows of equal length in every array', async () => {
    const [t] = await scripted([script]);
    if (t === undefined) throw new Error('no trajectory');
    const [row] = updateRows([{ trajectory: t, advantage: 0.5, oldLogProbs: t.logProbs, referenceLogProbs: undefined }], DEFAULT_GRPO);
    const n = t.tokens.length;
    expect([row?.tokens.length, row?.weights.length, row?.advantages?.length, row?.oldLogProbs?.length]).toEqual([n, n, n, n]);
  });
});

describe('settings', () => {
  it('refuse what would not train on what was sampled', () => {
    expect(() => { checkSettings({ ...DEFAULT_GRPO, temperature: 0 }); }).toThrow('temperature');
    expect(() => { checkSettings({ ...DEFAULT_GRPO, group: 0 }); }).toThrow('group');
    expect(() => { checkSettings({ ...DEFAULT_GRPO, minibatches: 97 }); }).toThrow('minibatches');
    expect(() => { checkSettings({ ...DEFAULT_GRPO, beta: NaN }); }).toThrow('β');
    expect(() => { checkSettings({ ...DEFAULT_GRPO, reward: { noCall: 'paper', callCost: NaN } }); }).toThrow('cost');
    for (const { settings } of Object.values(VARIANTS)) checkSettings({ ...DEFAULT_GRPO, ...settings });
  });
});
