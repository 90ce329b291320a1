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
import type { Python, PythonInfo } from '../tools/python/python.ts';
import { RuleError } from '../reward/rule.ts';
import type { Inspection } from './inspection.ts';
import { Microscope, type InspectedRun, type MicroscopePlatform } from './microscope.ts';
import {
  PROTOCOL_VERSION, type Command, type EngineChoice, type EngineReason, type Inspected, type LabEvent, type RunSettings, type RunState,
  type RunSummary, type StepSummary,
} from './protocol.ts';
import { inspectRecorded } from './recorded.ts';
import { callsOf, suiteOf } from './suites.ts';
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
  /**
   * Claims a run for this lab alone among all tabs. Returns what gives it back, or undefined where another tab has it.
   */
  claim(id: string): Promise<(() => void) | undefined>;
  /** Milliseconds since 1970. */
  now(): number;
  newId(): string;
}

/** A snapshot is taken when this many milliseconds have passed since the last one: what a closed tab can lose. */
const SNAPSHOT_EVERY = 1000;

/** Engines lost with no step made in between, after which a run fails. */
const LOSSES_IN_A_ROW = 2;

/** What the lab measures its pace with before the first run. */
const WARM_UP: RunSettings = { suite: 'arithmetic', model: 'arithmetic-base', seed: 0, steps: 2, tool: 'plain', grpo: DEFAULT_GRPO };

