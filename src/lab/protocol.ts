/**
 * The one contract between the page and the lab worker, which owns engine, Python, trainer and run store. Commands
 * go in, events come out; both are discriminated unions of structured-cloneable values. A page that was loaded from
 * another build than the worker finds another version in `hello` and says so.
 */
import type { GrpoSettings } from '../grpo/settings.ts';
import type { Metrics, SkipReason, StepRecord, StepWarning } from '../grpo/record.ts';
import type { EngineInfo } from '../policy/engine.ts';
import type { RuleFailure } from '../reward/rule.ts';
import type { Inspection, InspectionKind, InspectionPhase, InspectionResults } from './inspection.ts';
import type { ToolName } from '../rollout/environments.ts';
import type { PythonInfo } from '../tools/python/python.ts';

export const PROTOCOL_VERSION = 2;

export type EngineChoice = 'auto' | 'webgpu' | 'cpu';

/** Why the lab runs on the CPU engine though WGSL was wished for, or what else to know about the adapter. */
export type EngineReason =
  /** The person chose this engine. */
  | 'chosen'
  /** A GPU adapter that passed the self-test. */
  | 'gpu'
  /** Not https and not localhost: the browser hides WebGPU. */
  | 'insecure-context'
  /** The browser has no `navigator.gpu`. */
  | 'no-webgpu'
  /** `requestAdapter` returned nothing. */
  | 'no-adapter'
  /** `requestAdapter` or `requestDevice` threw (a blocklisted driver). */
  | 'adapter-error'
  /** The only adapter is emulated on the processor: the CPU engine is faster. */
  | 'software-adapter'
  /** The adapter computed wrong numbers in the start-up test, or cannot hold the policy. */
  | 'self-test-failed'
  /** The GPU went away in mid-run, and no new device could be had. */
  | 'device-lost';

export interface EngineStatus {
  readonly info: EngineInfo;
  readonly reason: EngineReason;
  /** The browser's own words, where there are any. */
  readonly detail?: string;
  /** Measured: seconds for one training step of the current settings; undefined until one was made. */
  readonly secondsPerStep?: number;
}

export type PythonStatus =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly info: PythonInfo }
  | { readonly state: 'failed'; readonly message: string };

/** Everything that determines a run: the same values give the same run on the same engine. */
export interface RunSettings {
  readonly suite: string;
  /** Folder name under `models/`. */
  readonly model: string;
  readonly seed: number;
  /** Steps to make before the run is finished. */
  readonly steps: number;
  /** Which variant of the tool answers. */
  readonly tool: ToolName;
  readonly grpo: GrpoSettings;
}

export type RunState = 'idle' | 'preparing' | 'running' | 'paused' | 'finished' | 'failed';

/** A stored run, without its rollouts. */
export interface RunSummary {
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly started: number;
  readonly settings: RunSettings;
  /** Steps made. */
  readonly step: number;
  readonly state: RunState;
  readonly engine: EngineInfo;
  /** Mean reward of the last step. */
  readonly reward?: number;
}

/** One step without its groups: what the curves need. */
export interface StepSummary {
  readonly step: number;
  readonly metrics: Metrics;
  readonly skipped?: SkipReason;
  readonly warnings: readonly StepWarning[];
}

