import { describe, expect, it } from 'vitest';
import { formatFor, shownChange } from './format.ts';
import { format, need, speak, t } from './text.ts';

await need('step');

describe('messages', () => {
  it('take parameters and plurals', () => {
    expect(t('calls.title', { n: 1 })).toBe('1 call');
    expect(t('calls.title', { n: 2 })).toBe('2 calls');
    expect(t('run.left', { seconds: 80 })).toBe('1 min 20 s left');
    expect(t('run.left', { seconds: 7260 })).toBe('2 h 1 min left');
  });
});

describe('a language', () => {
  it('takes over words and numbers, whatever is loaded', async () => {
    await speak('zh-Hant');
    expect([t('run.stepOf', { step: 1, of: 2 }), format.fixed(0.5, 2)]).toEqual(['第 1 步，共 2 步', '0.50']);
    await need('home');
    expect(t('home.title')).toMatch(/\p{Script=Han}/u);
    await speak('en');
    expect(t('train.start')).toBe('Train');
  });

  it('says what is missing', () => {
    expect(() => t('tools.part')).toThrow('tools.part');
  });
});

describe('numbers', () => {
  const f = formatFor('en');
  it('keep their precision, and have a true minus', () => {
    expect([f.fixed(2, 2), f.fixed(-0.125, 2), f.signed(0.816, 2), f.signed(0, 2), f.fixed(NaN, 2)]).toEqual(['2.00', '−0.13', '+0.82', '0.00', '–']);
    expect([f.significant(0.000123, 3), f.significant(0.0123, 3), f.significant(4, 3)]).toEqual(['1.23e−4', '0.0123', '4']);
  });

  it('never show a negative zero', () => {
    expect([f.fixed(-0.001, 2), f.signed(-0.001, 2)]).toEqual(['0.00', '0.00']);
  });

  it('differ by what their shown figures differ by', () => {
    expect([f.fixed(9.0048, 2), f.fixed(4.7451, 2), f.signed(shownChange(9.0048, 4.7451, 2), 2), f.signed(4.7451 - 9.0048, 2)]).toEqual(['9.00', '4.75', '−4.25', '−4.26']);
    expect(shownChange(NaN, 1, 2)).toBeNaN();
  });

  it('follow the plural rules of the language', () => {
    expect(formatFor('pl').plural(3, { one: 'krok', few: 'kroki', other: 'kroków' })).toBe('kroki');
  });
});
