import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SIGNALS } from '../../routes.ts';
import { FORMULAS, SYMBOLS } from './formulas.ts';
import { KEYS } from './keys.ts';
import { mathml } from './mathml.node.ts';
import { MEASURED } from './provenance.ts';

const UI = join(import.meta.dirname, '../..');
const PUBLIC = join(UI, '../../public');

describe('formulas', () => {
  it('become MathML without their source', () => {
    const html = mathml(String.raw`\frac{a}{b}`, true);
    expect(html).toContain('<mfrac><mi>a</mi><mi>b</mi></mfrac>');
    expect(html).not.toContain('frac{');
    expect(() => mathml(String.raw`\frac{a}`, true)).toThrow('KaTeX');
  });

  it.each(Object.entries(FORMULAS))('%s is TeX, and names only symbols that it has', (_, { tex, symbols }) => {
    expect(mathml(tex, true)).toContain('<math');
    const letters = tex.replaceAll(/[\s{}]/g, '');
    for (const name of symbols) {
      const parts = SYMBOLS[name].split(/,\\ | \/ /).map((part) => part.replaceAll(/[\s{}]/g, ''));
      for (const part of parts) expect(letters, name).toContain(part);
    }
  });
});

describe('keys', () => {
  it('are those that the views bind', () => {
    const code = readdirSync(UI, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.tsx') || name.endsWith('usePaint.ts')).map((name) => readFileSync(join(UI, name), 'utf8')).join('\n');
    const bound = new Set([...code.matchAll(/keys: (?:\[[^\]]*\]|SIGNALS\.map\(.*\)),\s*label: t\('([\w.]+)'\)/g)].map(([, label]) => label));
    expect(bound.size).toBeGreaterThan(25);
    const listed = new Set<string | undefined>(KEYS.flatMap(({ rows }) => rows.map(({ label }) => label)));
    expect([...bound].filter((label) => !listed.has(label))).toEqual([]);
    expect([...listed].filter((label) => !bound.has(label))).toEqual([]);
  });

  it('have one figure for each signal', () => {
    const figures = KEYS.flatMap(({ rows }) => rows).find(({ label }) => label === 'keys.signal')?.keys;
    expect(figures).toEqual(SIGNALS.map((_, i) => String(i)));
  });
});

describe('the provenance of what ships', () => {
  it('names the command that the README beside each policy names', () => {
    const policies = MEASURED.filter(({ file }) => file.startsWith('models/'));
    expect(policies.map(({ file }) => file.slice('models/'.length)).sort()).toEqual(readdirSync(join(PUBLIC, 'models')).sort());
    for (const { file, command } of policies) expect(readFileSync(join(PUBLIC, file, 'README.md'), 'utf8'), file).toContain(command);
  });

  it('names files that are there', () => {
    expect(MEASURED.filter(({ file }) => !existsSync(join(PUBLIC, file)))).toEqual([]);
  });
});
