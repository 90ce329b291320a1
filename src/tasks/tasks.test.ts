import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arithmetic, arithmeticSteps } from './arithmetic.ts';
import { powerModulo, sameAnswer } from './exact.ts';
import { keysOf, numberBehind } from './lookup.ts';
import { pcg4d, Random, samplingUniform } from './random.ts';
import { drawTasks } from './task.ts';

describe('random numbers', () => {
  it('are those of the published hash', () => {
    // Worked by hand with 64-bit arithmetic from the paper's listing.
    expect(pcg4d(0, 0, 0, 0)).toEqual(reference(0n, 0n, 0n, 0n));
    fc.assert(
      fc.property(fc.tuple(...([0, 1, 2, 3] as const).map(() => fc.nat(0xffffffff))), ([a = 0, b = 0, c = 0, d = 0]) => {
        expect(pcg4d(a, b, c, d)).toEqual(reference(BigInt(a), BigInt(b), BigInt(c), BigInt(d)));
      }),
    );
  });

  it('draw strictly between 0 and 1, exactly in f32', () => {
    for (let position = 0; position < 2000; position++) {
      const u = samplingUniform(1, 2, 3, position);
      expect(u).toBe(Math.fround(u));
      expect(u > 0 && u < 1).toBe(true);
    }
  });

  it('spread evenly', () => {
    const random = new Random(5);
    const bins = new Array<number>(10).fill(0);
    for (let i = 0; i < 20_000; i++) {
      const bin = Math.floor(random.next() * 10);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    // Five standard deviations of a binomial around 2,000.
    for (const n of bins) expect(Math.abs(n - 2000)).toBeLessThan(5 * Math.sqrt(20_000 * 0.09));
  });

  function reference(...counters: [bigint, bigint, bigint, bigint]): number[] {
    const u32 = (n: bigint): bigint => n & 0xffffffffn;
    let [x, y, z, w] = counters.map((n) => u32(n * 1664525n + 1013904223n)) as [bigint, bigint, bigint, bigint];
    const mix = (): void => {
      x = u32(x + y * w);
      y = u32(y + z * x);
      z = u32(z + x * y);
      w = u32(w + y * z);
    };
    mix();
    [x, y, z, w] = [x ^ (x >> 16n), y ^ (y >> 16n), z ^ (z >> 16n), w ^ (w >> 16n)];
    mix();
    return [x, y, z, w].map(Number);
  }
});

describe('answers', () => {
  it.each([
    ['42', '42', true], [' 42 ', '42', true], ['42.0', '42', true], ['+42', '42', true], ['1/2', '0.5', true],
    ['4.2e1', '42', true], ['-2 + E', '-2 + E', true], ['-0', '0', true],
    ['43', '42', false], ['', '42', false], ['4 2', '42', false], ['1/0', '42', false], ['42x', '42', false], ['.', '0', false],
    ['100000000000000000001', '100000000000000000000', false],
  ])('%j against %j: %s', (given, expected, same) => {
    expect(sameAnswer(given, expected)).toBe(same);
  });

  it('never throw on any text', () => {
    fc.assert(fc.property(fc.string(), fc.string(), (a, b) => typeof sameAnswer(a, b) === 'boolean'));
  });

  it('take powers exactly', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(60), fc.integer({ min: 1, max: 99 }), (a, n, m) => {
        expect(powerModulo(BigInt(a), BigInt(n), BigInt(m))).toBe(BigInt(a) ** BigInt(n) % BigInt(m));
      }),
    );
  });
});

