import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { en } from './en.ts';
import { formatFor } from './format.ts';
import { format, speak, t } from './text.ts';

const UI = join(import.meta.dirname, '..');
const sources = readdirSync(UI, { recursive: true, encoding: 'utf8' }).filter((name) => /\.tsx?$/.test(name) && !name.includes('test'));
const SPOKEN = new Set(['aria-label', 'aria-description', 'aria-valuetext', 'title', 'alt', 'placeholder', 'label', 'hint', 'unit', 'empty', 'detail']);

/** Texts that a person would see or hear and that do not come from the catalogue. */
function hardCoded(name: string, text: string): string[] {
  const found: string[] = [];
  const say = (node: ts.Node, words: string): void => {
    if (/\p{L}/u.test(words)) found.push(`${name}:${source.getLineAndCharacterOfPosition(node.pos).line + 1} ${words.trim()}`);
  };
  const source = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const words = (node: ts.Node): string => (ts.isStringLiteralLike(node) ? node.text : ts.isTemplateExpression(node) ? [node.head, ...node.templateSpans.map((s) => s.literal)].map((part) => part.text).join('') : '');
  const visit = (node: ts.Node): void => {
    if (ts.isJsxText(node)) say(node, node.text);
    if (ts.isJsxExpression(node) && node.expression !== undefined && !ts.isJsxAttribute(node.parent)) say(node, words(node.expression));
    if (ts.isJsxAttribute(node) && SPOKEN.has(node.name.getText()) && node.initializer !== undefined) {
      say(node, words(ts.isJsxExpression(node.initializer) ? (node.initializer.expression ?? node.initializer) : node.initializer));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

describe('the catalogue', () => {
  it('finds a hard-coded text where there is one', () => {
    expect(hardCoded('x.tsx', '<p title="Hello">{t("a")} World {"again"}{`and ${n}`}</p>')).toHaveLength(4);
    expect(hardCoded('x.tsx', '<p className="hello">{t("a")} · {n}</p>')).toEqual([]);
  });

  it('holds every word of the page', () => {
    const components = sources.filter((name) => name.endsWith('.tsx'));
    expect(components.length).toBeGreaterThan(15);
    expect(components.flatMap((name) => hardCoded(name, readFileSync(join(UI, name), 'utf8')))).toEqual([]);
  });

  it('holds no message that nobody says', () => {
    const code = sources.filter((name) => !/^text.en[.\w]*\.ts$/.test(name)).map((name) => readFileSync(join(UI, name), 'utf8')).join('\n');
    // `t(\`why.${reason}\`)` says every message that fits the pattern.
    const patterns = [...code.matchAll(/`((?:[\w.]|\$\{[^{}`]*\})+)`/g)].map(([, pattern]) =>
      new RegExp(`^${(pattern ?? '').split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.')).join('[\\w-]+')}$`))
      // A pattern that is all parameter would say everything.
      .filter(({ source }) => /[a-z]/.test(source.replaceAll('[\\w-]+', '')));
    const unsaid = Object.keys(en).filter((key) => !code.includes(`'${key}'`) && !patterns.some((pattern) => pattern.test(key)));
    expect(unsaid).toEqual([]);
  });
});

describe('messages', () => {
  it('take parameters and plurals', () => {
    expect(t('calls.title', { n: 1 })).toBe('1 call');
    expect(t('calls.title', { n: 2 })).toBe('2 calls');
    expect(t('run.left', { seconds: 80 })).toBe('1 min 20 s left');
    expect(t('run.left', { seconds: 7260 })).toBe('2 h 1 min left');
  });
});

describe('another language', () => {
  it('takes over words and numbers', () => {
    speak('de', { ...en, 'train.start': 'Trainieren' });
    expect([t('train.start'), format.fixed(0.5, 2)]).toEqual(['Trainieren', '0,50']);
    speak('en', en);
    expect([t('train.start'), format.fixed(0.5, 2)]).toEqual(['Train', '0.50']);
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

  it('follow the plural rules of the language', () => {
    expect(formatFor('pl').plural(3, { one: 'krok', few: 'kroki', other: 'kroków' })).toBe('kroki');
  });
});
