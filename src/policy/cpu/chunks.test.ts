import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rowLimit, share, unshare } from './chunks.ts';
import { TINY } from './fixtures.ts';
import { bucket } from './shapes.ts';

describe('share', () => {
  it('gives every row to one chunk, and puts results back into order', () => {
    fc.assert(fc.property(fc.array(fc.nat(160), { minLength: 1, maxLength: 120 }), fc.integer({ min: 1, max: 4 }), (lengths, workers) => {
      const shares = share(TINY, lengths, (length) => length, workers);
      expect(shares.length).toBeLessThanOrEqual(workers);
      const results = shares.map(({ chunks }) => chunks.flatMap(({ rows }) => rows.map((length) => `result ${length}`)));
      expect(unshare(shares, results)).toEqual(lengths.map((length) => `result ${length}`));
      for (const { rows, size } of shares.flatMap(({ chunks }) => chunks)) {
        expect(rows.length).toBeLessThanOrEqual(size);
        expect(size).toBeLessThanOrEqual(16);
      }
    }));
  });

  it('balances: no worker has more than one chunk of the longest rows more than another', () => {
    const lengths = Array.from({ length: 96 }, (_, i) => 20 + ((i * 37) % 60));
    const loads = share(TINY, lengths, (length) => length, 2).map(({ chunks }) =>
      chunks.reduce((sum, { rows, size }) => sum + size * bucket(Math.max(...rows)), 0));
    expect(Math.abs((loads[0] ?? 0) - (loads[1] ?? 0))).toBeLessThanOrEqual(16 * 80);
    // Sorting by length keeps padding small: 96 rows of 80 would be 7680 positions.
    expect((loads[0] ?? 0) + (loads[1] ?? 0)).toBeLessThan(6200);
  });

  it('makes chunks smaller where a row is large', () => {
    const toy = { ...TINY, vocab_size: 112, hidden_size: 64, intermediate_size: 128, num_attention_heads: 4 };
    const sizeOf = (length: number): number | undefined =>
      share(toy, new Array<number>(96).fill(length), (n) => n, 2)[0]?.chunks[0]?.size;
    expect([40, 64, 120, 159].map(sizeOf)).toEqual([16, 16, 8, 4]);
    const large = { ...TINY, num_hidden_layers: 12, hidden_size: 768, intermediate_size: 2048, num_attention_heads: 12, vocab_size: 32_000 };
    expect(rowLimit(large, 128)).toBe(1);
  });
});
