import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_GRPO } from '../grpo/settings.ts';
import { parameterLayout } from '../policy/config.ts';
import {
  EngineError, type PolicyEngine, type SampleRequest, type Snapshot, type UpdateReport, type UpdateRequest,
} from '../policy/engine.ts';
import { testConfig, tokenizer } from '../rollout/testing.ts';
import type { Python } from '../tools/python/python.ts';
import { Lab, type Platform } from './lab.ts';
import { PROTOCOL_VERSION, type LabEvent, type RunSettings } from './protocol.ts';
import { memoryRunStore, type RunStore } from './store.ts';
import { readStoredRun } from './stored.ts';

const SETTINGS: RunSettings = {
  suite: 'arithmetic', model: 'toy', seed: 1, steps: 5, tool: 'plain', grpo: { ...DEFAULT_GRPO, questions: 2, group: 2 },
};

/**
 * An engine whose only weight that matters counts updates. It writes a right or a wrong shape by stream, so that
 * groups are not equal.
 */
class CountingEngine implements PolicyEngine {
  readonly info;
  readonly config = testConfig;
  updates = 0;
  /** Rejects as a lost device does. */
  lost = false;
  disposed = false;
  onSample: (request: SampleRequest) => Promise<void> = () => Promise.resolve();
  constructor(kind: 'webgpu' | 'cpu') {
    this.info = { kind, adapter: `a ${kind}`, software: true } as const;
  }
  private check(): void {
    if (this.lost) throw new EngineError('the device was lost', 'lost');
  }
  // eslint-disable-next-line @typescript-eslint/require-await -- faults must be rejections, as with a real engine
  async load(checkpoint: Parameters<PolicyEngine['load']>[0]): Promise<void> {
    this.check();
    this.updates = checkpoint.weights[0] ?? 0;
  }
  // eslint-disable-next-line @typescript-eslint/require-await
  async snapshot(): Promise<Snapshot> {
    this.check();
    const zeros = new Float32Array(1);
    return { config: testConfig, weights: Float32Array.of(this.updates), suppressTokens: [], optimizer: { step: this.updates, m: zeros, v: zeros } };
  }
  async continue(request: SampleRequest): ReturnType<PolicyEngine['continue']> {
    this.check();
    await this.onSample(request);
    request.signal?.throwIfAborted();
    this.check();
    return {
      rows: request.rows.map(({ stream }) => {
        const tokens = tokenizer.encode(stream % 2 === 0 ? '<think>a</think><answer>1</answer><eos>' : '<eos>');
        return { tokens, logProbs: new Float32Array(tokens.length), stop: 'token' as const };
      }),
    };
  }
  score(): never { throw new Error('not used'); }
  holdReference(): Promise<void> { return Promise.resolve(); }
  gradients(): never { throw new Error('not used'); }
  // eslint-disable-next-line @typescript-eslint/require-await
  async update({ rows }: UpdateRequest): Promise<UpdateReport> {
    this.check();
    this.updates++;
    return {
      loss: 0, gradNorm: 1, applied: true,
      rows: rows.map(({ tokens }) => {
        const zeros = new Float32Array(tokens.length);
        return { logProbs: zeros, entropy: zeros, ratio: zeros, kl: zeros, clipped: new Uint8Array(tokens.length), dLogProb: zeros, gradient: zeros };
      }),
    };
  }
  dispose(): void { this.disposed = true; }
}

const python: Python = {
  ready: () => Promise.resolve({ version: '3', sympy: undefined, interruptible: false }),
  run: () => Promise.resolve([]),
  dispose: () => undefined,
};

let events: LabEvent[] = [];
let engines: CountingEngine[] = [];
let store: RunStore;
let clock = 0;
/** Runs that some tab has: shared, as locks are. */
const claimed = new Set<string>();
let overrides: Partial<Platform> = {};

