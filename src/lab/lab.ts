/**
 * The lab: owns engine, Python, trainer and run store, takes commands and emits events. It knows no worker and no
 * page; `worker.browser.ts` connects it to one. Commands are carried out one after the other, except those that
 * must reach a step in progress (`pause`, `reset`, `visibility`).
 */
import type { StepRecord } from '../grpo/record.ts';
import { DEFAULT_GRPO } from '../grpo/settings.ts';
import { checkSettings, trainStep, type TrainerParts } from '../grpo/trainer.ts';
import type { PolicyFiles } from '../policy/checkpoint.ts';
import { EngineError, type PolicyEngine } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { pythonCalls } from '../rollout/rollout.ts';
import { SUITES } from '../tasks/arithmetic.ts';
import { TOY_LIMITS, type Python, type PythonInfo } from '../tools/python/python.ts';
import {
  PROTOCOL_VERSION, type Command, type EngineChoice, type EngineReason, type LabEvent, type RunSettings, type RunState,
  type RunSummary, type StepSummary,
} from './protocol.ts';
import { memoryRunStore, type RunSnapshot, type RunStore } from './store.ts';

export interface StartedEngine {
  readonly engine: PolicyEngine;
  readonly reason: EngineReason;
  readonly detail?: string;
  /** Whether a person is looking: an engine that shares the GPU with the page then holds it for shorter stretches. */
  setVisible?(visible: boolean): void;
}

/** What the lab needs from where it runs. */
export interface Platform {
  startEngine(choice: EngineChoice): Promise<StartedEngine>;
  /** @param assets see the `hello` command. */
  createPython(assets: string): Python;
  openStore(): Promise<RunStore>;
  loadModel(assets: string, name: string): Promise<PolicyFiles>;
  /** Milliseconds since 1970. */
  now(): number;
  newId(): string;
}

/** A snapshot is taken when this many milliseconds have passed since the last one: what a closed tab can lose. */
const SNAPSHOT_EVERY = 4000;

/** What the lab measures its pace with before the first run. */
const WARM_UP: RunSettings = { suite: 'arithmetic', model: 'arithmetic-base', seed: 0, steps: 2, grpo: DEFAULT_GRPO };

interface Run {
  summary: RunSummary;
  readonly files: PolicyFiles;
  /** Tokens sampled so far. */
  tokens: number;
  /** In memory too: a lost device must not wait for the disk. */
  snapshot: RunSnapshot | undefined;
  /** When the last snapshot was taken. */
  savedAt: number;
}

export class Lab {
  private started: Promise<StartedEngine> | undefined;
  private python: Python | undefined;
  private pythonReady: Promise<PythonInfo> | undefined;
  private store: Promise<RunStore> | undefined;
  private assets = '';
  private run: Run | undefined;
  /** The loop that makes steps; resolves when it has stopped. */
  private loop: Promise<void> = Promise.resolve();
  /** Where the loop ends after the step in progress; Infinity while running freely, 0 to pause. */
  private pauseAt = Infinity;
  /** A pause that came while a run was being prepared holds once it is. */
  private pauseAsked = false;
  private abort = new AbortController();
  private saveSoon = false;
  private visible = true;
  private readonly stepSeconds: number[] = [];
  /** Whether the engine has not compiled yet. */
  private cold = true;
  private queue: Promise<void> = Promise.resolve();

  constructor(
    private readonly platform: Platform,
    private readonly emit: (event: LabEvent) => void,
  ) {}

  /** Carries a command out. Resolves when it has been; faults become events. */
  handle(command: Command): Promise<void> {
    if (command.type === 'pause') {
      this.pauseAt = 0;
      this.pauseAsked = true;
      return Promise.resolve();
    }
    if (command.type === 'visibility') {
      // A hidden tab may be closed or frozen at any moment.
      this.saveSoon ||= !command.visible;
      this.visible = command.visible;
      void this.started?.then((started) => { started.setVisible?.(this.visible); }, () => undefined);
      return Promise.resolve();
    }
    if (command.type === 'start' || command.type === 'resume' || command.type === 'step') this.pauseAsked = false;
    if (command.type === 'reset') this.abort.abort(new DOMException('The run was reset', 'AbortError'));
    const done = this.queue.then(() => this.carryOut(command));
    this.queue = done.catch(() => undefined);
    return this.queue;
  }

