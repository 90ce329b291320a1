/**
 * The one way in which the page speaks: `t('train.start')`, with the parameters of each message typed. The catalogue of
 * a language is a folder of parts, one a view, loaded when they are needed; `t` itself never waits.
 */
import type { compare } from './en/compare.ts';
import type { core } from './en/core.ts';
import type { glossary } from './en/glossary.ts';
import type { group } from './en/group.ts';
import type { home } from './en/home.ts';
import type { keys } from './en/keys.ts';
import type { lesson } from './en/lesson.ts';
import type { offline } from './en/offline.ts';
import type { reference } from './en/reference.ts';
import type { rollout } from './en/rollout.ts';
import type { step } from './en/step.ts';
import type { teach } from './en/teach.ts';
import type { tools } from './en/tools.ts';
import type { train } from './en/train.ts';
import type { update } from './en/update.ts';
import { formatFor, type Format } from './format.ts';

interface Parts {
  readonly compare: typeof compare;
  readonly core: typeof core;
  readonly glossary: typeof glossary;
  readonly group: typeof group;
  readonly home: typeof home;
  readonly keys: typeof keys;
  readonly lesson: typeof lesson;
  readonly offline: typeof offline;
  readonly reference: typeof reference;
  readonly rollout: typeof rollout;
  readonly step: typeof step;
  readonly teach: typeof teach;
  readonly tools: typeof tools;
  readonly train: typeof train;
  readonly update: typeof update;
}

/** A part of the catalogue: the file `<language>/<part>.ts`, which exports a constant of that name. */
export type Part = keyof Parts;

/** A part in another language: the same keys, no more, no fewer, with the same parameters. */
export type Translation<T> = { readonly [K in keyof T]: T[K] extends (p: infer P) => string ? (p: P) => string : string };

type All<U> = (U extends unknown ? (one: U) => void : never) extends (all: infer A) => void ? A : never;

export type Messages = Translation<All<Parts[Part]>>;
export type MessageKey = keyof Messages;
/** Messages without parameters. */
export type PlainKey = { [K in MessageKey]: Messages[K] extends string ? K : never }[MessageKey];

type Parameters<K extends MessageKey> = Messages[K] extends (p: infer P) => string ? [P] : [];

/** Languages to choose from, with their own names; `code` is the `lang` attribute. The first is for whoever has none of them. */
export const LANGUAGES = [
  { code: 'en', name: 'English' },
  { code: 'zh-Hans', name: '简体中文' },
  { code: 'zh-Hant', name: '繁體中文' },
] as const;
export type LanguageCode = (typeof LANGUAGES)[number]['code'];

const files = import.meta.glob<Readonly<Record<string, object>>>(['./en/*.ts', './zh-hans/*.ts', './zh-hant/*.ts']);

const wanted = new Set<Part>(['core']);
const loaded = new Map<string, object>();
let language: LanguageCode = LANGUAGES[0].code;
let messages: Partial<Messages> = {};

/** Numbers as the language writes them. */
export let format: Format = formatFor(language);

/** Loads what is wanted in a language and still missing, also what comes to be wanted meanwhile. */
async function load(code: LanguageCode): Promise<void> {
  for (;;) {
    const missing = [...wanted].map((part) => ({ part, file: `./${code.toLowerCase()}/${part}.ts` })).filter(({ file }) => !loaded.has(file));
    if (missing.length === 0) return;
    await Promise.all(missing.map(async ({ part, file }) => {
      const words = (await files[file]?.())?.[part];
      if (words === undefined) throw new Error(`There is no ${file}.`);
      loaded.set(file, words);
    }));
  }
}

function goOver(code: LanguageCode): void {
  language = code;
  messages = Object.assign({}, ...[...wanted].map((part) => loaded.get(`./${code.toLowerCase()}/${part}.ts`))) as Partial<Messages>;
  format = formatFor(code);
}

/** Goes over to a language. What is on the screen has to be drawn anew. Rejects, and changes nothing, where it cannot be loaded. */
export async function speak(code: LanguageCode): Promise<void> {
  await load(code);
  goOver(code);
}

/** Sees to it that the words of these parts are there, in whatever language is spoken then. Rejects where they cannot be loaded. */
export async function need(...parts: readonly Part[]): Promise<void> {
  for (const part of parts) wanted.add(part);
  let code;
  do {
    code = language;
    await load(code);
  } while (code !== language);
  goOver(code);
}

export function t<K extends MessageKey>(key: K, ...parameters: Parameters<K>): string {
  const message: unknown = messages[key];
  if (message === undefined) throw new Error(`The words of “${key}” are not loaded: App.tsx names the parts that a view needs, a test needs them itself.`);
  return typeof message === 'string' ? message : (message as (p: unknown) => string)(parameters[0]);
}