interface Run {
  summary: RunSummary;
  readonly files: PolicyFiles;
  /** Gives the claim on this run back. */
  readonly release: () => void;
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
  private choice: EngineChoice = 'auto';
  private run: Run | undefined;
  /** The loop that makes steps; resolves when it has stopped. */
  private loop: Promise<void> = Promise.resolve();
  /** Where the loop ends after the step in progress; Infinity while running freely, 0 to pause. */
  private pauseAt = Infinity;
  /** A pause that came while a run was being prepared holds once it is. */
  private pauseAsked = false;
  private abort = new AbortController();
  /** Runs to be made once the current one is finished. */
  private series: readonly RunSettings[] = [];
  /** The run that was last asked for could not be opened. */
  private refused = false;
  private saveSoon = false;
  private visible = true;
  private readonly stepSeconds: number[] = [];
  /** Whether the engine has not compiled yet. */
  private cold = true;
  private queue: Promise<void> = Promise.resolve();
  private microscope: Microscope | undefined;
  private recorded: Promise<InspectedRun & { readonly id: string }> | undefined;
  /** Questions that have no answer yet, by their number. */
  private readonly inspections = new Map<number, AbortController>();

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
    if (command.type === 'inspect') return this.inspect(command.id, command.inspection);
    if (command.type === 'inspect-cancel') {
      this.inspections.get(command.id)?.abort(new DOMException('The question was taken back', 'AbortError'));
      return Promise.resolve();
    }
    if (command.type === 'start' || command.type === 'resume' || command.type === 'step') this.pauseAsked = false;
    if (command.type === 'reset') this.abort.abort(new DOMException('The run was reset', 'AbortError'));
    const done = this.queue.then(() => this.carryOut(command));
    this.queue = done.catch(() => undefined);
    return this.queue;
  }

  private async carryOut(command: Exclude<Command, { type: 'pause' | 'visibility' | 'inspect' | 'inspect-cancel' }>): Promise<void> {
    try {
      if (command.type !== 'resume') this.refused = false;
      switch (command.type) {
        case 'hello':
          await this.hello(command.assets, command.engine);
          break;
        case 'choose-engine':
          await this.chooseEngine(command.engine);
          break;
        case 'start':
          await this.stopLoop();
          this.series = command.then ?? [];
          await this.prepare(command.settings);
          this.go(command.pausedAfter ?? Infinity);
          break;
        case 'resume':
          // Meant for the run that could not be opened, not for the one that stayed.
          if (this.run !== undefined && !this.refused) this.go(Infinity);
          break;
        case 'step':
          await this.oneStep(command.settings);
          break;
        case 'reset':
          await this.stopLoop();
          this.forget();
          break;
        case 'open-run':
          this.series = [];
          await this.openRun(command.id);
          break;
        case 'delete-run':
          await this.deleteRun(command.id);
          break;
        case 'open-step':
          await this.openStep(command.run, command.step);
          break;
        case 'read-history':
          this.emit({ type: 'run-history', run: command.run, steps: await (await this.opened()).steps(command.run) });
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
      await this.pythonInfo();
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

  private async startEngine(choice: EngineChoice): Promise<StartedEngine> {
    this.choice = choice;
    this.emit({ type: 'engine', status: { state: 'starting' } });
    this.started = this.platform.startEngine(choice);
    return this.adopt(await this.started);
  }

  /** Answers a question of the page, beside whatever the lab is doing. */
  private async inspect(id: number, inspection: Inspection): Promise<void> {
    const controller = new AbortController();
    this.inspections.set(id, controller);
    try {
      this.microscope ??= new Microscope(this.microscopePlatform());
      const result = await this.microscope.ask(inspection, controller.signal, (phase, done, of) => {
        this.emit({ type: 'inspect-progress', id, phase, done, of });
      });
      this.emit({ type: 'inspected', id, kind: inspection.kind, result } as Inspected);
    } catch (error) {
      this.emit({ type: 'inspect-failed', id, message: messageOf(error), ...(error instanceof RuleError && error.failure !== undefined ? { rule: error.failure } : {}) });
    }
    this.inspections.delete(id);
  }

  private microscopePlatform(): MicroscopePlatform {
    const { python } = this;
    if (python === undefined) throw new Error('the lab has not been told where its files are');
    const loadModel = (name: string): Promise<PolicyFiles> => this.platform.loadModel(this.assets, name);
    return {
      python,
      loadModel,
      startEngine: async () => (await this.platform.startEngine((await this.engine()).engine.info.kind)).engine,
      run: async (id) => {
        const store = await this.opened();
        const run = this.run?.summary.id === id ? this.run.summary : await store.run(id);
        if (run !== undefined) {
          return { settings: run.settings, step: run.step, record: (step) => store.record(id, step), snapshot: (upTo) => store.snapshot(id, upTo) };
        }
        this.recorded ??= inspectRecorded(this.assets, loadModel);
        // Asked for again with the next question.
        const recorded = await this.recorded.catch(() => { this.recorded = undefined; });
        return recorded?.id === id ? recorded : undefined;
      },
    };
  }

  /** From here on this engine is the lab's. */
  private adopt(engine: StartedEngine): StartedEngine {
    this.microscope?.forgetEngine();
    this.started = Promise.resolve(engine);
    this.stepSeconds.length = 0;
    this.cold = true;
    engine.setVisible?.(this.visible);
    this.emitEngine(engine);
    return engine;
  }

  private emitEngine({ engine, reason, detail }: StartedEngine): void {
    const recent = this.stepSeconds;
    this.emit({
      type: 'engine',
      status: {
        info: engine.info,
        reason,
        ...(detail === undefined ? {} : { detail }),
        // A step that compiled says nothing about the pace.
        ...(recent.length === 0 || this.cold ? {} : { secondsPerStep: average(recent) }),
      },
    });
  }

  /** The new engine takes over once it holds the run's weights; until then, and where it cannot, the old one stays. */
  private async chooseEngine(choice: EngineChoice): Promise<void> {
    const wasRunning = this.run?.summary.state === 'running';
    await this.stopLoop(this.run !== undefined);
    const { run } = this;
    const old = await this.started?.catch(() => undefined);
    if (run !== undefined && old !== undefined) await this.takeSnapshotOrGoBack(run, old.engine);
    this.emit({ type: 'engine', status: { state: 'starting' } });
    try {
      const next = await this.platform.startEngine(choice);
      try {
        if (run !== undefined) await this.loadInto(next.engine, run);
      } catch (error) {
        next.engine.dispose();
        throw error;
      }
      this.choice = choice;
      this.adopt(next);
      old?.engine.dispose();
    } catch (error) {
      if (old !== undefined) this.emitEngine(old);
      this.fault(error, 'engine');
    }
    if (wasRunning) this.go(Infinity);
  }

  private async prepare(settings: RunSettings): Promise<void> {
    checkSettings(settings.grpo);
    suiteOf(settings.suite);
    const [{ engine }, files] = await Promise.all([
      this.engine(),
      this.platform.loadModel(this.assets, settings.model),
    ]);
    this.run?.release();
    const id = this.platform.newId();
    const run: Run = {
      release: (await this.platform.claim(id)) ?? ((): void => undefined),
      summary: {
        id, started: this.platform.now(), settings, step: 0, state: 'preparing', engine: engine.info,
      },
      // Never saved: the first step is kept at once.
      files, tokens: 0, snapshot: undefined, savedAt: -Infinity,
    };
    this.run = run;
    this.emitRun();
    this.emit({ type: 'history', run: run.summary.id, steps: [] });
    // Before the first step, so that a run whose weights no engine can hold is never stored.
    try {
      await this.pythonInfo();
      await this.loadOrReplace(run);
    } catch (error) {
      this.forget();
      throw error;
    }
    await this.keep((store) => store.putRun(run.summary));
    await this.listRuns();
  }

  /** Leaves the run: nothing may train it from whatever weights the engine holds, and other tabs may have it. */
  private forget(): void {
    this.series = [];
    this.run?.release();
    this.run = undefined;
    this.emit({ type: 'run', run: undefined });
  }

  /** Loads the run's weights: its last snapshot, or the model it starts from. The reference is always the model. */
  private async loadInto(engine: PolicyEngine, run: Run): Promise<void> {
    await engine.load(run.snapshot?.snapshot ?? run.files.checkpoint);
    if (run.summary.settings.grpo.beta > 0) await engine.holdReference(run.files.checkpoint.weights);
  }

  /** Loads the run's weights; where this engine cannot, another takes over. */
  private async loadOrReplace(run: Run): Promise<void> {
    const { engine } = await this.engine();
    try {
      await this.loadInto(engine, run);
    } catch (error) {
      if (isLost(error)) await this.replaceLostEngine(run);
      else if (error instanceof EngineError && error.code === 'unsupported' && engine.info.kind === 'webgpu') {
        await this.moveToCpu('self-test-failed', error.message);
        engine.dispose();
        await this.loadInto((await this.engine()).engine, run);
      } else throw error;
    }
  }

  private async moveToCpu(reason: EngineReason, detail?: string): Promise<void> {
    const cpu = await this.platform.startEngine('cpu');
    this.adopt({ ...cpu, reason, ...(detail === undefined ? {} : { detail }) });
    this.emit({ type: 'notice', code: 'moved-to-cpu' });
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
    let losses = 0;
    while (true) {
      const { engine } = await this.engine();
      const { step, settings } = run.summary;
      try {
        if (signal.aborted || step >= settings.steps || step >= this.pauseAt) {
          await this.save(run, engine);
          break;
        }
        await this.makeStep(run, engine, signal);
        losses = 0;
      } catch (error) {
        if (isLost(error)) {
          // An engine that is lost again and again at the same step is not lost by chance.
          if (++losses > LOSSES_IN_A_ROW) throw error;
          await this.replaceLostEngine(run);
        } else if (!signal.aborted) throw error;
        // Aborted while sampling: the weights are those of the last whole step.
      }
    }
    this.setState(run, run.summary.step >= run.summary.settings.steps ? 'finished' : 'paused');
    await this.keep((store) => store.putRun(run.summary));
    await this.listRuns();
    const [next, ...then] = this.series;
    if (next !== undefined && run === this.run && run.summary.state === 'finished') void this.handle({ type: 'start', settings: next, then });
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
    await this.keep((store) => store.putStep(run.summary.id, summary, record));
    const left = (run.summary.settings.steps - step) * average(this.stepSeconds);
    this.emit({ type: 'step', run: run.summary.id, summary, secondsLeft: left });
    this.emitRun();
    if (record.skipped === 'all-groups-equal' && run.summary.settings.grpo.group > 1) this.emit({ type: 'notice', code: 'all-groups-equal' });
    if (this.saveSoon || this.platform.now() - run.savedAt > SNAPSHOT_EVERY) await this.save(run, engine);
  }

  private parts(tokenizer: Tokenizer, settings: RunSettings, engine: PolicyEngine): TrainerParts {
    if (this.python === undefined) throw new Error('the lab has not been told where its files are');
    const suite = suiteOf(settings.suite);
    return {
      engine, suite, tokenizer,
      runCalls: callsOf(suite, this.python, settings.tool),
      settings: settings.grpo,
      seed: settings.seed,
    };
  }

  /** The engine is gone: another takes over from the last snapshot, and the steps since are made again. */
  private async replaceLostEngine(run: Run): Promise<void> {
    const lost = await this.engine();
    lost.engine.dispose();
    if (lost.engine.info.kind === 'cpu') {
      // A thread of it ended, not a device.
      this.adopt({ ...lost, engine: (await this.platform.startEngine('cpu')).engine });
    } else {
      const next = await this.platform.startEngine(this.choice).catch(() => undefined);
      if (next?.engine.info.kind === 'webgpu') {
        this.adopt(next);
        this.emit({ type: 'notice', code: 'resumed-after-device-loss' });
      } else {
        next?.engine.dispose();
        await this.moveToCpu('device-lost');
      }
    }
    await this.loadInto((await this.engine()).engine, run);
    await this.goBackTo(run, run.snapshot?.step ?? 0, run.snapshot?.tokens ?? 0);
  }

  private async goBackTo(run: Run, step: number, tokens: number): Promise<void> {
    const store = await this.opened();
    await store.truncate(run.summary.id, step);
    run.tokens = tokens;
    run.summary = { ...run.summary, step };
    this.emit({ type: 'history', run: run.summary.id, steps: await store.steps(run.summary.id) });
    this.emitRun();
  }

  private async save(run: Run, engine: PolicyEngine): Promise<void> {
    this.saveSoon = false;
    if (run.summary.step === 0) return;
    this.emit({ type: 'progress', phase: 'saving', rollouts: 0, of: 0 });
    const snapshot = await this.takeSnapshot(run, engine);
    await this.keep(async (store) => {
      await store.putSnapshot(run.summary.id, snapshot);
      await store.putRun(run.summary);
    });
    await this.listRuns();
  }

  /** Writes to the store. A full disk must not end a run: its weights and its last snapshot are in memory. */
  private async keep(write: (store: RunStore) => Promise<void>): Promise<void> {
    try {
      await write(await this.opened());
    } catch (error) {
      this.fault(error, 'store');
    }
  }

  /** With a lost engine the run stands at its last snapshot. */
  private async takeSnapshotOrGoBack(run: Run, engine: PolicyEngine): Promise<void> {
    try {
      await this.takeSnapshot(run, engine);
    } catch (error) {
      if (!isLost(error)) throw error;
      await this.goBackTo(run, run.snapshot?.step ?? 0, run.snapshot?.tokens ?? 0);
    }
  }

  private async takeSnapshot(run: Run, engine: PolicyEngine): Promise<RunSnapshot> {
    const snapshot: RunSnapshot = { step: run.summary.step, tokens: run.tokens, snapshot: await engine.snapshot() };
    run.snapshot = snapshot;
    run.savedAt = this.platform.now();
    return snapshot;
  }

  /** The claim on a run, our own included; where another tab has it, the person is told. */
  private async claim(id: string): Promise<(() => void) | undefined> {
    if (this.run?.summary.id === id) return this.run.release;
    const release = await this.platform.claim(id);
    if (release === undefined) {
      this.refused = true;
      this.emitRun();
      this.emit({ type: 'notice', code: 'open-elsewhere' });
    }
    return release;
  }

  private async deleteRun(id: string): Promise<void> {
    const release = await this.claim(id);
    if (release === undefined) return;
    if (this.run?.summary.id === id) {
      await this.stopLoop();
      // Given back once it is deleted, not before.
      this.run = undefined;
      this.series = [];
      this.emit({ type: 'run', run: undefined });
    }
    await this.keep((store) => store.deleteRun(id));
    release();
    await this.listRuns();
  }

  /** @throws where the run is not stored any more, or its model is not there. */
  private async readRun(id: string, release: () => void): Promise<Run> {
    const store = await this.opened();
    const stored = await store.run(id);
    if (stored === undefined) throw new RangeError('this run is not stored here any more');
    const snapshot = await store.snapshot(id);
    const files = await this.platform.loadModel(this.assets, stored.settings.model);
    return { summary: stored, files, release, tokens: snapshot?.tokens ?? 0, snapshot, savedAt: this.platform.now() };
  }

  private async openRun(id: string): Promise<void> {
    const release = await this.claim(id);
    if (release === undefined) return;
    await this.stopLoop();
    const run = await this.readRun(id, release).catch((error: unknown) => {
      // The run that was open stays, and is not what a following `resume` means.
      this.refused = true;
      if (this.run?.summary.id !== id) release();
      throw error;
    });
    if (this.run?.summary.id !== id) this.run?.release();
    // Curves first: they can be looked at while the engine starts.
    this.run = run;
    this.emitRun();
    await this.goBackTo(run, run.snapshot?.step ?? 0, run.tokens);
    this.setState(run, 'preparing');
    try {
      await this.loadOrReplace(run);
    } catch (error) {
      this.forget();
      throw error;
    }
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

  private async pythonInfo(): Promise<PythonInfo> {
    if (this.pythonReady === undefined) throw new Error('Python has not been started');
    return this.pythonReady;
  }

  private async opened(): Promise<RunStore> {
    this.store ??= Promise.resolve(memoryRunStore());
    return this.store;
  }

  private async listRuns(): Promise<void> {
    await this.keep(async (store) => { this.emit({ type: 'runs', runs: await store.runs() }); });
  }

  private setState(run: Run, state: RunState): void {
    run.summary = { ...run.summary, state };
    if (run === this.run) this.emitRun();
  }

  private emitRun(): void {
    this.emit({ type: 'run', run: this.run?.summary, next: this.series });
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

function isLost(error: unknown): boolean {
  return error instanceof EngineError && error.code === 'lost';
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
