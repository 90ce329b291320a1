/**
 * A lab that computes nothing, for tests of the page: it speaks the protocol and makes scripted steps. It takes the
 * place of `Worker` before the page's own code runs; the product knows nothing of it.
 */
import type { StepRecord } from '../../grpo/record.ts';
import type { Inspection, Provenance } from '../../lab/inspection.ts';
import {
  PROTOCOL_VERSION, type Command, type EngineReason, type EngineStatus, type LabEvent, type PythonStatus, type RunSettings,
  type RunState, type RunSummary, type StepSummary,
} from '../../lab/protocol.ts';
import { syntheticScores, syntheticStep } from './synthetic.ts';

export interface FakeOptions {
  readonly kind?: 'webgpu' | 'cpu';
  readonly reason?: EngineReason;
  readonly python?: PythonStatus;
  readonly version?: number;
  /** Milliseconds between steps. */
  readonly pace?: number;
  /** The worker dies instead of answering. */
  readonly dies?: boolean;
  /** The run fails at this step. */
  readonly failsAt?: number;
  /** Stored runs to begin with, as (steps made, of). */
  readonly stored?: readonly (readonly [number, number])[];
}

export class FakeLab extends EventTarget {
  private run: RunSummary | undefined;
  private readonly records = new Map<string, StepRecord>();
  private runs: RunSummary[] = [];
  private timer: ReturnType<typeof setTimeout> | undefined;
  private info: EngineStatus['info'] = { kind: 'cpu', adapter: 'CPU (WebAssembly), 2 workers', software: false };

  constructor(private readonly options: FakeOptions, private readonly settings: RunSettings) {
    super();
    if (options.kind === 'webgpu') this.info = { kind: 'webgpu', adapter: 'NVIDIA GeForce RTX 4070', software: false };
    this.runs = (options.stored ?? []).map(([step, steps], i): RunSummary => ({
      id: `stored-${i}`, started: Date.UTC(2026, 0, 2 + i, 9), settings: { ...settings, steps, seed: i + 2 }, step, state: 'paused', engine: this.info, reward: 3.2,
    }));
  }

  postMessage(command: Command): void {
    setTimeout(() => {
      this.handle(command);
    }, 5);
  }

  terminate(): void {
    clearTimeout(this.timer);
  }

  private emit(event: LabEvent): void {
    this.dispatchEvent(new MessageEvent('message', { data: event }));
  }

  private status(reason: EngineReason): void {
    this.emit({ type: 'engine', status: { info: this.info, reason, secondsPerStep: (this.options.pace ?? 400) / 1000 } });
  }

  private handle(command: Command): void {
    switch (command.type) {
      case 'hello':
        if (this.options.dies === true) {
          this.dispatchEvent(new ErrorEvent('error', { message: 'SyntaxError: Unexpected token' }));
          return;
        }
        this.emit({ type: 'hello', version: this.options.version ?? PROTOCOL_VERSION });
        this.status(this.options.reason ?? 'software-adapter');
        this.emit({ type: 'python', status: this.options.python ?? { state: 'ready', info: { version: '3.14.0', sympy: '1.14.0', interruptible: true } } });
        this.emit({ type: 'runs', runs: this.runs });
        return;
      case 'choose-engine':
        this.info = { ...this.info, kind: command.engine === 'webgpu' ? 'webgpu' : 'cpu' };
        this.status('chosen');
        return;
      case 'start':
        this.begin(command.settings, Infinity);
        return;
      case 'step':
        if (this.run === undefined) this.begin(command.settings, 1);
        else this.go(this.run.step + 1);
        return;
      case 'pause':
        clearTimeout(this.timer);
        this.setState('paused');
        this.emit({ type: 'runs', runs: this.runs });
        return;
      case 'resume':
        this.go(Infinity);
        return;
      case 'reset':
        clearTimeout(this.timer);
        this.run = undefined;
        this.emit({ type: 'run', run: undefined });
        return;
      case 'open-run': {
        const run = this.runs.find(({ id }) => id === command.id);
        if (run === undefined) return;
        this.run = { ...run, state: run.step < run.settings.steps ? 'paused' : 'finished' };
        const steps = Array.from({ length: run.step }, (_, i) => this.summary(run, i + 1));
        this.emit({ type: 'history', run: run.id, steps });
        this.emit({ type: 'run', run: this.run });
        return;
      }
      case 'delete-run':
        this.runs = this.runs.filter(({ id }) => id !== command.id);
        this.emit({ type: 'runs', runs: this.runs });
        return;
      case 'open-step': {
        const run = this.run?.id === command.run ? this.run : this.runs.find(({ id }) => id === command.run);
        if (run === undefined) this.emit({ type: 'fault', about: 'step', message: `run ${command.run} is not stored` });
        else this.emit({ type: 'groups', run: run.id, record: this.record(run, command.step) });
        return;
      }
      case 'read-history': {
        const run = this.run?.id === command.run ? this.run : this.runs.find(({ id }) => id === command.run);
        const steps = run === undefined ? [] : Array.from({ length: run.step }, (_, i) => this.summary(run, i + 1));
        this.emit({ type: 'run-history', run: command.run, steps });
        return;
      }
      case 'inspect':
        this.inspect(command.id, command.inspection);
        return;
      case 'inspect-cancel':
      case 'visibility':
        return;
    }
  }

