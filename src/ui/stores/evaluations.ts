/** Evaluations made on this page, one after the other, and the recorded ones that ship with it. */
import * as v from 'valibot';
import { useEffect } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { CONDITIONS } from '../../evaluation/conditions.ts';
import type { EvaluationResult } from '../../evaluation/evaluate.ts';
import type { Drift } from '../../evaluation/masking.ts';
import type { Inspection, InspectionPhase } from '../../lab/inspection.ts';
import { suiteOf } from '../../lab/suites.ts';
import type { EngineInfo } from '../../policy/engine.ts';
import { labStore } from './lab.ts';
import { answerTo, cancelAsking } from './microscope.ts';

export type EvaluationSpec = Omit<Extract<Inspection, { kind: 'evaluate' }>, 'kind'>;

export interface Evaluation {
  readonly spec: EvaluationSpec;
  readonly result: EvaluationResult;
  readonly engine: EngineInfo;
}

/** Evaluations asked for together. */
export interface Series {
  readonly keys: readonly string[];
  /** Place of the one that is being made. */
  readonly at: number;
  readonly state: 'going' | 'finished' | 'stopped' | 'failed';
  readonly phase: InspectionPhase | undefined;
  /** Rollouts, of the whole series. */
  readonly done: number;
  readonly of: number;
  /** By the pace so far; undefined before there is one. */
  readonly secondsLeft: number | undefined;
  /** What the lab says of a failure. */
  readonly message: string;
}

interface State {
  readonly finished: ReadonlyMap<string, Evaluation>;
  readonly series: Series | undefined;
  /** By run and step. */
  readonly drifts: ReadonlyMap<string, Drift | { readonly failed: string }>;
}

export const evaluationStore = createStore<State>(() => ({ finished: new Map(), series: undefined, drifts: new Map() }));

export function useEvaluations<T>(selector: (state: State) => T): T {
  return useStore(evaluationStore, selector);
}

/** Everything that the figures depend on: the engines agree, but not to the last bit. */
export function evaluationKey(spec: EvaluationSpec): string {
  return `evaluate/${labStore.getState().engine?.info.kind ?? ''}/${JSON.stringify(spec)}`;
}

function rolloutsOf({ suite, questionsPerTier, samples }: EvaluationSpec): number {
  return suiteOf(suite).tiers.length * questionsPerTier * samples;
}

/** Which series is the one that counts: an older one that still has an answer coming is over. */
let turn = 0;

export const evaluations = {
  /**
   * Makes those that are not there yet, one after the other: between two of them, questions of other views are answered.
   * A failure ends the series and is told in it; what was finished stays.
   */
  make: async (specs: readonly EvaluationSpec[]): Promise<void> => {
    const mine = ++turn;
    const keys = specs.map(evaluationKey);
    const { finished } = evaluationStore.getState();
    const missing = specs.flatMap((spec, at) => (finished.has(keys[at] ?? '') ? [] : [{ spec, at, key: keys[at] ?? '' }]));
    const of = missing.reduce((n, { spec }) => n + rolloutsOf(spec), 0);
    const began = performance.now();
    let before = 0;
    const change = (to: Partial<Series>): void => {
      evaluationStore.setState(({ series }) => (mine !== turn || series === undefined ? {} : { series: { ...series, ...to } }));
    };
    evaluationStore.setState({ series: { keys, at: 0, state: 'going', phase: undefined, done: 0, of, secondsLeft: undefined, message: '' } });
    for (const { spec, at, key } of missing) {
      change({ at });
      try {
        const { result, engine } = await answerTo(key, { kind: 'evaluate', ...spec }, ({ phase, done }) => {
          const all = before + (phase === 'answering' ? done : 0);
          change({ phase, done: all, ...(all === 0 ? {} : { secondsLeft: ((performance.now() - began) / 1000 / all) * (of - all) }) });
        });
        evaluationStore.setState((state) => ({ finished: new Map([...state.finished, [key, { spec, result, engine }]]) }));
      } catch (error) {
        change({ state: 'failed', message: error instanceof Error ? error.message : String(error) });
        return;
      }
      if (mine !== turn) return;
      before += rolloutsOf(spec);
    }
    change({ state: 'finished', done: of, secondsLeft: 0 });
  },
  /** Ends the series; what was finished stays. */
  stop: (): void => {
    const { series } = evaluationStore.getState();
    if (series?.state !== 'going') return;
    turn++;
    evaluationStore.setState({ series: { ...series, state: 'stopped' } });
    cancelAsking(series.keys[series.at] ?? '');
  },
};

export const driftKey = (run: string, step: number): string => `drift/${run}/${step}`;
const asked = new Set<string>();

/** Asks again for what could not be measured. */
export async function measureDriftAgain(run: string, step: number): Promise<void> {
  const key = driftKey(run, step);
  asked.delete(key);
  evaluationStore.setState(({ drifts }) => ({ drifts: new Map([...drifts].filter(([other]) => other !== key)) }));
  await measureDrift(run, step);
}

