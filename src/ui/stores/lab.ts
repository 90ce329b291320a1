/** What the page knows of the lab: engine, Python, the current run with its steps, stored runs, and what went wrong. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { StepRecord } from '../../grpo/record.ts';
import {
  PROTOCOL_VERSION, type Command, type EngineChoice, type EngineStatus, type LabEvent, type NoticeCode, type PythonStatus,
  type RunSettings, type RunSummary, type StepSummary,
} from '../../lab/protocol.ts';
import { connectLab, spawnLab, type LabClient } from '../lab-client.ts';
import { remember, remembered } from './memory.ts';

export type Fault = Extract<LabEvent, { type: 'fault' }>;
export type FaultPlace = Fault['about'];
export type Progress = Extract<LabEvent, { type: 'progress' }>;

export interface LabState {
  readonly connection: 'connecting' | 'open' | 'other-version' | 'failed';
  /** The browser's words on a worker that did not start. */
  readonly connectionDetail: string;
  readonly choice: EngineChoice;
  /** Undefined while the engine starts. */
  readonly engine: EngineStatus | undefined;
  readonly python: PythonStatus;
  readonly run: RunSummary | undefined;
  /** Runs that the lab will make by itself after the current one. */
  readonly next: readonly RunSettings[];
  /** The person asked for training or for a pause, and the lab has not got there yet. */
  readonly asked: 'start' | 'pause' | undefined;
  /** Steps of the current run, in order. */
  readonly steps: readonly StepSummary[];
  /** Curves of a run that is being opened and is not the current one yet. */
  readonly opening: Extract<LabEvent, { type: 'history' }> | undefined;
  readonly progress: Progress | undefined;
  /** Of the current run, by its measured speed; undefined before the first step. */
  readonly secondsLeft: number | undefined;
  readonly runs: readonly RunSummary[];
  /** Steps with their groups, the latest asked for last; see `recordKey`. */
  readonly records: ReadonlyMap<string, StepRecord>;
  /** Steps that were asked for and have not come yet. */
  readonly pending: ReadonlySet<string>;
  readonly faults: Readonly<Partial<Record<FaultPlace, Fault>>>;
  readonly notices: readonly NoticeCode[];
}

export const EMPTY_LAB: LabState = {
  connection: 'connecting',
  connectionDetail: '',
  choice: 'auto',
  engine: undefined,
  python: { state: 'loading' },
  run: undefined,
  next: [],
  asked: undefined,
  steps: [],
  opening: undefined,
  progress: undefined,
  secondsLeft: undefined,
  runs: [],
  records: new Map(),
  pending: new Set(),
  faults: {},
  notices: [],
};

/** Begun and not at its end: running, or to be resumed. */
export function isGoing(run: RunSummary | undefined): boolean {
  return run?.state === 'running' || run?.state === 'preparing' || run?.state === 'paused';
}

/** Steps kept with their groups: each is up to a few hundred kilobytes. */
const KEPT_RECORDS = 24;

export const recordKey = (run: string, step: number): string => `${run}/${step}`;

const without = <T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> => new Set([...set].filter((x) => x !== item));

function withoutFaults(state: LabState, ...places: FaultPlace[]): LabState['faults'] {
  const left = Object.entries(state.faults).filter(([place]) => !places.includes(place as FaultPlace));
  return Object.fromEntries(left);
}

