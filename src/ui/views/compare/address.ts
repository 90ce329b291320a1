/** What is looked at in the compare view, as it stands in the address. Anybody's text: every value is checked. Pure. */
import { SHIPPED } from '../../../evaluation/conditions.ts';
import type { PolicySource } from '../../../lab/inspection.ts';

export const PARTS = ['conditions', 'question', 'curves', 'masking', 'paper'] as const;
export type Part = (typeof PARTS)[number];

export const QUESTIONS = [32, 64, 128] as const;
export const SAMPLES = [1, 2, 4, 8] as const;
export const METRICS = ['reward', 'accuracy', 'calls', 'length', 'kl', 'format', 'gradient', 'entropy'] as const;
export type MetricName = (typeof METRICS)[number];
export const WHICH = ['both', 'chatty', 'short'] as const;

/** Runs whose curves are drawn at once. */
export const MOST_RUNS = 12;

export interface CompareAddress {
  readonly part: Part;
  readonly suite: string;
  /** Two policies against each other, instead of the three conditions. */
  readonly pair: boolean;
  /** As `policyId` writes them; undefined: the warm start and the trained policy of the suite. */
  readonly a: string | undefined;
  readonly b: string | undefined;
  /** Held-out questions a tier. */
  readonly questions: (typeof QUESTIONS)[number];
  readonly greedy: boolean;
  readonly samples: (typeof SAMPLES)[number];
  readonly seed: number;
  /** The first call of each rollout fails. */
  readonly probe: boolean;
  /** Of one question; of curves 0 is all tiers together. */
  readonly tier: number;
  /** Which question of the tier is drawn. */
  readonly draw: number;
  /** Whether the two policies are to answer. */
  readonly go: boolean;
  readonly text: 'a' | 'b';
  readonly token: number | undefined;
  /** Undefined: not chosen yet. */
  readonly runs: readonly string[] | undefined;
  readonly metric: MetricName;
  readonly which: (typeof WHICH)[number];
  readonly seeds: number;
}

function whole(text: string | null, least: number, most: number): number | undefined {
  const value = text !== null && /^\d{1,10}$/.test(text) ? Number(text) : NaN;
  return value >= least && value <= most ? value : undefined;
}

/** A question on which the shipped policies part; most are answered alike once the warm start happens to call. */
const FIRST_DRAW = 5;

const idPattern = /^[\w.:-]{1,100}$/;

export function parseCompare(search: string): CompareAddress {
  const query = new URLSearchParams(search);
  const one = <T extends string | number>(name: string, allowed: readonly T[]): T | undefined => allowed.find((value) => String(value) === query.get(name));
  const policy = (name: string): string | undefined => {
    const id = query.get(name);
    return id !== null && parsePolicy(id) !== undefined ? id : undefined;
  };
  const part = one('part', PARTS) ?? 'conditions';
  return {
    part,
    suite: one('suite', Object.keys(SHIPPED)) ?? 'arithmetic',
    pair: query.get('pair') === '1',
    a: policy('a'),
    b: policy('b'),
    questions: one('questions', QUESTIONS) ?? 32,
    greedy: query.get('greedy') === '1',
    samples: one('samples', SAMPLES) ?? 1,
    seed: whole(query.get('seed'), 0, 2 ** 31 - 1) ?? 1,
    probe: query.get('probe') === '1',
    tier: whole(query.get('tier'), 0, 9) ?? (part === 'question' ? 3 : 0),
    draw: whole(query.get('draw'), 1, 1e6) ?? FIRST_DRAW,
    go: query.get('go') === '1',
    text: one('text', ['a', 'b'] as const) ?? 'a',
    token: whole(query.get('token'), 0, 1e6),
    runs: query.get('runs')?.split(',').filter((id) => idPattern.test(id)).slice(0, MOST_RUNS),
    metric: one('metric', METRICS) ?? 'reward',
    which: one('which', WHICH) ?? 'both',
    seeds: whole(query.get('seeds'), 1, 5) ?? 3,
  };
}

/** What is at its default is left out. */
export function compareAddress(address: Partial<CompareAddress>): string {
  const query = new URLSearchParams();
  const preset = parseCompare(address.part === undefined ? '' : `part=${address.part}`);
  for (const [name, value] of Object.entries(address) as [keyof CompareAddress, CompareAddress[keyof CompareAddress]][]) {
    if (value === undefined || (name !== 'part' && value === preset[name]) || (name === 'part' && value === 'conditions')) continue;
    query.set(name, Array.isArray(value) ? value.join(',') : typeof value === 'boolean' ? (value ? '1' : '0') : String(value));
  }
  const text = query.toString();
  return text === '' ? '/compare' : `/compare?${text}`;
}

/** A policy, and whether it may call. */
export interface Policy {
  readonly source: PolicySource;
  readonly access: 'tools' | 'none';
}

export function policyId({ source, access }: Policy): string {
  if ('model' in source) return `${access === 'none' ? 'base' : 'model'}:${source.model}`;
  return `run:${source.run}${source.step === undefined ? '' : `@${source.step}`}`;
}

export function parsePolicy(id: string): Policy | undefined {
  const [, kind = '', model = ''] = /^(base|model):([\w-]{1,60})$/.exec(id) ?? [];
  if (model !== '') return { source: { model }, access: kind === 'base' ? 'none' : 'tools' };
  const [, run = '', step] = /^run:([\w.-]{1,60})(?:@(\d{1,9}))?$/.exec(id) ?? [];
  if (run === '') return undefined;
  return { source: step === undefined ? { run } : { run, step: Number(step) }, access: 'tools' };
}
