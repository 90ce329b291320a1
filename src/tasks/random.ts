/**
 * Counter-based random numbers: PCG4D (Jarzynski and Olano, "Hash functions for GPU rendering", JCGT 2020).
 * The same four integers give the same number on every engine, whatever the batch: `shaders/` holds the twin.
 */

/** 32-bit integer hash of four 32-bit counters. */
export function pcg4d(a: number, b: number, c: number, d: number): readonly [number, number, number, number] {
  let x = (Math.imul(a, 1664525) + 1013904223) | 0;
  let y = (Math.imul(b, 1664525) + 1013904223) | 0;
  let z = (Math.imul(c, 1664525) + 1013904223) | 0;
  let w = (Math.imul(d, 1664525) + 1013904223) | 0;
  x = (x + Math.imul(y, w)) | 0;
  y = (y + Math.imul(z, x)) | 0;
  z = (z + Math.imul(x, y)) | 0;
  w = (w + Math.imul(y, z)) | 0;
  x ^= x >>> 16;
  y ^= y >>> 16;
  z ^= z >>> 16;
  w ^= w >>> 16;
  x = (x + Math.imul(y, w)) | 0;
  y = (y + Math.imul(z, x)) | 0;
  z = (z + Math.imul(x, y)) | 0;
  w = (w + Math.imul(y, z)) | 0;
  return [x >>> 0, y >>> 0, z >>> 0, w >>> 0];
}

/**
 * The uniform number that draws one token, in (0, 1) and exact in f32.
 * 23 bits and a half: with 24 the largest value would round to 1.
 */
export function samplingUniform(seed: number, step: number, stream: number, position: number): number {
  const [x] = pcg4d(seed, step, stream, position);
  return Math.fround(((x >>> 9) + 0.5) * 2 ** -23);
}

/** A seeded generator for everything that is not a token draw: questions, demonstrations, initial weights. */
export class Random {
  private counter = 0;

  /** @param stream keeps generators of one seed apart. */
  constructor(
    private readonly seed: number,
    private readonly stream = 0,
  ) {}

  /** Uniform in [0, 1), 53 bits. */
  next(): number {
    const [x, y] = pcg4d(this.seed, this.stream, this.counter++, 0x5eed);
    return ((x >>> 5) * 2 ** 26 + (y >>> 6)) * 2 ** -53;
  }

  /** Uniform whole number in [low, high], both included. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  /** One of the items, each equally likely. @throws RangeError for an empty list. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new RangeError('pick from an empty list');
    return item;
  }

  /** An index drawn in proportion to the weights. */
  weighted(weights: readonly number[]): number {
    let left = this.next() * weights.reduce((a, b) => a + b, 0);
    for (const [i, w] of weights.entries()) {
      left -= w;
      if (left < 0) return i;
    }
    return weights.length - 1;
  }

  /** Standard normal (Box and Muller). */
  normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
  }
}
