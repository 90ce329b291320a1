/** How a long strip of tokens is cut up, so that what is far from the screen need not be drawn. Pure; no DOM. */
import type { Span } from '../../../rollout/trajectory.ts';

/** Tokens [from, to) of one span. */
export interface StripPart {
  readonly span: Span;
  readonly from: number;
  readonly to: number;
}

/** Parts that begin on a line of their own and are drawn together, or not at all. */
export interface StripBlock {
  readonly from: number;
  readonly to: number;
  readonly parts: readonly StripPart[];
}

/**
 * Blocks of about `size` tokens: never more than 1.25 times as many, and cut where a span begins or where the text
 * allows it, if there is such a place in the last third.
 * @param breaksAfter whether a line may end after this token.
 */
export function blocksOf(spans: readonly Span[], size: number, breaksAfter: (token: number) => boolean): StripBlock[] {
  const blocks: StripBlock[] = [];
  let parts: StripPart[] = [];
  const from = (): number => parts[0]?.from ?? 0;
  const close = (): void => {
    const last = parts.at(-1);
    if (last !== undefined) blocks.push({ from: from(), to: last.to, parts });
    parts = [];
  };
  for (const span of spans) {
    for (let at = span.start; at < span.end; ) {
      const room = size - (parts.length === 0 ? 0 : at - from());
      const left = span.end - at;
      if (left <= room + size / 4) {
        parts.push({ span, from: at, to: span.end });
        if (left >= room) close();
        break;
      }
      if (at === span.start && room < size / 3) {
        close();
        continue;
      }
      let to = at + room;
      while (to > at + (2 * room) / 3 && !breaksAfter(to - 1)) to--;
      if (!breaksAfter(to - 1)) to = at + room;
      parts.push({ span, from: at, to });
      close();
      at = to;
    }
  }
  close();
  return blocks;
}

/** Where something is marked on the tokens: ranges [start, end), ascending. */
export type Ranges = readonly (readonly [number, number])[];

/** The ranges that touch [from, to), as one word that is equal where they are equal. */
export function rangesWithin(ranges: Ranges, from: number, to: number): string {
  let words = '';
  for (const [start, end] of ranges) {
    if (end <= from) continue;
    if (start >= to) break;
    words += `${start}-${end} `;
  }
  return words;
}

export function parseRanges(words: string): [number, number][] {
  return words.trim().split(' ').filter(Boolean).map((range) => {
    const [start, end] = range.split('-', 2);
    return [Number(start), Number(end)];
  });
}