function lab(): Lab {
  let ids = 0;
  const platform: Platform = {
    startEngine(choice) {
      const engine = new CountingEngine(choice === 'cpu' ? 'cpu' : 'webgpu');
      engines.push(engine);
      return Promise.resolve({ engine, reason: 'chosen' });
    },
    createPython: () => python,
    openStore: () => Promise.resolve(store),
    loadModel: () => Promise.resolve({
      checkpoint: { config: testConfig, weights: new Float32Array(parameterLayout(testConfig).size), suppressTokens: [] }, tokenizer,
    }),
    claim(id) {
      if (claimed.has(id)) return Promise.resolve(undefined);
      claimed.add(id);
      return Promise.resolve(() => { claimed.delete(id); });
    },
    now: () => (clock += 1),
    newId: () => `run-${++ids}`,
  };
  // Looked up at each call, so that a test can change it later.
  const changing = new Proxy(platform, { get: (target, key): unknown => Reflect.get(key in overrides ? overrides : target, key) });
  return new Lab(changing, (event) => { events.push(event); });
}

const hello = { type: 'hello', version: PROTOCOL_VERSION, assets: 'http://x/', engine: 'auto' } as const;
const of = <T extends LabEvent['type']>(type: T): Extract<LabEvent, { type: T }>[] =>
  events.filter((e): e is Extract<LabEvent, { type: T }> => e.type === type);
const state = (): string | undefined => of('run').at(-1)?.run?.state;
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => { setTimeout(resolve, 1); });
}
const steps = (): number[] => of('step').map((e) => e.summary.step);

async function openLab(): Promise<Lab> {
  const opened = lab();
  await opened.handle(hello);
  return opened;
}

/** A run that has made so many steps and stands. */
async function pausedLab(pausedAfter: number): Promise<Lab> {
  const opened = await openLab();
  await opened.handle({ type: 'start', settings: SETTINGS, pausedAfter });
  await until(() => state() === 'paused');
  return opened;
}

beforeEach(() => {
  events = [];
  engines = [];
  store = memoryRunStore();
  clock = 0;
  claimed.clear();
  overrides = {};
});

