/**
 * The address is canonical: view, run, step, question, rollout, token and signal are read from the part behind `#`
 * and from nowhere else. What stands there is anybody's text, so every value is checked.
 */
import { useSyncExternalStore } from 'react';
import type { BaseLocationHook, BaseSearchHook } from 'wouter';

export const SIGNALS = ['none', 'logprob', 'entropy', 'advantage', 'ratio', 'clip', 'kl', 'gradient', 'delta'] as const;
/** What the background of a token shows. The key for each is its place in the list. */
export type Signal = (typeof SIGNALS)[number];

/** The policies that a token can be compared with (signal `delta`). */
export const OTHERS = ['start', 'after', 'latest', 'arithmetic-trained'] as const;
export type Other = (typeof OTHERS)[number];

/** Views that look at one rollout or group of a step; they share one selection, so that each opens the others' place. */
export const STEP_VIEWS = ['rollout', 'group', 'update'] as const;
export type StepView = (typeof STEP_VIEWS)[number];

/** What is looked at in the rollout, group and update views. Steps, questions and rollouts count from 1; tokens are positions, from 0. */
export interface Selection {
  /** Undefined: the run that is going on, or the recorded one. */
  readonly run: string | undefined;
  /** Undefined: the newest. */
  readonly step: number | undefined;
  readonly question: number;
  readonly rollout: number;
  readonly token: number | undefined;
  readonly signal: Signal;
  /** The policy of the signal `delta`. */
  readonly other: Other;
  /** What only one view has, as it stands in the address: e.g. the operation of the update view. */
  readonly more: Readonly<Record<string, string>>;
}

/** Names of parameters that belong to one view; their values are checked there. */
const MORE = ['op', 'mask', 'variant', 'case', 'update', 'find', 'branch', 'norm', 'nocall', 'cost'] as const;

function whole(text: string | null, least: number): number | undefined {
  if (text === null || !/^\d{1,9}$/.test(text)) return undefined;
  const value = Number(text);
  return value >= least ? value : undefined;
}

export function parseSelection(search: string): Selection {
  const query = new URLSearchParams(search);
  const run = query.get('run');
  return {
    run: run !== null && /^[\w.:-]{1,100}$/.test(run) ? run : undefined,
    step: whole(query.get('step'), 1),
    question: whole(query.get('question'), 1) ?? 1,
    rollout: whole(query.get('rollout'), 1) ?? 1,
    token: whole(query.get('token'), 0),
    signal: SIGNALS.find((name) => name === query.get('signal')) ?? 'none',
    other: OTHERS.find((name) => name === query.get('other')) ?? 'start',
    more: Object.fromEntries(MORE.flatMap((name) => {
      const value = query.get(name);
      return value === null || value.length > 200 ? [] : [[name, value]];
    })),
  };
}

/** The address of a selection in one of the views; what is at its default is left out. */
export function stepAddress(view: StepView, selection: Partial<Selection>): string {
  const query = new URLSearchParams();
  const { run, step, question, rollout, token, signal, other, more } = selection;
  if (run !== undefined) query.set('run', run);
  if (step !== undefined) query.set('step', String(step));
  if (question !== undefined && question !== 1) query.set('question', String(question));
  if (rollout !== undefined && rollout !== 1) query.set('rollout', String(rollout));
  if (token !== undefined) query.set('token', String(token));
  if (signal !== undefined && signal !== 'none') query.set('signal', signal);
  if (other !== undefined && other !== 'start') query.set('other', other);
  for (const [name, value] of Object.entries(more ?? {})) if (value !== '') query.set(name, value);
  const text = query.toString();
  return text === '' ? `/${view}` : `/${view}?${text}`;
}

/** What the address holds at this moment: for what acts later than it was drawn. */
export function selectionNow(): Selection {
  return parseSelection(splitHash(location.hash).search);
}

export function groupAddress(selection: Partial<Selection>): string {
  return stepAddress('group', selection);
}

/** Splits what stands behind `#` into path and query. */
export function splitHash(hash: string): { readonly path: string; readonly search: string } {
  const [path = '', search = ''] = hash.replace(/^#?\/?/, '').split('?', 2);
  return { path: `/${path}`, search };
}

/**
 * What holds for the whole page, not for a view: controls that a link hides stay hidden from view to view; presenting
 * goes on as long as the view stays. An empty value in `to` ends it.
 */
export function keeping(to: string, from: string): string {
  const [here, there] = [splitHash(from), splitHash(to)];
  const [had, has] = [new URLSearchParams(here.search), new URLSearchParams(there.search)];
  const bare = to.replaceAll(/(?<=[?&])(?:hide|present)=(?:&|$)/g, '').replace(/[?&]$/, '');
  const kept = (['hide', 'present'] as const).flatMap((name) => {
    const value = had.get(name) ?? '';
    return !has.has(name) && /^[\w.,-]{1,500}$/.test(value) && (name === 'hide' || here.path === there.path) ? [`${name}=${value}`] : [];
  });
  return kept.length === 0 ? bare : `${bare}${bare.includes('?') ? '&' : '?'}${kept.join('&')}`;
}

const subscribe = (listener: () => void): (() => void) => {
  addEventListener('hashchange', listener);
  return () => {
    removeEventListener('hashchange', listener);
  };
};

/** Goes to an address of the page; `replace` leaves no entry in the history (walking through tokens). */
export function navigate(to: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const url = `#${keeping(to, location.hash)}`;
  if (location.hash === url) return;
  if (replace) history.replaceState(null, '', url);
  else history.pushState(null, '', url);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

const useHashSearch: BaseSearchHook = () => useSyncExternalStore(subscribe, () => splitHash(location.hash).search);

/** For wouter: unlike its own hash location, the query too stands behind `#`. */
export const useHashRoute: BaseLocationHook & { searchHook: BaseSearchHook; hrefs: (href: string) => string } = Object.assign(
  (): [string, typeof navigate] => [useSyncExternalStore(subscribe, () => splitHash(location.hash).path), navigate],
  { searchHook: useHashSearch, hrefs: (href: string): string => `#${keeping(href, location.hash)}` },
);
