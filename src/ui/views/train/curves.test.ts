import { describe, expect, it } from 'vitest';
import type { StepSummary } from '../../../lab/protocol.ts';
import { syntheticStep } from '../../testing/synthetic.ts';
import { otherCurves, rewardCurve, tiersOf } from './curves.ts';
import { PRESET_SETTINGS } from './presets.ts';

const settings = PRESET_SETTINGS.paper;
const steps: StepSummary[] = [1, 2, 3].map((step) => {
  const { metrics, warnings } = syntheticStep({ step, seed: 2, grpo: settings.grpo, progress: step / 4 });
  return { step, metrics, warnings };
});

describe('curves', () => {
  it('find every metric under the name that the trainer gives it', () => {
    const { behaviour, update } = otherCurves(steps, settings);
    for (const curve of [rewardCurve(steps, true, settings), ...behaviour, ...update]) {
      // Without a reference there is no KL.
      if (curve.name === 'kl') continue;
      expect(curve.series.length, curve.name).toBeGreaterThan(0);
      for (const series of curve.series) {
        expect(series.values, `${curve.name} ${series.name}`).toHaveLength(steps.length);
        expect(series.values.every(Number.isFinite), `${curve.name} ${series.name}`).toBe(true);
      }
    }
  });

  it('stack the parts of the paper’s rule to the whole', () => {
    const { series } = rewardCurve(steps, true, settings);
    const total = series.find(({ name }) => name === 'total');
    steps.forEach((_, i) => {
      const sum = series.filter(({ draw }) => draw === 'band').reduce((s, { values }) => s + (values[i] ?? NaN), 0);
      expect(sum).toBeCloseTo(total?.values[i] ?? NaN, 9);
    });
  });

  it('know the tiers', () => {
    expect(tiersOf(steps)).toEqual([1, 2, 3, 4]);
  });

  it('leave a gap where a step has no value', () => {
    const [first] = steps;
    if (first === undefined) throw new Error('no step');
    const { 'rewards/answer/mean': _, ...metrics } = first.metrics;
    expect(rewardCurve([{ ...first, metrics }], true, settings).series[0]?.values).toEqual([NaN]);
  });
});