export type Command =
  /** First of all. `assets` is the absolute address of the folder that holds `models/` and `pyodide/`. */
  | { readonly type: 'hello'; readonly version: number; readonly assets: string; readonly engine: EngineChoice }
  /** Changes the engine; a run in progress goes on from its current weights. */
  | { readonly type: 'choose-engine'; readonly engine: EngineChoice }
  /** Starts a new run from the named model's weights. `then` are further runs, made one after the other once it is finished. */
  | { readonly type: 'start'; readonly settings: RunSettings; readonly pausedAfter?: number; readonly then?: readonly RunSettings[] }
  /** Pauses after the current step. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  /** One step of the current run; starts a paused run with these settings where there is none. */
  | { readonly type: 'step'; readonly settings: RunSettings }
  /** Leaves the current run (it stays stored) and forgets its weights. */
  | { readonly type: 'reset' }
  /** Opens a stored run: its curves, and its last snapshot to go on from. Stays paused. */
  | { readonly type: 'open-run'; readonly id: string }
  | { readonly type: 'delete-run'; readonly id: string }
  /** Asks for the groups of one step of a stored or current run. */
  | { readonly type: 'open-step'; readonly run: string; readonly step: number }
  /** Asks for the curves of a stored run, which is not opened for it. Answered by `run-history`. */
  | { readonly type: 'read-history'; readonly run: string }
  /** Asks the microscope. Answered by `inspected` or `inspect-failed` with the same number; training goes on meanwhile. */
  | { readonly type: 'inspect'; readonly id: number; readonly inspection: Inspection }
  /** The answer is not wanted any more. */
  | { readonly type: 'inspect-cancel'; readonly id: number }
  /** The page was hidden or shown: a hidden page saves at once. */
  | { readonly type: 'visibility'; readonly visible: boolean };

export type LabEvent =
  | { readonly type: 'hello'; readonly version: number }
  | { readonly type: 'engine'; readonly status: EngineStatus | { readonly state: 'starting' } }
  | { readonly type: 'python'; readonly status: PythonStatus }
  | {
      readonly type: 'run';
      /** The current run; undefined after a reset. */
      readonly run: RunSummary | undefined;
      /** Runs that will be made after it. */
      readonly next?: readonly RunSettings[];
    }
  /** Where the current step is, for the progress line; `rollouts` counts finished ones. */
  | { readonly type: 'progress'; readonly phase: 'sampling' | 'python' | 'updating' | 'saving'; readonly rollouts: number; readonly of: number }
  /** A step was made; the groups can be asked for with `open-step`. */
  | { readonly type: 'step'; readonly run: string; readonly summary: StepSummary; readonly secondsLeft: number }
  /** All steps so far of the current run, after its `run` event: it was opened, or went back to a snapshot. */
  | { readonly type: 'history'; readonly run: string; readonly steps: readonly StepSummary[] }
  /** All steps that are stored of the run that was asked for; none where there is no such run. */
  | { readonly type: 'run-history'; readonly run: string; readonly steps: readonly StepSummary[] }
  | { readonly type: 'groups'; readonly run: string; readonly record: StepRecord }
  | Inspected
  | { readonly type: 'inspect-progress'; readonly id: number; readonly phase: InspectionPhase; readonly done: number; readonly of: number }
  /** Where a rule or a call failed, `message` is what Python said. Nothing else changes. */
  /** @param rule why a reward rule gave no rewards */
  | { readonly type: 'inspect-failed'; readonly id: number; readonly message: string; readonly rule?: RuleFailure }
  | { readonly type: 'runs'; readonly runs: readonly RunSummary[] }
  /** Something failed; `about` says where it is shown. Nothing is lost: the last snapshot is stored. */
  | { readonly type: 'fault'; readonly about: 'engine' | 'python' | 'model' | 'run' | 'store' | 'step'; readonly message: string; readonly detail?: string }
  /** Something happened that the person should know, e.g. resumed after the device was lost. */
  | { readonly type: 'notice'; readonly code: NoticeCode };

export type Inspected = {
  [K in InspectionKind]: { readonly type: 'inspected'; readonly id: number; readonly kind: K; readonly result: InspectionResults[K] }
}[InspectionKind];

export type NoticeCode =
  /** Another tab has this run open: two at once would write over each other. */
  | 'open-elsewhere'
  | 'resumed-after-device-loss' | 'moved-to-cpu' | 'storage-unavailable' | 'all-groups-equal';

/** A recorded run that ships with the page: shown, and said to be recorded, before anything is trained. */
export interface RecordedRun {
  readonly run: RunSummary;
  readonly steps: readonly StepSummary[];
  /** Some steps in full. */
  readonly records: readonly StepRecord[];
}
