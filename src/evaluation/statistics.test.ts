import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Random } from '../policy/random.ts';
import { bootstrap, passAtK, wilson } from './statistics.ts';

describe("Wilson's interval", () => {
  // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 1998, table I, method 3.
  it.each([
    [81, 263, 0.2553, 0.3662], [15, 148, 0.0624, 0.1605], [0, 20, 0, 0.1611], [1, 29, 0.0061, 0.1718],
  ])('of %d in %d is %d to %d', (successes, outcomes, low, high) => {
    const interval = wilson(successes, outcomes);
    expect(interval[0]).toBeCloseTo(low, 4);
    expect(interval[1]).toBeCloseTo(high, 4);
  });

  it('is a part of 0 to 1 that holds the rate', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0, max: 1, noNaN: true }), (n, share) => {
        const successes = Math.round(n * share);
        const [low, high] = wilson(successes, n);
        expect(0 <= low && low <= successes / n && successes / n <= high && high <= 1).toBe(true);
      }),
    );
  });

  it('needs an outcome', () => {
    expect(() => wilson(0, 0)).toThrow(RangeError);
  });
});

describe('the bootstrap', () => {
  it('comes near the normal interval of a mean', () => {
    const random = new Random(3);
    const values = Array.from({ length: 400 }, () => random.normal());
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    const error = Math.sqrt(values.reduce((s, x) => s + (x - mean) ** 2, 0)) / values.length;
    const [low, high] = bootstrap(values, 1);
    expect(low).toBeCloseTo(mean - 1.96 * error, 1);
    expect(high).toBeCloseTo(mean + 1.96 * error, 1);
    expect(high - low).toBeGreaterThan(3 * error);
  });

  it('is the same for the same seed, and a point where all values are', () => {
    expect(bootstrap([0, 1, 0.5, 1], 7)).toEqual(bootstrap([0, 1, 0.5, 1], 7));
    expect(bootstrap([0.25, 0.25], 1)).toEqual([0.25, 0.25]);
    expect(() => bootstrap([], 1)).toThrow(RangeError);
  });
});

describe('pass@k', () => {
  it('is the share of the subsets of k samples that hold a right one', () => {
    for (let n = 1; n <= 8; n++) {
      for (let c = 0; c <= n; c++) {
        for (let k = 1; k <= n; k++) {
          const subsets = Array.from({ length: 2 ** n }, (_, bits) => bits).filter((bits) => ones(bits) === k);
          // The right samples are the lowest c bits.
          const passing = subsets.filter((bits) => (bits & (2 ** c - 1)) !== 0);
          expect(passAtK(n, c, k)).toBeCloseTo(passing.length / subsets.length, 12);
        }
      }
    }
  });

  it('cannot be told from fewer than k samples', () => {
    expect(() => passAtK(3, 1, 4)).toThrow(RangeError);
    expect(() => passAtK(3, 1, 0)).toThrow(RangeError);
  });

  function ones(bits: number): number {
    return bits.toString(2).replaceAll('0', '').length;
  }
});