describe('a run', () => {
  it('makes its steps, stores each, and ends finished', async () => {
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    expect(steps()).toEqual([1, 2, 3, 4, 5]);
    expect((await store.steps('run-1')).map((s) => s.step)).toEqual([1, 2, 3, 4, 5]);
    expect(of('step').at(-1)?.secondsLeft).toBe(0);
    await until(() => of('runs').at(-1)?.runs[0]?.state === 'finished');
    expect((await store.snapshot('run-1'))?.step).toBe(5);
    expect(of('fault')).toEqual([]);
  });

  it('is followed by the runs that were asked for with it, each by itself', async () => {
    const l = await openLab();
    const settings = (seed: number): RunSettings => ({ ...SETTINGS, seed, steps: 2 });
    await l.handle({ type: 'start', settings: settings(1), then: [settings(2), settings(3)] });
    await until(() => of('run').at(-1)?.run?.id === 'run-3' && state() === 'finished');
    expect((await store.runs()).map((run) => [run.settings.seed, run.state]).sort()).toEqual([[1, 'finished'], [2, 'finished'], [3, 'finished']]);
    expect(of('run').find(({ run }) => run?.id === 'run-1')?.next).toHaveLength(2);
  });

  it.each([{ type: 'reset' }, { type: 'delete-run', id: 'run-1' }] as const)('is followed by none once it is left by $type', async (leave) => {
    const l = await openLab();
    await l.handle({ type: 'start', settings: { ...SETTINGS, steps: 2 }, pausedAfter: 1, then: [{ ...SETTINGS, seed: 9 }] });
    await until(() => state() === 'paused');
    await l.handle(leave);
    // A step begins a run of its own, and says nothing of others.
    await l.handle({ type: 'step', settings: { ...SETTINGS, steps: 1 } });
    await l.handle({ type: 'open-step', run: 'run-2', step: 1 });
    expect((await store.runs()).map(({ settings }) => settings.seed)).not.toContain(9);
  });

  it('pauses after the step in progress, steps on alone, and resumes', async () => {
    const l = await pausedLab(2);
    expect(steps()).toEqual([1, 2]);
    await l.handle({ type: 'step', settings: SETTINGS });
    await until(() => state() === 'paused');
    expect(steps()).toEqual([1, 2, 3]);
    await l.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(steps()).toEqual([1, 2, 3, 4, 5]);
    expect(engines[0]?.updates).toBe(5);
  });

  it('heeds a pause that comes while it is being prepared', async () => {
    const l = await openLab();
    const started = l.handle({ type: 'start', settings: SETTINGS });
    await l.handle({ type: 'pause' });
    await started;
    await until(() => state() === 'paused');
    expect(steps()).toEqual([]);
    await l.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(steps()).toEqual([1, 2, 3, 4, 5]);
  });

  it('can be stepped when there is none yet, and when it is finished', async () => {
    const l = await openLab();
    await l.handle({ type: 'step', settings: { ...SETTINGS, steps: 1 } });
    expect(state()).toBe('finished');
    await l.handle({ type: 'step', settings: SETTINGS });
    expect(steps()).toEqual([1, 2]);
  });

  it('is left at once by a reset, loses no finished step, and stays stored', async () => {
    const l = await openLab();
    await until(() => engines.length > 0);
    const engine = engines[0];
    if (engine === undefined) throw new Error('no engine');
    // The third step hangs until it is aborted.
    engine.onSample = (request) => request.step < 3 ? Promise.resolve() : new Promise((_, reject) => {
      request.signal?.addEventListener('abort', () => { reject(request.signal?.reason as Error); });
    });
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => steps().length === 2);
    await l.handle({ type: 'reset' });
    expect(of('run').at(-1)?.run).toBeUndefined();
    expect(of('fault')).toEqual([]);
    expect((await store.run('run-1'))?.step).toBe(2);
    expect((await store.snapshot('run-1'))?.step).toBe(2);
  });

  it('goes on in another lab from where it was stored', async () => {
    await pausedLab(3);
    await until(() => of('runs').at(-1)?.runs[0]?.step === 3);
    // Step 3 was stored, its snapshot was not: a tab closed in between.
    const snapshot = await store.snapshot('run-1');
    await store.truncate('run-1', 1);
    if (snapshot !== undefined) await store.putSnapshot('run-1', { ...snapshot, step: 2, snapshot: { ...snapshot.snapshot, weights: Float32Array.of(2) } });
    events = [];
    // The browser gives the locks of a closed tab back.
    claimed.clear();

    const second = await openLab();
    await second.handle({ type: 'open-run', id: 'run-1' });
    expect(state()).toBe('paused');
    expect(of('run').at(-1)?.run?.step).toBe(2);
    await second.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(steps()).toEqual([3, 4, 5]);
    expect(engines.at(-1)?.updates).toBe(5);
  });

  it('opens any stored step, and says where one is missing', async () => {
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    await l.handle({ type: 'open-step', run: 'run-1', step: 2 });
    expect(of('groups').at(-1)?.record.groups).toHaveLength(2);
    await l.handle({ type: 'open-step', run: 'run-1', step: 9 });
    expect(of('fault').at(-1)).toMatchObject({ about: 'step' });
  });

  it('gives the curves of a stored run without opening it', async () => {
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    await l.handle({ type: 'reset' });
    await l.handle({ type: 'read-history', run: 'run-1' });
    expect(of('run-history').at(-1)).toMatchObject({ run: 'run-1', steps: [1, 2, 3, 4, 5].map((step) => ({ step })) });
    expect(of('run').at(-1)?.run).toBeUndefined();
    await l.handle({ type: 'read-history', run: 'none' });
    expect(of('run-history').at(-1)).toMatchObject({ run: 'none', steps: [] });
  });

  it('is deleted with all it stored', async () => {
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    await l.handle({ type: 'delete-run', id: 'run-1' });
    expect(of('run').at(-1)?.run).toBeUndefined();
    expect(of('runs').at(-1)?.runs).toEqual([]);
    expect(await store.steps('run-1')).toEqual([]);
  });
});

describe('a stored run', () => {
  it('is read back as it was written, and refused where another build wrote something else', async () => {
    await pausedLab(1);
    const run = await store.run('run-1');
    expect(readStoredRun(structuredClone(run))).toEqual(run);
    expect(readStoredRun({ ...run, settings: { ...run?.settings, grpo: { ...SETTINGS.grpo, aggregation: 'per-token' } } })).toBeUndefined();
    expect(readStoredRun(undefined)).toBeUndefined();
  });
});

