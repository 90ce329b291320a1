import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';

const UI = join(import.meta.dirname, '..');
const filesIn = (folder: string): string[] => readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => /\.tsx?$/.test(name) && !name.includes('test')).map((name) => join(folder, name));
/** Everything that can say a message: the page, and the lesson that it shows. */
const sources = [...filesIn(UI).filter((name) => !name.startsWith(import.meta.dirname)), ...(existsSync(join(UI, '../lesson')) ? filesIn(join(UI, '../lesson')) : [])];

type Words = Readonly<Record<string, unknown>>;
const files = import.meta.glob<Readonly<Record<string, Words>>>(['./en/*.ts', './zh-hans/*.ts', './zh-hant/*.ts'], { eager: true });
/** The parts of a language by name, as `text.ts` finds them. */
function parts(language: string): Map<string, Words> {
  return new Map(Object.entries(files).filter(([file]) => file.startsWith(`./${language}/`)).map(([file, module]) => {
    const name = file.split('/').at(-1)?.replace('.ts', '') ?? '';
    return [name, module[name] ?? {}];
  }));
}
const en = Object.assign({}, ...parts('en').values()) as Words;
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
    expect(components.flatMap((name) => hardCoded(relative(UI, name), readFileSync(name, 'utf8')))).toEqual([]);
  });

  it('holds no message that nobody says', () => {
    const code = sources.map((name) => readFileSync(name, 'utf8')).join('\n');
    // `t(\`why.${reason}\`)` says every message that fits the pattern.
    const patterns = [...code.matchAll(/`((?:[\w.]|\$\{[^{}`]*\})+)`/g)].map(([, pattern]) =>
      new RegExp(`^${(pattern ?? '').split(/\$\{[^}]*\}/).map((part) => part.replaceAll('.', '\\.')).join('[\\w-]+')}$`))
      // A pattern that is all parameter would say everything.
      .filter(({ source }) => /[a-z]/.test(source.replaceAll('[\\w-]+', '')));
    const unsaid = Object.keys(en).filter((key) => !code.includes(`'${key}'`) && !patterns.some((pattern) => pattern.test(key)));
    expect(unsaid).toEqual([]);
  });
});
