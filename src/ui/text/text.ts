/** The one way in which the page speaks: `t('train.start')`, with the parameters of each message typed. */
import { en } from './en.ts';
import { formatFor } from './format.ts';

type Shape<T> = { readonly [K in keyof T]: T[K] extends (p: infer P) => string ? (p: P) => string : string };

/** What a language must say. Others are loaded when they are chosen, and `satisfies Messages`. */
export type Messages = Shape<typeof en>;
export type MessageKey = keyof Messages;
/** Messages without parameters. */
export type PlainKey = { [K in MessageKey]: Messages[K] extends string ? K : never }[MessageKey];

type Parameters<K extends MessageKey> = Messages[K] extends (p: infer P) => string ? [P] : [];

export interface Language {
  readonly code: string;
  /** In the language itself. */
  readonly name: string;
  readonly load: () => Promise<Messages>;
}

/** Languages to choose from. */
export const LANGUAGES: readonly Language[] = [{ code: 'en', name: 'English', load: () => Promise.resolve(en) }];

const messages: Messages = en;

export const format = formatFor('en');

export function t<K extends MessageKey>(key: K, ...parameters: Parameters<K>): string {
  const message: unknown = messages[key];
  return typeof message === 'string' ? message : (message as (p: unknown) => string)(parameters[0]);
}
