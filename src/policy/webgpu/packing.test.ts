import { describe, expect, it } from 'vitest';
import { microBatches, packInputs } from './packing.ts';

const row = (length: number, first = 0) => ({ tokens: Uint32Array.from({ length }, (_, t) => first + t) });

describe('micro-batches', () => {
  it('fill up in order; a row past the limit is one of its own', () => {
    const lengths = (limit: number, ...rows: number[]) => microBatches(rows.map((n) => row(n)), limit).map((batch) => batch.map(({ tokens }) => tokens.length));
    expect(lengths(10, 4, 6, 1, 9, 25, 3)).toEqual([[4, 6], [1, 9], [25], [3]]);
    expect(lengths(10)).toEqual([]);
  });
});

describe('what the kernels read', () => {
  const parts = { items: 256, order: 1024, starts: 1280, size: 1536 };
  const [a, b] = [row(3, 4), row(2, 5)];
  const pack = (weights: number[], old: number[]) => packInputs(
    [a, { ...b, update: { ...b, weights: Float32Array.from(weights), advantages: Float32Array.of(7, 7), oldLogProbs: Float32Array.from(old) } }],
    { parts, vocab: 12, splits: 2, temperature: 0.5, objective: { kind: 'grpo', epsilonLow: 0.25, epsilonHigh: 0.5, beta: 0 } },
  );
  const data = pack([1, 0.5], [NaN, -2]);
  const words = new Uint32Array(data, parts.items, 60);
  const floats = new Float32Array(data, parts.items, 60);

  it('gives each item its row, its place in it, and the token after it', () => {
    expect([0, 1, 2, 3, 4].map((i) => [...words.slice(12 * i, 12 * i + 5)])).toEqual([
      [4, 0, 0, 3, 5], [5, 1, 0, 3, 6], [6, 2, 0, 3, 0], [5, 0, 3, 5, 6], [6, 1, 3, 5, 0],
    ]);
  });

  it('asks about tokens with a weight only, at the item before them', () => {
    expect([0, 1, 2, 3, 4].map((i) => words[12 * i + 5])).toEqual([0, 0, 0, 1, 0]);
    expect([...floats.slice(42, 45)]).toEqual([0.5, 7, -2]);
    expect(floats[12 * 4 + 6], 'index 0 is never predicted, whatever its weight').toBe(0);
  });

  it('makes the weight NaN where a number that counts is not finite', () => {
    expect(new Float32Array(pack([1, 0.5], [0, NaN]), parts.items)[42]).toBeNaN();
    expect(new Float32Array(pack([1, 0], [0, NaN]), parts.items)[42]).toBe(0);
  });

  it('lists the items of each id in their order', () => {
    expect([...new Uint32Array(data, parts.order, 5)]).toEqual([0, 1, 3, 2, 4]);
    expect([...new Uint32Array(data, parts.starts, 13)]).toEqual([0, 0, 0, 0, 0, 1, 3, 5, 5, 5, 5, 5, 5]);
  });
});
