/** Numbers, plurals and punctuation in a language's own way. Figures that stand in columns keep their precision. */
export interface Format {
  readonly integer: (x: number) => string;
  /** Always this many decimals. */
  readonly fixed: (x: number, digits: number) => string;
  /** With + or −, always this many decimals; 0 has no sign. */
  readonly signed: (x: number, digits: number) => string;
  /** About `digits` significant figures, in scientific notation where that is shorter. */
  readonly significant: (x: number, digits: number) => string;
  readonly percent: (share: number) => string;
  readonly dateTime: (milliseconds: number) => string;
  /** Parts of one sentence, one after another. */
  readonly list: (parts: readonly string[]) => string;
  readonly clauses: (parts: readonly string[]) => string;
  readonly sentences: (parts: readonly string[]) => string;
  readonly named: (name: string, value: string) => string;
  /** The form for a count, by the rules of the language. */
  readonly plural: (n: number, forms: Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>) => string;
}

export function formatFor(locale: string): Format {
  const cache = new Map<string, Intl.NumberFormat>();
  const numbers = (options: Intl.NumberFormatOptions): Intl.NumberFormat => {
    const key = JSON.stringify(options);
    let made = cache.get(key);
    if (made === undefined) {
      made = new Intl.NumberFormat(locale, options);
      cache.set(key, made);
    }
    return made;
  };
  const rules = new Intl.PluralRules(locale);
  const [comma, semicolon, colon, gap] = locale.startsWith('zh') ? ['，', '；', '：', ''] as const : [', ', '; ', ': ', ' '] as const;
  const dates = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' });
  const say = (x: number, options: Intl.NumberFormatOptions): string => {
    if (Number.isNaN(x)) return '–';
    // The typographic minus is as wide as a figure: columns do not jump.
    return numbers(options).format(x).replace('-', '−');
  };
  return {
    integer: (x) => say(x, { maximumFractionDigits: 0 }),
    fixed: (x, digits) => say(x, { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: 'negative' }),
    signed: (x, digits) => say(x, { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay: 'exceptZero' }),
    significant: (x, digits) => {
      const size = Math.abs(x);
      if (x !== 0 && Number.isFinite(x) && (size < 1e-3 || size >= 1e5)) {
        return x.toExponential(digits - 1).replace('e+', 'e').replaceAll('-', '−');
      }
      return say(x, { maximumSignificantDigits: digits });
    },
    percent: (share) => say(share, { style: 'percent', maximumFractionDigits: 0 }),
    dateTime: (milliseconds) => dates.format(milliseconds),
    list: (parts) => parts.join(comma),
    clauses: (parts) => parts.join(semicolon),
    sentences: (parts) => parts.join(gap),
    named: (name, value) => `${name}${colon}${value}`,
    plural: (n, forms) => forms[rules.select(n)] ?? forms.other,
  };
}

/** The change between two numbers as they stand on the page: whoever subtracts them there finds it. */
export function shownChange(from: number, to: number, digits: number): number {
  return Number(to.toFixed(digits)) - Number(from.toFixed(digits));
}

const SUPERSCRIPTS = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** An exponent, as it is written in a line of text. */
export function power(exponent: number): string {
  return Array.from(String(exponent), (digit) => SUPERSCRIPTS[Number(digit)] ?? digit).join('');
}