  private async carryOut(command: Exclude<Command, { type: 'pause' | 'visibility' }>): Promise<void> {
    try {
      switch (command.type) {
        case 'hello':
          await this.hello(command.assets, command.engine);
          break;
        case 'choose-engine':
          await this.chooseEngine(command.engine);
          break;
        case 'start':
          await this.stopLoop();
          await this.prepare(command.settings);
          this.go(command.pausedAfter ?? Infinity);
          break;
        case 'resume':
          if (this.run !== undefined) this.go(Infinity);
          break;
        case 'step':
          await this.oneStep(command.settings);
          break;
        case 'reset':
          await this.stopLoop();
          this.run = undefined;
          this.emit({ type: 'run', run: undefined });
          break;
        case 'open-run':
          await this.openRun(command.id);
          break;
        case 'delete-run':
          if (this.run?.summary.id === command.id) {
            await this.stopLoop();
            this.run = undefined;
            this.emit({ type: 'run', run: undefined });
          }
          await (await this.opened()).deleteRun(command.id);
          await this.listRuns();
          break;
        case 'open-step':
          await this.openStep(command.run, command.step);
          break;
      }
    } catch (error) {
      this.fault(error);
    }
  }

  private async hello(assets: string, choice: EngineChoice): Promise<void> {
    this.assets = assets;
    this.emit({ type: 'hello', version: PROTOCOL_VERSION });
    this.store = this.platform.openStore().catch((): RunStore => {
      this.emit({ type: 'notice', code: 'storage-unavailable' });
      return memoryRunStore();
    });
    this.startPython();
    // Not awaited: runs can be looked at while engine and Python start.
    this.loop = this.startEngine(choice).then(
      (started) => this.warmUp(started, this.abort.signal),
      (error: unknown) => { this.fault(error, 'engine'); },
    );
    await this.listRuns();
  }

  /**
   * Two steps that nobody sees, while nobody has asked for anything: the first compiles, the second tells the pace.
   * An adapter that is emulated on the processor is spared: it would keep the person waiting.
   */
  private async warmUp({ engine }: StartedEngine, signal: AbortSignal): Promise<void> {
    if (engine.info.software) return;
    try {
      await this.python_();
      const files = await this.platform.loadModel(this.assets, WARM_UP.model);
      await engine.load(files.checkpoint);
      for (let step = 1; step <= 2; step++) {
        const parts = this.parts(files.tokenizer, WARM_UP, engine);
        const { metrics } = await trainStep(parts, step, { signal });
        this.noteSeconds(metrics['step_time'] ?? 0);
      }
    } catch {
      // Aborted by a command, or a fault that the first real step will meet and show.
    }
  }

  private startPython(): void {
    this.emit({ type: 'python', status: { state: 'loading' } });
    const python = this.platform.createPython(this.assets);
    this.python = python;
    this.pythonReady = python.ready();
    this.pythonReady.then(
      (info) => { this.emit({ type: 'python', status: { state: 'ready', info } }); },
      (error: unknown) => { this.emit({ type: 'python', status: { state: 'failed', message: messageOf(error) } }); },
    );
  }

  private startEngine(choice: EngineChoice): Promise<StartedEngine> {
    this.emit({ type: 'engine', status: { state: 'starting' } });
    const started = this.platform.startEngine(choice);
    this.started = started;
    started.then(
      () => {
        this.stepSeconds.length = 0;
        this.cold = true;
      },
      () => undefined,
    );
    return started.then((result) => {
      result.setVisible?.(this.visible);
      this.emitEngine(result);
      return result;
    });
  }

  private emitEngine({ engine, reason, detail }: StartedEngine): void {
    const recent = this.stepSeconds;
    this.emit({
      type: 'engine',
      status: {
        info: engine.info,
        reason,
        ...(detail === undefined ? {} : { detail }),
        ...(recent.length === 0 ? {} : { secondsPerStep: average(recent) }),
      },
    });
  }

