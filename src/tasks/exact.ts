/** Exact numbers as texts: whole numbers, decimals and fractions compared by value, with no floating point. */

interface Rational {
  readonly numerator: bigint;
  /** Above 0. */
  readonly denominator: bigint;
}

/** Longer digit strings or larger exponents are not numbers that a person meant. */
const MAX_DIGITS = 2000;
const NUMBER = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,4}))?$/;

function parseDecimal(text: string): Rational | undefined {
  const match = NUMBER.exec(text);
  if (match === null || text.length > MAX_DIGITS) return undefined;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match;
  if (whole === '' && fraction === '') return undefined;
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n);
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) };
}

/** A decimal, or a fraction of two. */
function parseNumber(text: string): Rational | undefined {
  const parts = text.split('/');
  const [top, bottom] = parts.map((part) => parseDecimal(part.trim()));
  if (parts.length === 1) return top;
  if (parts.length !== 2 || top === undefined || bottom === undefined || bottom.numerator === 0n) return undefined;
  const sign = bottom.numerator < 0n ? -1n : 1n;
  return {
    numerator: top.numerator * bottom.denominator * sign,
    denominator: top.denominator * bottom.numerator * sign,
  };
}

/** True where the texts are equal after trimming, or are the same number (`12.0` and `12`, `1/2` and `0.5`). */
export function sameAnswer(given: string, expected: string): boolean {
  const [a, b] = [given.trim(), expected.trim()];
  if (a === b) return a !== '';
  const [x, y] = [parseNumber(a), parseNumber(b)];
  return x !== undefined && y !== undefined && x.numerator * y.denominator === y.numerator * x.denominator;
}

/** base^exponent mod modulus, for a non-negative exponent. */
export function powerModulo(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n % modulus;
  let factor = base % modulus;
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * factor) % modulus;
    factor = (factor * factor) % modulus;
  }
  return result;
}
