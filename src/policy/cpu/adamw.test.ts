import { describe, expect, it } from 'vitest';
import { parameterLayout } from '../config.ts';
import type { AdamW } from '../engine.ts';
import { Random } from '../random.ts';
import { adamW, globalNorm, type Moments } from './adamw.ts';
import { TINY } from './fixtures.ts';

const OPTIONS: AdamW = { learningRate: 0.02, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.1, maxGradNorm: 3 };

function setUp(): { layout: ReturnType<typeof parameterLayout>; weights: Float32Array; moments: Moments; gradient: (scale: number) => Float32Array } {
  const layout = parameterLayout(TINY);
  const random = new Random(4);
  return {
    layout,
    weights: Float32Array.from({ length: layout.size }, () => random.normal()),
    moments: { step: 0, m: new Float32Array(layout.size), v: new Float32Array(layout.size) },
    gradient: (scale) => Float32Array.from({ length: layout.size }, () => scale * random.normal()),
  };
}

describe('AdamW', () => {
  it('takes ten steps as the paper writes them, decays matrices only, and clips the norm', () => {
    const { layout, weights, moments, gradient } = setUp();
    const chosen = layout.slices.flatMap(({ offset, size, decayed }) => [offset, offset + size - 1].map((i) => ({ i, decayed })));
    const expected = chosen.map(({ i }) => ({ w: weights[i] ?? NaN, m: 0, v: 0 }));
    for (let step = 1; step <= 10; step++) {
      // Norms on both sides of the limit.
      const g = gradient(step % 2 === 0 ? 1e-4 : 1);
      const norm = globalNorm(g);
      expect(norm > OPTIONS.maxGradNorm).toBe(step % 2 === 1);
      adamW(layout, weights, g, moments, norm, OPTIONS);
      for (const [n, { i, decayed }] of chosen.entries()) {
        const state = expected[n] ?? { w: NaN, m: NaN, v: NaN };
        const clipped = (g[i] ?? NaN) * Math.min(1, OPTIONS.maxGradNorm / norm);
        state.m = 0.9 * state.m + 0.1 * clipped;
        state.v = 0.98 * state.v + 0.02 * clipped ** 2;
        const mHat = state.m / (1 - 0.9 ** step);
        const vHat = state.v / (1 - 0.98 ** step);
        state.w -= 0.02 * (mHat / (Math.sqrt(vHat) + 1e-8) + (decayed ? 0.1 * state.w : 0));
      }
    }
    expect(moments.step).toBe(10);
    for (const [n, { i }] of chosen.entries()) expect(weights[i]).toBeCloseTo(expected[n]?.w ?? NaN, 4);
  });

  it('does not clip with an infinite limit', () => {
    const { layout, weights, moments, gradient } = setUp();
    const g = gradient(1);
    adamW(layout, weights, g, moments, globalNorm(g), { ...OPTIONS, maxGradNorm: Infinity });
    expect(moments.m[5]).toBeCloseTo(0.1 * (g[5] ?? NaN), 6);
  });

  it('has a norm that is not finite where one entry is not', () => {
    expect(globalNorm(Float32Array.of(3, 4))).toBe(5);
    expect(globalNorm(Float32Array.of(3, NaN))).toBeNaN();
    expect(globalNorm(Float32Array.of(3, -Infinity))).toBe(Infinity);
  });
});