  /** Where the engine asked for cannot be had, the one at work stays. */
  private async chooseEngine(choice: EngineChoice): Promise<void> {
    const wasRunning = this.run?.summary.state === 'running';
    await this.stopLoop(this.run !== undefined);
    const old = await this.started?.catch(() => undefined);
    if (this.run !== undefined && old !== undefined) await this.takeSnapshot(this.run, old.engine);
    try {
      const { engine } = await this.startEngine(choice);
      old?.engine.dispose();
      if (this.run !== undefined) await this.loadOrReplace(engine, this.run);
    } catch (error) {
      this.fault(error, 'engine');
      if (old === undefined) return;
      this.started = Promise.resolve(old);
      this.emitEngine(old);
    }
    if (wasRunning) this.go(Infinity);
  }

  private async prepare(settings: RunSettings): Promise<void> {
    checkSettings(settings.grpo);
    if (SUITES[settings.suite] === undefined) throw new RangeError(`there is no suite "${settings.suite}"`);
    const [{ engine }, files] = await Promise.all([
      this.engine(),
      this.platform.loadModel(this.assets, settings.model),
    ]);
    this.run = {
      summary: {
        id: this.platform.newId(), started: this.platform.now(), settings, step: 0, state: 'preparing', engine: engine.info,
      },
      files, tokens: 0, snapshot: undefined, savedAt: this.platform.now(),
    };
    this.emitRun();
    this.emit({ type: 'history', run: this.run.summary.id, steps: [] });
    // Before the first step, so that a run whose weights no engine can hold is never stored.
    await this.python_();
    await this.loadOrReplace(engine, this.run);
    await (await this.opened()).putRun(this.run.summary);
    await this.listRuns();
  }

  /** Loads the run's weights: its last snapshot, or the model it starts from. The reference is always the model. */
  private async loadInto(engine: PolicyEngine, run: Run): Promise<void> {
    await engine.load(run.snapshot?.snapshot ?? run.files.checkpoint);
    if (run.summary.settings.grpo.beta > 0) await engine.holdReference(run.files.checkpoint.weights);
  }

  /** Loads the run's weights; where this engine cannot, another takes over. */
  private async loadOrReplace(engine: PolicyEngine, run: Run): Promise<void> {
    try {
      await this.loadInto(engine, run);
    } catch (error) {
      if (!(error instanceof EngineError) || engine.info.kind !== 'webgpu') throw error;
      if (error.code === 'lost') await this.replaceLostEngine(run);
      else if (error.code === 'unsupported') {
        const cpu = await this.moveToCpu('self-test-failed', error.message);
        engine.dispose();
        await this.loadInto(cpu.engine, run);
      } else throw error;
    }
  }

  private async moveToCpu(reason: EngineReason, detail?: string): Promise<StartedEngine> {
    this.started = this.platform.startEngine('cpu').then((cpu) => ({ ...cpu, reason, ...(detail === undefined ? {} : { detail }) }));
    const started = await this.started;
    this.stepSeconds.length = 0;
    this.cold = true;
    this.emitEngine(started);
    this.emit({ type: 'notice', code: 'moved-to-cpu' });
    return started;
  }

  private async oneStep(settings: RunSettings): Promise<void> {
    await this.stopLoop(this.run !== undefined);
    if (this.run === undefined) await this.prepare(settings);
    if (this.run === undefined) return;
    const { summary } = this.run;
    const next = summary.step + 1;
    // A finished run can be stepped on.
    if (next > summary.settings.steps) this.run.summary = { ...summary, settings: { ...summary.settings, steps: next } };
    this.go(next);
    await this.loop;
  }

  /** @param until the step after which to pause. */
  private go(until: number): void {
    const run = this.run;
    if (run === undefined || run.summary.state === 'running' || run.summary.state === 'failed') return;
    this.pauseAt = this.pauseAsked ? 0 : until;
    this.abort = new AbortController();
    this.setState(run, 'running');
    this.loop = this.makeSteps(run, this.abort.signal).catch((error: unknown) => {
      if (run === this.run) this.setState(run, 'failed');
      this.fault(error, 'run');
    });
  }