/** Measures how far a run had gone at a step, once. */
export async function measureDrift(run: string, step: number): Promise<void> {
  const key = driftKey(run, step);
  if (asked.has(key)) return;
  asked.add(key);
  const drift = await answerTo(key, { kind: 'drift', at: { run, step } }, () => undefined).then(
    (answer): Drift => answer.drift,
    (error: unknown) => ({ failed: error instanceof Error ? error.message : String(error) }),
  );
  evaluationStore.setState(({ drifts }) => ({ drifts: new Map([...drifts, [key, drift]]) }));
}

const share = v.pipe(v.number(), v.minValue(0), v.maxValue(1));
const maybe = v.nullable(share);
const FIGURES = {
  accuracy: share, accuracyInterval: v.tuple([share, share]), passAt: v.record(v.string(), share), reward: v.number(),
  rewardParts: v.object({
    answer: v.exactOptional(v.number()), state: v.exactOptional(v.number()), functions: v.exactOptional(v.number()), format: v.number(),
    execution: v.exactOptional(v.number()), callCost: v.number(),
  }),
  strictFormat: share, calls: v.number(), callSuccess: maybe, selfCorrection: maybe, rightAfterCorrection: maybe, tokens: v.number(),
  stops: v.object({ end: share, length: share, calls: share, cancelled: share }),
  workflow: v.exactOptional(v.object({
    rollouts: v.number(), completed: v.number(), correctCalls: v.number(), neededCalls: v.number(), calls: v.number(), failedCalls: v.number(),
    callsPerCompleted: v.nullable(v.number()), callsWhereCompleted: v.nullable(v.number()),
  })),
};

/** What `npm run evaluate -- --json` prints. */
const ReportSchema = v.object({
  suite: v.string(), condition: v.picklist(CONDITIONS), model: v.string(), probe: v.boolean(), questionsPerTier: v.number(), samples: v.number(),
  seed: v.number(), temperature: v.number(), ...FIGURES, tiers: v.array(v.object({ tier: v.number(), ...FIGURES })),
});
const RecordedSchema = v.object({ engine: v.picklist(['webgpu', 'cpu']), evaluations: v.array(ReportSchema) });
export type RecordedEvaluations = v.InferOutput<typeof RecordedSchema>;
export type RecordedEvaluation = RecordedEvaluations['evaluations'][number];

/** What `npm run masking -- --json` prints. */
const MaskingSchema = v.object({
  steps: v.number(), group: v.number(), questionsPerTier: v.number(),
  runs: v.array(v.object({
    setting: v.string(), seed: v.number(), questions: v.number(), reward: v.number(), strictFormat: v.number(), gradNorm: v.nullable(v.number()),
    klToBase: v.number(), forged: v.number(), outputAfterCall: v.nullable(v.number()),
  })),
});
export type RecordedMasking = v.InferOutput<typeof MaskingSchema>;

export type Shipped<T> = { readonly state: 'loading' | 'missing' } | { readonly state: 'ready'; readonly it: T };

interface ShippedState {
  readonly evaluation: Shipped<RecordedEvaluations>;
  readonly masking: Shipped<RecordedMasking>;
  /** Whether a policy lies beside the page. */
  readonly models: ReadonlyMap<string, boolean>;
}

const shippedStore = createStore<ShippedState>(() => ({ evaluation: { state: 'loading' }, masking: { state: 'loading' }, models: new Map() }));
const fetched = new Set<string>();

/** A file beside the page; undefined where it is not there, or is something else. */
async function read<T>(path: string, schema: v.GenericSchema<unknown, T>): Promise<T | undefined> {
  try {
    const response = await fetch(new URL(path, document.baseURI));
    if (!response.ok) return undefined;
    const parsed = v.safeParse(schema, await response.json());
    return parsed.success ? parsed.output : undefined;
  } catch {
    // Without a network, or with a page of words in the place of the file.
    return undefined;
  }
}

const shipped = <T>(it: T | undefined): Shipped<T> => (it === undefined ? { state: 'missing' } : { state: 'ready', it });

/** Recorded evaluations and the recorded masking experiment; read when they are first looked at. */
export function useShipped<K extends 'evaluation' | 'masking'>(name: K): ShippedState[K] {
  useEffect(() => {
    if (fetched.has(name)) return;
    fetched.add(name);
    if (name === 'evaluation') void read('recorded/evaluation.json', RecordedSchema).then((it) => { shippedStore.setState({ evaluation: shipped(it) }); });
    else void read('recorded/masking.json', MaskingSchema).then((it) => { shippedStore.setState({ masking: shipped(it) }); });
  }, [name]);
  return useStore(shippedStore, (s) => s[name]);
}

/** Those of the named policies that do not lie beside the page; undefined before that is known. */
export function useMissingModels(names: readonly string[]): readonly string[] | undefined {
  const list = names.join(' ');
  useEffect(() => {
    for (const name of list.split(' ').filter(Boolean)) {
      if (fetched.has(`models/${name}`)) continue;
      fetched.add(`models/${name}`);
      void read(`models/${name}/config.json`, v.looseObject({ hidden_size: v.number() })).then((config) => {
        shippedStore.setState(({ models }) => ({ models: new Map([...models, [name, config !== undefined]]) }));
      });
    }
  }, [list]);
  const models = useStore(shippedStore, (s) => s.models);
  return names.every((name) => models.has(name)) ? names.filter((name) => models.get(name) === false) : undefined;
}
