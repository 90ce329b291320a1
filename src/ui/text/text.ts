/** The one way in which the page speaks: `t('train.start')`, with the parameters of each message typed. */
import { en } from './en.ts';
import { formatFor, type Format } from './format.ts';

type Shape<T> = { readonly [K in keyof T]: T[K] extends (p: infer P) => string ? (p: P) => string : string };

/** What a language must say. Others are loaded when they are chosen, and `satisfies Messages`. */
export type Messages = Shape<typeof en>;
export type MessageKey = keyof Messages;
/** Messages without parameters. */
export type PlainKey = { [K in MessageKey]: Messages[K] extends string ? K : never }[MessageKey];

type Parameters<K extends MessageKey> = Messages[K] extends (p: infer P) => string ? [P] : [];

export interface Language {
  /** As in the `lang` attribute. */
  readonly code: string;
  /** In the language itself. */
  readonly name: string;
  readonly load: () => Promise<Messages>;
}

/** Languages to choose from; the first is there from the start. */
export const LANGUAGES: readonly [Language, ...Language[]] = [{ code: 'en', name: 'English', load: () => Promise.resolve(en) }];

let messages: Messages = en;

/** Numbers as the language writes them. */
export let format: Format = formatFor(LANGUAGES[0].code);

/** Goes over to a language. What is on the screen has to be drawn anew. */
export function speak(code: string, next: Messages): void {
  messages = next;
  format = formatFor(code);
}

export function t<K extends MessageKey>(key: K, ...parameters: Parameters<K>): string {
  const message: unknown = messages[key];
  return typeof message === 'string' ? message : (message as (p: unknown) => string)(parameters[0]);
}