  private async makeSteps(run: Run, signal: AbortSignal): Promise<void> {
    while (run.summary.step < run.summary.settings.steps && run.summary.step < this.pauseAt) {
      let started = await this.engine();
      try {
        await this.makeStep(run, started.engine, signal);
      } catch (error) {
        // Aborted while sampling: the weights are those of the last whole step.
        if (signal.aborted) break;
        if (!(error instanceof EngineError) || error.code !== 'lost') throw error;
        started = await this.replaceLostEngine(run);
      }
    }
    const finished = run.summary.step >= run.summary.settings.steps;
    this.setState(run, finished ? 'finished' : 'paused');
    await this.save(run);
    await this.listRuns();
  }

  private async makeStep(run: Run, engine: PolicyEngine, signal: AbortSignal): Promise<void> {
    const step = run.summary.step + 1;
    const record = await trainStep(this.parts(run.files.tokenizer, run.summary.settings, engine), step, {
      signal,
      tokensBefore: run.tokens,
      onProgress: ({ phase, finished, of }) => { this.emit({ type: 'progress', phase, rollouts: finished, of }); },
    });
    const summary = summaryOf(record);
    run.tokens = record.metrics['num_tokens'] ?? run.tokens;
    const reward = record.metrics['reward'];
    run.summary = { ...run.summary, step, engine: engine.info, ...(reward === undefined ? {} : { reward }) };
    this.noteSeconds(record.metrics['step_time'] ?? 0);
    await (await this.opened()).putStep(run.summary.id, summary, record);
    const left = (run.summary.settings.steps - step) * average(this.stepSeconds);
    this.emit({ type: 'step', run: run.summary.id, summary, secondsLeft: left });
    this.emitRun();
    if (record.skipped === 'all-groups-equal') this.emit({ type: 'notice', code: 'all-groups-equal' });
    if (this.saveSoon || this.platform.now() - run.savedAt > SNAPSHOT_EVERY) await this.save(run);
  }

  private parts(tokenizer: Tokenizer, settings: RunSettings, engine: PolicyEngine): TrainerParts {
    const suite = SUITES[settings.suite];
    if (suite === undefined || this.python === undefined) throw new Error('the run has no suite or no Python');
    return {
      engine, suite, tokenizer,
      runCalls: pythonCalls(this.python, TOY_LIMITS),
      settings: settings.grpo,
      seed: settings.seed,
    };
  }

  /** The device is gone: another engine takes over from the last snapshot, and the steps since are made again. */
  private async replaceLostEngine(run: Run): Promise<StartedEngine> {
    const lost = await this.started?.catch(() => undefined);
    lost?.engine.dispose();
    let started: StartedEngine;
    try {
      started = await this.startEngine('webgpu');
      this.emit({ type: 'notice', code: 'resumed-after-device-loss' });
    } catch {
      started = await this.moveToCpu('device-lost');
    }
    await this.loadInto(started.engine, run);
    await this.goBackTo(run, run.snapshot?.step ?? 0, run.snapshot?.tokens ?? 0);
    return started;
  }

  private async goBackTo(run: Run, step: number, tokens: number): Promise<void> {
    const store = await this.opened();
    await store.truncate(run.summary.id, step);
    run.tokens = tokens;
    run.summary = { ...run.summary, step };
    this.emit({ type: 'history', run: run.summary.id, steps: await store.steps(run.summary.id) });
    this.emitRun();
  }

  private async save(run: Run): Promise<void> {
    this.saveSoon = false;
    if (run.summary.step === 0) return;
    this.emit({ type: 'progress', phase: 'saving', rollouts: 0, of: 0 });
    const { engine } = await this.engine();
    const snapshot = await this.takeSnapshot(run, engine);
    try {
      const store = await this.opened();
      await store.putSnapshot(run.summary.id, snapshot);
      await store.putRun(run.summary);
    } catch (error) {
      // A full disk must not end a run; its weights are still in memory.
      this.fault(error, 'store');
    }
  }

