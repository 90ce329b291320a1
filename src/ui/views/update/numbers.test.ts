import { describe, expect, it } from 'vitest';
import { exampleSubject, sayTerm, workedOut, type Subject } from './numbers.ts';
import { OPERATIONS, pieces } from './operations.ts';

const plain = (subject: Subject): string[] => OPERATIONS.flatMap((o) => workedOut(subject, o, undefined)).map((line) => pieces(line).map(({ text }) => text).join(''));

describe('an example, worked out', () => {
  it('stopped by the clip', () => {
    expect(plain(exampleSubject('up-clipped'))).toEqual([
      '−0.9163',
      '−0.5108',
      '1.500000 = exp(−0.5108 − (−0.9163))',
      '1.200000 = clip(1.500000, 1 − 0.2, 1 + 0.2)',
      '1.2000 = min(1.500000·1.0000, 1.200000·1.0000)',
      '−1.2000 = −1.2000',
      '0.001 = 1 / (20 · 50)',
      '– = … + 0.001·(−1.2000) + …',
      '0 = 0.001·0',
      '–',
    ]);
  });

  it('pushed against its advantage, outside of the band', () => {
    expect(plain(exampleSubject('down-free'))).toContain('0.0015 = −0.001·1.500000·(−1.0000)');
  });

  it('that is context only has no numbers but zeros', () => {
    const masked = exampleSubject('masked');
    expect(['weight', 'push', 'mask', 'ratio', 'norm'].map((term) => sayTerm(masked, term as 'weight'))).toEqual(['0', '0', '0', '–', '0']);
    expect(plain(masked)).toContain('0 = 0 / (20 · 50)');
  });
});

it('a clipped token with a pull to the start keeps the pull alone', () => {
  const example = exampleSubject('up-clipped');
  const pulled = { ...example, rule: { ...example.rule, beta: 0.1 }, numbers: { ...example.numbers, referenceLogProb: example.numbers.logProb + Math.log(2) } };
  const [line = ''] = workedOut({ ...pulled, walk: { ...example.walk, dLogProb: -1e-4 } }, 'gradient', undefined);
  // w·β·(1 − 2)
  expect(pieces(line).map(({ text }) => text).join('')).toBe('−1.000e−4 = 0.001·(0 + 0.1000·(1 − exp(0.6931)))');
});