describe('two tabs', () => {
  it('never train one run at once, and neither deletes what the other has open', async () => {
    await pausedLab(2);
    await until(() => of('runs').at(-1)?.runs[0]?.step === 2);
    events = [];
    const second = await openLab();
    await second.handle({ type: 'open-run', id: 'run-1' });
    await second.handle({ type: 'resume' });
    await second.handle({ type: 'delete-run', id: 'run-1' });
    expect(of('notice').map((e) => e.code)).toEqual(['open-elsewhere', 'open-elsewhere']);
    expect(of('run').at(-1)?.run).toBeUndefined();
    expect(steps()).toEqual([]);
    expect(await store.run('run-1')).toBeDefined();
  });

  it('can take over a run that the other has left', async () => {
    const first = await pausedLab(2);
    await first.handle({ type: 'reset' });
    events = [];
    const second = await openLab();
    await second.handle({ type: 'open-run', id: 'run-1' });
    expect(state()).toBe('paused');
    await second.handle({ type: 'delete-run', id: 'run-1' });
    expect(await store.run('run-1')).toBeUndefined();
    expect(claimed.size).toBe(0);
  });
});

describe('faults', () => {
  it('a lost device: another engine goes on from the last snapshot, the steps since are made again', async () => {
    const l = await openLab();
    await until(() => engines.length > 0);
    const first = engines[0];
    if (first === undefined) throw new Error('no engine');
    first.onSample = (request) => {
      if (request.step === 4) first.lost = true;
      // Long enough after step 2 that its snapshot is due, and not again before the loss.
      if (request.step === 2) clock += 5000;
      return Promise.resolve();
    };
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    expect(of('notice').map((e) => e.code)).toContain('resumed-after-device-loss');
    expect(steps()).toEqual([1, 2, 3, 3, 4, 5]);
    expect(engines[1]?.updates).toBe(5);
    expect(first.disposed).toBe(true);
    expect((await store.steps('run-1')).map((s) => s.step)).toEqual([1, 2, 3, 4, 5]);
  });

  it('a lost device with no other to be had: the CPU engine takes over', async () => {
    let starts = 0;
    overrides = {
      startEngine(choice) {
        if (choice !== 'cpu' && starts++ > 0) return Promise.reject(new EngineError('no adapter', 'unsupported'));
        const engine = new CountingEngine(choice === 'cpu' ? 'cpu' : 'webgpu');
        engines.push(engine);
        return Promise.resolve({ engine, reason: 'gpu' });
      },
    };
    const l = await openLab();
    await until(() => engines.length > 0);
    const first = engines[0];
    if (first === undefined) throw new Error('no engine');
    first.onSample = (request) => {
      first.lost = request.step === 2;
      return Promise.resolve();
    };
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    expect(of('notice').map((e) => e.code)).toContain('moved-to-cpu');
    expect(of('engine').at(-1)?.status).toMatchObject({ reason: 'device-lost', info: { kind: 'cpu' } });
    expect(engines[1]?.updates).toBe(5);
  });

  it('an engine that is lost at every try: the run fails and says so', async () => {
    overrides = {
      startEngine() {
        const engine = new CountingEngine('cpu');
        engine.onSample = () => {
          engine.lost = true;
          return Promise.resolve();
        };
        engines.push(engine);
        return Promise.resolve({ engine, reason: 'chosen' });
      },
    };
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'failed');
    expect(of('fault').at(-1)).toMatchObject({ about: 'run', message: 'the device was lost' });
    // Threads of the CPU engine ended: nobody is told of a graphics device.
    expect(of('notice')).toEqual([]);
    expect(engines.length).toBeLessThan(6);
  });

  it('a device lost while paused: another engine can be chosen, from the last snapshot', async () => {
    const l = await pausedLab(3);
    const [first] = engines;
    if (first !== undefined) first.lost = true;
    await l.handle({ type: 'choose-engine', engine: 'cpu' });
    expect(of('engine').at(-1)?.status).toMatchObject({ info: { kind: 'cpu' } });
    await l.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(engines.at(-1)?.updates).toBe(5);
  });

  it('an engine that cannot load the policy: the old one stays at work', async () => {
    const l = await pausedLab(2);
    overrides.startEngine = () => {
      const engine = new CountingEngine('cpu');
      engine.load = () => Promise.reject(new EngineError('a thread could not start', 'internal'));
      engines.push(engine);
      return Promise.resolve({ engine, reason: 'chosen' });
    };
    await l.handle({ type: 'choose-engine', engine: 'cpu' });
    expect(of('fault').at(-1)).toMatchObject({ about: 'engine' });
    expect(engines.map((e) => e.disposed)).toEqual([false, true]);
    await l.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(engines[0]?.updates).toBe(5);
  });

  it('a full disk: said, and the run goes on in memory', async () => {
    const full = (): Promise<never> => Promise.reject(new Error('quota exceeded'));
    store = { ...store, putStep: full, putRun: full, putSnapshot: full };
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    expect(steps()).toEqual([1, 2, 3, 4, 5]);
    expect(of('fault').every((e) => e.about === 'store')).toBe(true);
    expect(of('fault').length).toBeGreaterThan(0);
  });

  it('a stored run that cannot be loaded is left, and cannot be trained from other weights', async () => {
    const l = await pausedLab(2);
    await until(() => of('runs').at(-1)?.runs[0]?.step === 2);
    const [engine] = engines;
    if (engine !== undefined) engine.load = () => Promise.reject(new EngineError('wrong size', 'invalid'));
    await l.handle({ type: 'open-run', id: 'run-1' });
    await l.handle({ type: 'resume' });
    expect(of('run').at(-1)?.run).toBeUndefined();
    expect(of('fault').at(-1)).toMatchObject({ about: 'engine', message: 'wrong size' });
    expect(steps()).toEqual([1, 2]);
  });

  it('a model that cannot be loaded: said where it belongs, and no run is stored', async () => {
    overrides = { loadModel: () => Promise.reject(Object.assign(new Error('config.json is missing'), { name: 'CheckpointError' })) };
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    expect(of('fault')).toEqual([{ type: 'fault', about: 'model', message: 'config.json is missing' }]);
    expect(await store.runs()).toEqual([]);
  });

  it('Python that cannot be loaded: said, and no run is stored', async () => {
    const failing: Python = { ...python, ready: () => Promise.reject(Object.assign(new Error('no wasm'), { name: 'PythonUnavailable' })) };
    overrides = { createPython: () => failing };
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    expect(of('python').at(-1)?.status).toMatchObject({ state: 'failed', message: 'no wasm' });
    expect(of('fault').at(-1)).toMatchObject({ about: 'python' });
    expect(of('run').at(-1)?.run).toBeUndefined();
    expect(await store.runs()).toEqual([]);
  });

  it('no storage: a notice, and the run goes on in memory', async () => {
    overrides = { openStore: () => Promise.reject(new Error('private window')) };
    const l = await openLab();
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
    expect(of('notice').map((e) => e.code)).toContain('storage-unavailable');
    expect(of('runs').at(-1)?.runs).toHaveLength(1);
  });

  it('settings that cannot train: said, and the lab lives on', async () => {
    const l = await openLab();
    await l.handle({ type: 'start', settings: { ...SETTINGS, grpo: { ...SETTINGS.grpo, temperature: 0 } } });
    expect(of('fault').at(-1)?.message).toMatch('temperature');
    await l.handle({ type: 'start', settings: SETTINGS });
    await until(() => state() === 'finished');
  });

  it('a hidden page saves after the step in progress', async () => {
    const l = await openLab();
    await l.handle({ type: 'visibility', visible: false });
    await l.handle({ type: 'start', settings: SETTINGS, pausedAfter: 2 });
    await until(() => state() === 'paused');
    const saved = events.findIndex((e) => e.type === 'progress' && e.phase === 'saving');
    expect(saved).toBeGreaterThan(events.findIndex((e) => e.type === 'step' && e.summary.step === 1));
    expect(saved).toBeLessThan(events.findIndex((e) => e.type === 'step' && e.summary.step === 2));
  });
});

describe('another engine', () => {
  it('that cannot be had leaves the one at work, and says so', async () => {
    const l = await pausedLab(2);
    overrides.startEngine = () => Promise.reject(new EngineError('no adapter', 'unsupported'));
    await l.handle({ type: 'choose-engine', engine: 'webgpu' });
    expect(of('fault').at(-1)).toMatchObject({ about: 'engine', message: 'no adapter' });
    await l.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(engines).toHaveLength(1);
    expect(engines[0]?.updates).toBe(5);
  });

  it('takes over in mid-run with the same weights', async () => {
    const l = await pausedLab(2);
    await l.handle({ type: 'choose-engine', engine: 'cpu' });
    expect(engines[0]?.disposed).toBe(true);
    expect(engines[1]?.updates).toBe(2);
    await l.handle({ type: 'resume' });
    await until(() => state() === 'finished');
    expect(engines[1]?.updates).toBe(5);
  });
});