  private async takeSnapshot(run: Run, engine: PolicyEngine): Promise<RunSnapshot> {
    const snapshot: RunSnapshot = { step: run.summary.step, tokens: run.tokens, snapshot: await engine.snapshot() };
    run.snapshot = snapshot;
    run.savedAt = this.platform.now();
    return snapshot;
  }

  private async openRun(id: string): Promise<void> {
    await this.stopLoop();
    const store = await this.opened();
    const stored = await store.run(id);
    if (stored === undefined) throw new RangeError('this run is not stored here any more');
    const snapshot = await store.snapshot(id);
    const files = await this.platform.loadModel(this.assets, stored.settings.model);
    const run: Run = { summary: stored, files, tokens: snapshot?.tokens ?? 0, snapshot, savedAt: this.platform.now() };
    // Curves first: they can be looked at while the engine starts.
    this.run = run;
    this.emitRun();
    await this.goBackTo(run, snapshot?.step ?? 0, snapshot?.tokens ?? 0);
    this.setState(run, 'preparing');
    const { engine } = await this.engine();
    await this.loadOrReplace(engine, run);
    this.setState(run, run.summary.step >= run.summary.settings.steps ? 'finished' : 'paused');
  }

  private async openStep(id: string, step: number): Promise<void> {
    const record = await (await this.opened()).record(id, step);
    if (record === undefined) this.emit({ type: 'fault', about: 'step', message: `step ${step} of this run is not stored` });
    else this.emit({ type: 'groups', run: id, record });
  }

  /** @param finishStep lets the step in progress end; otherwise it is thrown away. */
  private async stopLoop(finishStep = false): Promise<void> {
    this.pauseAt = 0;
    if (!finishStep) this.abort.abort(new DOMException('The run was left', 'AbortError'));
    await this.loop;
    const run = this.run;
    if (run !== undefined && run.summary.state === 'running') this.setState(run, 'paused');
  }

  private async engine(): Promise<StartedEngine> {
    if (this.started === undefined) throw new Error('the lab has not been told which engine to use');
    return this.started;
  }

  private async python_(): Promise<PythonInfo> {
    if (this.pythonReady === undefined) throw new Error('Python has not been started');
    return this.pythonReady;
  }

  private async opened(): Promise<RunStore> {
    this.store ??= Promise.resolve(memoryRunStore());
    return this.store;
  }

  private async listRuns(): Promise<void> {
    this.emit({ type: 'runs', runs: await (await this.opened()).runs() });
  }

  private setState(run: Run, state: RunState): void {
    run.summary = { ...run.summary, state };
    if (run === this.run) this.emitRun();
  }

  private emitRun(): void {
    this.emit({ type: 'run', run: this.run?.summary });
  }

  /** The first step of an engine compiles: its time stands only until there is another. */
  private noteSeconds(seconds: number): void {
    if (this.cold && this.stepSeconds.length === 1) {
      this.stepSeconds.length = 0;
      this.cold = false;
    }
    this.stepSeconds.push(seconds);
    if (this.stepSeconds.length > 8) this.stepSeconds.shift();
    void this.started?.then((started) => { this.emitEngine(started); }, () => undefined);
  }

  private fault(error: unknown, about?: Extract<LabEvent, { type: 'fault' }>['about']): void {
    this.emit({ type: 'fault', about: about ?? placeOf(error), message: messageOf(error) });
  }
}

function placeOf(error: unknown): Extract<LabEvent, { type: 'fault' }>['about'] {
  const name = error instanceof Error ? error.name : '';
  switch (name) {
    case 'EngineError':
      return 'engine';
    case 'PythonUnavailable':
      return 'python';
    case 'CheckpointError':
    case 'ConfigError':
      return 'model';
    default:
      return 'run';
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function average(xs: readonly number[]): number {
  return xs.length === 0 ? 0 : xs.reduce((a, b) => a + b, 0) / xs.length;
}

export function summaryOf({ step, metrics, skipped, warnings }: StepRecord): StepSummary {
  return { step, metrics, ...(skipped === undefined ? {} : { skipped }), warnings };
}