/** The state after an event of the lab. */
export function reduceLab(state: LabState, event: LabEvent): LabState {
  switch (event.type) {
    case 'hello':
      return { ...state, connection: event.version === PROTOCOL_VERSION ? 'open' : 'other-version' };
    case 'engine':
      return 'state' in event.status
        ? { ...state, engine: undefined, faults: withoutFaults(state, 'engine') }
        : { ...state, engine: event.status, faults: withoutFaults(state, 'engine') };
    case 'python':
      return { ...state, python: event.status };
    case 'run': {
      const { run, next = [] } = event;
      if (run === undefined) return { ...state, run, next, asked: undefined, steps: [], progress: undefined, secondsLeft: undefined, faults: withoutFaults(state, 'run', 'model', 'step') };
      const other = run.id !== state.run?.id;
      const active = run.state === 'running' || run.state === 'preparing';
      return {
        ...state,
        run,
        next,
        asked: active && state.asked === 'pause' ? 'pause' : undefined,
        ...(other ? { steps: state.opening?.run === run.id ? state.opening.steps : [], secondsLeft: undefined, notices: [] } : {}),
        opening: undefined,
        progress: active ? state.progress : undefined,
        faults: active || other ? withoutFaults(state, 'run', 'model', 'engine', 'python') : state.faults,
      };
    }
    case 'progress':
      return { ...state, progress: event };
    case 'step': {
      if (event.run !== state.run?.id) return state;
      const earlier = state.steps.filter(({ step }) => step < event.summary.step);
      const { step, metrics } = event.summary;
      const run = { ...state.run, step, ...(metrics.reward === undefined ? {} : { reward: metrics.reward }) };
      return {
        ...state,
        run,
        steps: [...earlier, event.summary],
        secondsLeft: event.secondsLeft,
        // The next step begins at once: the line that tells of it does not flicker.
        progress: state.progress && { ...state.progress, phase: 'sampling', rollouts: 0 },
        // Said of the step before.
        notices: state.notices.filter((code) => code !== 'all-groups-equal'),
      };
    }
    case 'history':
      return event.run === state.run?.id ? { ...state, steps: event.steps } : { ...state, opening: event };
    case 'groups': {
      const key = recordKey(event.run, event.record.step);
      const kept = [...state.records].filter(([k]) => k !== key).slice(1 - KEPT_RECORDS);
      return {
        ...state,
        records: new Map([...kept, [key, event.record]]),
        pending: without(state.pending, key),
        faults: withoutFaults(state, 'step'),
      };
    }
    case 'runs':
      return { ...state, runs: event.runs };
    case 'run-history':
    case 'inspected':
    case 'inspect-progress':
    case 'inspect-failed':
      // Other stores have them.
      return state;
    case 'fault':
      return {
        ...state,
        faults: { ...state.faults, [event.about]: event },
        asked: undefined,
        ...(event.about === 'step' ? { pending: new Set<string>() } : {}),
      };
    case 'notice':
      return state.notices.includes(event.code) ? state : { ...state, notices: [...state.notices, event.code] };
  }
}

export const labStore = createStore<LabState>(() => ({ ...EMPTY_LAB, choice: remembered('engine', ['auto', 'webgpu', 'cpu'], 'auto') }));

export function useLab<T>(selector: (state: LabState) => T): T {
  return useStore(labStore, selector);
}

let client: LabClient | undefined;

/** Starts the lab. Called once, by the page's entry. */
export function openLab(assets: string): void {
  client?.close();
  client = connectLab({
    spawn: spawnLab,
    assets,
    engine: labStore.getState().choice,
    onEvents: (events) => {
      labStore.setState((state) => events.reduce(reduceLab, state));
      for (const listener of listeners) events.forEach(listener);
    },
    onFailure: (message) => {
      labStore.setState({ connection: 'failed', connectionDetail: message });
    },
  });
  document.addEventListener('visibilitychange', () => {
    send({ type: 'visibility', visible: document.visibilityState === 'visible' });
  });
}

export function send(command: Command): void {
  client?.send(command);
}

const listeners = new Set<(event: LabEvent) => void>();

/** For stores that hold what is no part of the lab's own state. */
export function onLabEvent(listener: (event: LabEvent) => void): void {
  listeners.add(listener);
}

export const lab = {
  chooseEngine: (engine: EngineChoice): void => {
    remember('engine', engine);
    labStore.setState({ choice: engine, engine: undefined });
    send({ type: 'choose-engine', engine });
  },
  /** @param then further runs, made one after the other once this one is finished. */
  train: (settings: RunSettings, then: readonly RunSettings[] = []): void => {
    labStore.setState({ asked: 'start' });
    send({ type: 'start', settings, then });
  },
  pause: (): void => {
    labStore.setState({ asked: 'pause' });
    send({ type: 'pause' });
  },
  resume: (): void => {
    labStore.setState({ asked: 'start' });
    send({ type: 'resume' });
  },
  oneStep: (settings: RunSettings): void => {
    labStore.setState({ asked: 'start' });
    send({ type: 'step', settings });
  },
  reset: (): void => {
    send({ type: 'reset' });
  },
  openRun: (id: string): void => {
    send({ type: 'open-run', id });
  },
  deleteRun: (id: string): void => {
    send({ type: 'delete-run', id });
  },
  /** Asks for a step's groups, once. */
  openStep: (run: string, step: number): void => {
    const key = recordKey(run, step);
    const { records, pending } = labStore.getState();
    if (records.has(key) || pending.has(key)) return;
    labStore.setState({ pending: new Set([...pending, key]) });
    send({ type: 'open-step', run, step });
  },
};
