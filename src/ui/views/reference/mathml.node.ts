/** While building: the formulas of the page as MathML, which browsers draw by themselves. */
import katex from 'katex';
import type { Plugin } from 'vite';
import { FORMULAS, SYMBOLS } from './formulas.ts';

const MODULE = 'virtual:mathml';

/** @throws ParseError where it is not TeX */
export function mathml(tex: string, displayMode: boolean): string {
  // The source in TeX stays out: a screen reader would say it too.
  return katex.renderToString(tex, { output: 'mathml', displayMode, throwOnError: true, strict: 'error' }).replace(/<annotation.*<\/annotation>/s, '');
}

const each = <T>(of: Readonly<Record<string, T>>, make: (one: T) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(of).map(([name, one]) => [name, make(one)]));

/** Makes the module `virtual:mathml`. */
export function formulasAsMathml(): Plugin {
  return {
    name: 'formulas-as-mathml',
    resolveId: (id) => (id === MODULE ? `\0${MODULE}` : undefined),
    load: (id) => (id !== `\0${MODULE}` ? undefined : [
      `export const formulas = ${JSON.stringify(each(FORMULAS, ({ tex }) => mathml(tex, true)))};`,
      `export const symbols = ${JSON.stringify(each(SYMBOLS, (tex) => mathml(tex, false)))};`,
    ].join('\n')),
  };
}
