/**
 * Every colour of the page, once for light and once for dark. Chrome is neutral; role colours mean who wrote a token
 * and nothing else; one accent marks what can be pressed; data has scales of its own. The test beside this file
 * recomputes contrast and colour difference.
 */
import type { SpanKind } from '../../rollout/trajectory.ts';
import { contrast, mix } from './colour.ts';

export type ThemeName = 'light' | 'dark';

/** Stray tokens are the policy's own words outside every tag: they share the neutral of the prompt. */
export type Role = Exclude<SpanKind, 'stray'>;

export interface Palette {
  readonly page: string;
  readonly surface: string;
  readonly sunken: string;
  readonly line: string;
  readonly lineStrong: string;
  readonly ink: string;
  /** Secondary text. */
  readonly muted: string;
  /** Text of tokens that are context only. */
  readonly context: string;
  readonly hatch: string;
  readonly accent: string;
  readonly accentStrong: string;
  readonly onAccent: string;
  readonly accentSoft: string;
  readonly fault: string;
  readonly faultSoft: string;
  readonly role: Readonly<Record<Role, string>>;
  /** Ordered series (tiers 1 to 4): one hue, by lightness. */
  readonly series: readonly [string, string, string, string];
  /** Parts of a whole: fills beside one another, told apart by label and edge. */
  readonly parts: readonly [string, string, string];
  /** Diverging: ends of PuOr and its middle. */
  readonly low: string;
  readonly middle: string;
  readonly high: string;
  /** Sequential: from nothing to most. */
  readonly sequential: readonly [string, string];
}

export const PALETTES: Readonly<Record<ThemeName, Palette>> = {
  light: {
    page: '#ffffff',
    surface: '#ffffff',
    sunken: '#f5f6f8',
    line: '#e1e4e9',
    lineStrong: '#7c8593',
    ink: '#1a1e25',
    muted: '#5a6372',
    context: '#666f7d',
    hatch: '#e4e7ec',
    accent: '#1a5fd0',
    accentStrong: '#154fae',
    onAccent: '#ffffff',
    accentSoft: '#eaf1fd',
    fault: '#a3241c',
    faultSoft: '#fdf0ee',
    role: { prompt: '#656f7c', think: '#7f0fc8', call: '#0d2750', output: '#6b3903', answer: '#038650' },
    series: ['#5f9ea8', '#3f8592', '#1f6473', '#083f4d'],
    parts: ['#2f7f8d', '#7fb3bb', '#c5dde1'],
    low: '#b35806',
    middle: '#f7f7f7',
    high: '#6a4fa3',
    sequential: ['#f2f7f8', '#2f8795'],
  },
  dark: {
    page: '#14171c',
    surface: '#191d23',
    sunken: '#1f242b',
    line: '#2d333c',
    lineStrong: '#77808d',
    ink: '#e9ecf0',
    muted: '#a2abb8',
    context: '#9098a5',
    hatch: '#262c35',
    accent: '#7aa7ff',
    accentStrong: '#9cbeff',
    onAccent: '#0d1420',
    accentSoft: '#1c2942',
    fault: '#ff9d92',
    faultSoft: '#351d1c',
    role: { prompt: '#7d8287', think: '#cf4bf1', call: '#b4d2f5', output: '#ea8b25', answer: '#39f09d' },
    series: ['#4d8a95', '#6ba6b0', '#92c4cc', '#c6e6eb'],
    parts: ['#74b6c1', '#44808a', '#29525a'],
    low: '#e08214',
    middle: '#22262d',
    high: '#9f8bd0',
    sequential: ['#1f272d', '#63b3c0'],
  },
};

const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function declarations(palette: Palette, scheme: ThemeName): string {
  const lines = [`color-scheme: ${scheme}`];
  for (const [name, value] of Object.entries(palette) as [string, Palette[keyof Palette]][]) {
    if (typeof value === 'string') lines.push(`--${kebab(name)}: ${value}`);
    else if (Array.isArray(value)) value.forEach((colour: string, i) => lines.push(`--${kebab(name)}-${i + 1}: ${colour}`));
    else for (const [key, colour] of Object.entries(value)) lines.push(`--${kebab(name)}-${key}: ${colour}`);
  }
  return lines.join('; ');
}

/** The custom properties of both themes, as a style sheet. Paper is light. */
export function paletteCss(): string {
  return `:root { ${declarations(PALETTES.light, 'light')} } @media screen { :root[data-theme='dark'] { ${declarations(PALETTES.dark, 'dark')} } }`;
}

export interface Ground {
  readonly background: string;
  /** Black or white, whichever reads better on it: one of them always has a contrast of 4.58 or more. */
  readonly ink: string;
}

function ground(background: string): Ground {
  return { background, ink: contrast('#000000', background) >= contrast('#ffffff', background) ? '#000000' : '#ffffff' };
}

/** PuOr, symmetric about 0: `t` from −1 (orange) to 1 (purple). */
export function diverging(theme: ThemeName, t: number): Ground {
  const palette = PALETTES[theme];
  const end = t < 0 ? palette.low : palette.high;
  return ground(mix(palette.middle, end, Math.min(1, Math.abs(t))));
}

/** One hue: `t` from 0 to 1. */
export function sequential(theme: ThemeName, t: number): Ground {
  const palette = PALETTES[theme];
  return ground(mix(palette.sequential[0], palette.sequential[1], Math.min(1, Math.max(0, t))));
}