describe('the arithmetic suite', () => {
  const many = (tier: number, split: 'train' | 'held-out', count = 400) => drawTasks(arithmetic, count, split, 3, 9, [tier]);

  it('has exactly 155 questions in tier 1', () => {
    expect(new Set(many(1, 'train', 8000).map((t) => t.question)).size).toBe(155);
  });

  it('never lets training and held-out questions meet, tier 1 excepted', () => {
    for (const tier of [2, 3, 4]) {
      const train = new Set(many(tier, 'train', 2000).map((t) => t.question));
      for (const task of many(tier, 'held-out', 2000)) expect(train.has(task.question)).toBe(false);
    }
  });

  it('holds out about an eighth', () => {
    const random = new Random(8);
    const sides = Array.from({ length: 4000 }, () => {
      const a = random.integer(10, 999);
      const b = random.integer(10, 999);
      return arithmetic.splitOf({ id: '', suite: '', tier: 3, question: `${a}*${b}`, answer: '', expression: '', kind: '' });
    });
    expect(Math.abs(sides.filter((s) => s === 'held-out').length - 500)).toBeLessThan(5 * Math.sqrt((4000 * 7) / 64));
  });

  it('answers with what its own expression evaluates to', () => {
    // `**`, `//` on exact quotients and `%` on non-negative numbers mean the same in JavaScript's BigInt.
    const value = (expression: string): string => {
      const source = expression.replaceAll(/\d+/g, '$&n').replaceAll('//', '/');
      return String(runInNewContext(source));
    };
    for (const tier of arithmetic.tiers) {
      for (const task of many(tier, 'train', 100)) expect(value(task.expression)).toBe(task.answer);
    }
  });

  it('draws the same questions for the same seed, and others for another', () => {
    const questions = (seed: number): string[] => drawTasks(arithmetic, 32, 'train', seed, 1).map((t) => t.question);
    expect(questions(1)).toEqual(questions(1));
    expect(questions(1)).not.toEqual(questions(2));
  });

  it('deals the tiers out in equal parts', () => {
    const tiers = drawTasks(arithmetic, 16, 'train', 1, 1).map((t) => t.tier);
    for (const tier of arithmetic.tiers) expect(tiers.filter((t) => t === tier)).toHaveLength(4);
  });

  it('refuses a tier it does not have', () => {
    expect(() => arithmetic.draw(new Random(1), 9, 'train')).toThrow('no tier 9');
  });
});

describe('the suite of several steps', () => {
  const many = (split: 'train' | 'held-out', count: number) => drawTasks(arithmeticSteps, count, split, 3, 9, [5]);

  it('has the first four tiers of the arithmetic suite', () => {
    for (const tier of arithmetic.tiers) {
      const [ours, theirs] = [arithmeticSteps, arithmetic].map((suite) => drawTasks(suite, 100, 'held-out', 3, 9, [tier]));
      expect(ours?.map(({ question, answer }) => [question, answer])).toEqual(theirs?.map(({ question, answer }) => [question, answer]));
    }
  });

  it('holds out keys: none that is asked for there is ever looked up in training', () => {
    const keys = (split: 'train' | 'held-out'): Set<string> => new Set(many(split, 3000).flatMap(keysOf));
    const train = keys('train');
    for (const key of keys('held-out')) expect(train.has(key)).toBe(false);
    for (const split of ['train', 'held-out'] as const) {
      for (const task of many(split, 100)) expect(arithmeticSteps.splitOf(task)).toBe(split);
    }
  });

  it('asks for one lookup in two thirds of its questions, and for two in the others', () => {
    const pairs = many('train', 3000).filter((task) => keysOf(task).length === 2).length;
    expect(Math.abs(pairs - 1000)).toBeLessThan(5 * Math.sqrt((3000 * 2) / 9));
  });

  it('hides numbers that spread over their range', () => {
    const numbers = many('train', 4000).flatMap(keysOf).map(numberBehind);
    expect(Math.min(...numbers)).toBeGreaterThanOrEqual(100);
    expect(Math.max(...numbers)).toBeLessThanOrEqual(999);
    for (let hundreds = 1; hundreds <= 9; hundreds++) {
      const share = numbers.filter((n) => Math.floor(n / 100) === hundreds).length / numbers.length;
      expect(Math.abs(share - 1 / 9)).toBeLessThan(5 * Math.sqrt(8 / 81 / numbers.length));
    }
  });
});
