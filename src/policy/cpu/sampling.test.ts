import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samplingUniform } from '../random.ts';
import { referenceDraw, referenceLaw } from '../reference.ts';
import { draw, excludedIds, judge, mostProbable, type Law } from './sampling.ts';

/** Masses 4, 1, 2, 2, 1 of 10 at temperature 1. */
const LOGITS = Float32Array.from([4, 1, 2, 2, 1], Math.log);

function law(more: Partial<Law> = {}, ...excluded: number[]): Law {
  return { temperature: 1, excluded: excludedIds(LOGITS.length, excluded), ...more };
}

/** The ids that can be drawn, and how much of (0, 1) each takes, which must be what its log-probability says. */
function support(l: Law): Record<number, number> {
  const n = 1000;
  const draws = Array.from({ length: n }, (_, i) => draw(LOGITS, l, (i + 0.5) / n));
  const shares: Record<number, number> = {};
  for (const { token } of draws) shares[token] = ((shares[token] ?? 0) * n + 1) / n;
  for (const { token, logProb } of draws) expect(Math.exp(logProb)).toBeCloseTo(shares[token] ?? NaN, 2);
  return shares;
}

describe('draw', () => {
  it('walks the ids upwards until the cumulative mass exceeds u', () => {
    expect([0.001, 0.399, 0.401, 0.499, 0.501, 0.699, 0.701, 0.899, 0.901, 0.999].map((u) => draw(LOGITS, law(), u).token))
      .toEqual([0, 0, 1, 1, 2, 2, 3, 3, 4, 4]);
    expect(draw(LOGITS, law(), 0.45).logProb).toBeCloseTo(Math.log(0.1), 6);
  });

  it('gives excluded ids no mass', () => {
    expect(support(law({}, 0))).toEqual({ 1: 0.167, 2: 0.333, 3: 0.333, 4: 0.167 });
  });

  it('sharpens with temperature, down to the lowest of the most probable ids', () => {
    expect(support(law({ temperature: 0.5 }))[0]).toBeCloseTo(16 / 26, 2);
    expect(draw(LOGITS, law({ temperature: 0 }, 0), 0.99)).toEqual({ token: 2, logProb: 0 });
  });

  it('keeps ids with fewer than top-k ids of larger logit: ties stay together', () => {
    expect(support(law({ topK: 1 }))).toEqual({ 0: 1 });
    expect(support(law({ topK: 2 }))).toEqual({ 0: 0.5, 2: 0.25, 3: 0.25 });
    expect(support(law({ topK: 3 }))).toEqual({ 0: 0.5, 2: 0.25, 3: 0.25 });
    expect(Object.keys(support(law({ topK: 4 })))).toHaveLength(5);
  });

  it('keeps ids while the mass of strictly more probable ones is below top-p', () => {
    expect(support(law({ topP: 0.3 }))).toEqual({ 0: 1 });
    expect(support(law({ topP: 0.41 }))).toEqual({ 0: 0.5, 2: 0.25, 3: 0.25 });
    expect(Object.keys(support(law({ topP: 0.81 })))).toHaveLength(5);
    // After top-k the first id has half of the mass: 0.41 no longer reaches the second.
    expect(support(law({ topK: 2, topP: 0.41 }))).toEqual({ 0: 1 });
  });

  it('agrees with the float64 reference on any law, ties included', () => {
    const logit = fc.integer({ min: -12, max: 12 }).map((n) => n / 4);
    const cases = fc.record({
      logits: fc.array(logit, { minLength: 5, maxLength: 30 }),
      temperature: fc.constantFrom(0.3, 1, 2.5),
      topK: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
      topP: fc.option(fc.constantFrom(0.05, 0.31, 0.77, 0.999), { nil: undefined }),
      banned: fc.uniqueArray(fc.integer({ min: 0, max: 29 }), { maxLength: 4 }),
      uniform: fc.integer({ min: 1, max: 999 }).map((n) => (n + 0.123) / 1000),
    });
    fc.assert(fc.property(cases, ({ logits, temperature, topK, topP, banned, uniform }) => {
      const cuts = { ...(topK === undefined ? {} : { topK }), ...(topP === undefined ? {} : { topP }) };
      const expected = referenceLaw(logits, { temperature, banned, ...cuts });
      const { token, logProb } = draw(Float32Array.from(logits), { temperature, excluded: excludedIds(logits.length, banned), ...cuts }, uniform);
      expect(token).toBe(referenceDraw(expected, uniform));
      expect(Math.exp(logProb)).toBeCloseTo(expected[token] ?? NaN, 9);
    }), { numRuns: 500 });
  });

  it('says so where no law can be made', () => {
    expect(() => draw(LOGITS, law({}, 0, 1, 2, 3, 4), 0.5)).toThrow('suppressed or banned');
    expect(() => draw(Float32Array.of(0, NaN, 0, 0, 0), law(), 0.5)).toThrow('not finite');
    expect(() => draw(Float32Array.of(0, Infinity, 0, 0, 0), law(), 0.5)).toThrow('not finite');
  });

  it('draws in proportion with the numbers of the engine', () => {
    const n = 20_000;
    const counts = new Array<number>(5).fill(0);
    for (let position = 0; position < n; position++) {
      const { token } = draw(LOGITS, law(), samplingUniform(1, 2, 3, position));
      counts[token] = (counts[token] ?? 0) + 1;
    }
    for (const [id, share] of [0.4, 0.1, 0.2, 0.2, 0.1].entries()) expect((counts[id] ?? 0) / n).toBeCloseTo(share, 1.7);
  });
});

describe('judge and mostProbable', () => {
  it('give log-probability and entropy of the whole law', () => {
    const shares = [0.4, 0.1, 0.2, 0.2, 0.1];
    const { logProb, entropy } = judge(LOGITS, law(), 2);
    expect(logProb).toBeCloseTo(Math.log(0.2), 6);
    expect(entropy).toBeCloseTo(-shares.reduce((sum, p) => sum + p * Math.log(p), 0), 6);
    expect(judge(LOGITS, law({}, 0), 2).logProb).toBeCloseTo(Math.log(1 / 3), 6);
    expect(judge(LOGITS, law({}, 0), 0).logProb).toBe(-Infinity);
  });

  it('order by probability, ties by id, excluded ids last', () => {
    const { ids, logProbs } = mostProbable(LOGITS, law({}, 2), 5);
    expect([...ids]).toEqual([0, 3, 1, 4, 2]);
    expect(logProbs[1]).toBeCloseTo(Math.log(0.25), 6);
    expect(logProbs[4]).toBe(-Infinity);
  });
});