  /** Plausible scores, and a rule that pays each rollout its number; what looks like a fault in it is one. */
  private inspect(id: number, inspection: Inspection): void {
    if (inspection.kind === 'scores') {
      const rows = inspection.rows.map((tokens) => syntheticScores(tokens, inspection.alternatives));
      const provenance: Provenance = { engine: this.info, snapshot: 0, replayed: 0, check: undefined };
      this.emit({ type: 'inspected', id, kind: 'scores', result: { rows, provenance } });
      return;
    }
    if (inspection.kind !== 'rule') {
      this.emit({ type: 'inspect-failed', id, message: 'the scripted lab does not look into updates' });
      return;
    }
    this.emit({ type: 'inspect-progress', id, phase: 'python', done: 0, of: 0 });
    const { code } = inspection;
    setTimeout(() => {
      if (code.includes('while True')) this.emit({ type: 'inspect-failed', id, message: 'The rule did not come to its end and was stopped after 10 s. Is there a loop without an end?' });
      else if (code.includes('raise')) this.emit({ type: 'inspect-failed', id, message: 'Line 2: ValueError' });
      else this.emit({ type: 'inspected', id, kind: 'rule', result: { rewards: Array.from({ length: this.settings.grpo.group }, (_, i) => i + 1) } });
    }, this.options.pace ?? 400);
  }

  private begin(settings: RunSettings, until: number): void {
    this.run = { id: `run-${this.runs.length + 1}`, started: Date.UTC(2026, 0, 10, 12), settings, step: 0, state: 'preparing', engine: this.info };
    this.emit({ type: 'run', run: this.run });
    this.runs = [this.run, ...this.runs];
    this.emit({ type: 'runs', runs: this.runs });
    this.go(until);
  }

  private setState(state: RunState): void {
    if (this.run === undefined) return;
    this.run = { ...this.run, state };
    this.runs = this.runs.map((run) => (run.id === this.run?.id ? this.run : run));
    this.emit({ type: 'run', run: this.run });
  }

  private go(until: number): void {
    this.setState('running');
    const pace = this.options.pace ?? 400;
    const step = (): void => {
      const { run } = this;
      if (run === undefined) return;
      const next = run.step + 1;
      if (next === this.options.failsAt) {
        this.setState('failed');
        this.emit({ type: 'fault', about: 'run', message: 'the device ran out of memory', detail: 'buffer of 3 GB' });
        return;
      }
      this.run = { ...run, step: next };
      this.emit({ type: 'step', run: run.id, summary: this.summary(run, next), secondsLeft: ((run.settings.steps - next) * pace) / 1000 });
      if (next >= run.settings.steps) this.setState('finished');
      else if (next >= until) this.setState('paused');
      else tick(0);
    };
    const of = this.settings.grpo.questions * this.settings.grpo.group;
    const tick = (part: number): void => {
      this.emit({ type: 'progress', phase: part < 3 ? 'sampling' : 'updating', rollouts: part < 3 ? Math.round((of * part) / 3) : 0, of });
      this.timer = setTimeout(() => {
        if (part === 3) step();
        else tick(part + 1);
      }, pace / 4);
    };
    tick(0);
  }

  private record(run: RunSummary, step: number): StepRecord {
    const key = `${run.id}/${step}`;
    const known = this.records.get(key);
    if (known !== undefined) return known;
    const { grpo, seed, steps } = run.settings;
    const record = syntheticStep({ step, seed, grpo, progress: 1 - Math.exp((-3 * step) / steps) });
    this.records.set(key, record);
    return record;
  }

  private summary(run: RunSummary, step: number): StepSummary {
    const { metrics, warnings } = this.record(run, step);
    return { step, metrics, warnings, ...((metrics.frac_reward_zero_std ?? 0) > 0.85 ? { skipped: 'all-groups-equal' as const } : {}) };
  }
}
