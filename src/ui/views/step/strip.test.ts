import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { POLICY, type Span } from '../../../rollout/trajectory.ts';
import { blocksOf, parseRanges, rangesWithin } from './strip.ts';

function spansOfLengths(lengths: readonly number[]): Span[] {
  let at = 0;
  return lengths.map((length) => {
    const start = at;
    at += length;
    return { kind: 'think', start, end: at, owner: POLICY, closed: true, forged: false };
  });
}

describe('blocks of a strip', () => {
  it('hold every token once, in order, and are never much too long', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 30 }), fc.integer({ min: 8, max: 90 }), fc.integer({ min: 2, max: 40 }), (lengths, size, every) => {
      const spans = spansOfLengths(lengths);
      const blocks = blocksOf(spans, size, (token) => token % every === 0);
      const parts = blocks.flatMap((block) => block.parts);
      let at = 0;
      for (const part of parts) {
        expect(part.from).toBe(at);
        expect(part.to).toBeGreaterThan(part.from);
        expect(part.from >= part.span.start && part.to <= part.span.end).toBe(true);
        at = part.to;
      }
      expect(at).toBe(spans.at(-1)?.end ?? 0);
      for (const block of blocks) expect(block.to - block.from).toBeLessThanOrEqual(1.25 * size);
    }));
  });

  it('are cut where the text allows it', () => {
    const [first] = blocksOf(spansOfLengths([1000]), 100, (token) => token === 90);
    expect(first?.to).toBe(91);
  });

  it('begin with a span where one begins near the end of a block', () => {
    expect(blocksOf(spansOfLengths([80, 80]), 100, () => false).map(({ from, to }) => [from, to])).toEqual([[0, 80], [80, 160]]);
  });
});

it('ranges within a piece are found and read back', () => {
  const ranges = [[0, 3], [5, 9], [12, 14], [20, 21]] as const;
  expect(parseRanges(rangesWithin(ranges, 7, 13))).toEqual([[5, 9], [12, 14]]);
  expect(rangesWithin(ranges, 14, 20)).toBe('');
  expect(parseRanges('')).toEqual([]);
});
