import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bandPath, linePath, nearest, niceDomain, spread, thin, ticks } from './scale.ts';

describe('scales', () => {
  it('ticks on round numbers within the domain', () => {
    expect(ticks([0, 4], 4)).toEqual([0, 1, 2, 3, 4]);
    expect(ticks([0, 40], 4)).toEqual([0, 10, 20, 30, 40]);
    expect(ticks([-0.1, 0.35], 4)).toEqual([0, 0.2]);
  });

  it('holds every value in the domain', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true })), (values) => {
        const [low, high] = niceDomain(values, [0, 1]);
        const slack = (high - low) * 1e-6;
        return low < high && values.every((v) => v >= low - slack && v <= high + slack);
      }),
    );
  });

  it('moves labels apart, keeps their order and stays in the range', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { maxLength: 6 }), (positions) => {
        const out = spread(positions, 12, [0, 100]);
        for (const [i, a] of out.entries()) {
          expect(a).toBeGreaterThanOrEqual(-1e-9);
          expect(a).toBeLessThanOrEqual(100 + 1e-9);
          for (const [j, b] of out.entries()) {
            if (i !== j) expect(Math.abs(a - b)).toBeGreaterThanOrEqual(12 - 1e-9);
            if ((positions[i] ?? 0) < (positions[j] ?? 0)) expect(a).toBeLessThan(b);
          }
        }
      }),
    );
  });

  it('leaves labels alone that are far enough apart', () => {
    expect(spread([80, 20, 50], 12, [0, 100])).toEqual([80, 20, 50]);
  });

  it('breaks a line where there is no value', () => {
    expect(linePath([{ x: 0, y: 1 }, { x: 1, y: 2 }, { x: 2, y: NaN }, { x: 3, y: 4 }])).toBe('M0.0 1.0h0L1.0 2.0M3.0 4.0h0');
  });

  it('closes a band', () => {
    expect(bandPath([{ x: 0, y: 1 }, { x: 1, y: 2 }], [{ x: 0, y: 5 }, { x: 1, y: 6 }])).toBe('M0.0 1.0L1.0 2.0L1.0 6.0L0.0 5.0Z');
  });

  it('thins with both ends kept', () => {
    const items = Array.from({ length: 1203 }, (_, i) => i);
    const kept = thin(items, 500);
    expect(kept).toHaveLength(500);
    expect([kept[0], kept.at(-1)]).toEqual([0, 1202]);
  });

  it('finds the nearest value', () => {
    expect(nearest([1, 2, 5, 9], 6.5)).toBe(2);
  });
});
