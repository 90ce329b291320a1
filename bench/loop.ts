/** The whole loop of a GRPO run, and where its time goes; and Python alone. */
import { DEFAULT_GRPO } from '../src/grpo/settings.ts';
import { trainStep } from '../src/grpo/trainer.ts';
import type { PolicyFiles } from '../src/policy/checkpoint.ts';
import type { PolicyEngine } from '../src/policy/engine.ts';
import { pythonCalls, type RunCalls } from '../src/rollout/rollout.ts';
import { SUITES } from '../src/tasks/arithmetic.ts';
import { TOY_LIMITS, type Python } from '../src/tools/python/python.ts';

export interface LoopReport {
  readonly adapter: string;
  /** Seconds of each step, the first ones compiling. */
  readonly steps: readonly number[];
  readonly sampling: number;
  readonly python: number;
  readonly update: number;
  /** Mean reward of the first and of the last step. */
  readonly reward: readonly [number, number];
}

/** 16 questions × 6 rollouts a step, from the shipped base policy. */
export async function measureLoop(engine: PolicyEngine, python: Python, { checkpoint, tokenizer }: PolicyFiles, steps: number): Promise<LoopReport> {
  await engine.load(checkpoint);
  await python.ready();
  const spent = { sampling: 0, python: 0, update: 0 };
  const timed = async <T>(share: keyof typeof spent, call: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    try {
      return await call();
    } finally {
      spent[share] += (performance.now() - began) / 1000;
    }
  };
  const run = pythonCalls(python, TOY_LIMITS);
  const runCalls: RunCalls = (calls, signal) => timed('python', () => run(calls, signal));
  const watched = new Proxy(engine, {
    get(target, name) {
      if (name === 'continue') return (request: Parameters<PolicyEngine['continue']>[0]) => timed('sampling', () => target.continue(request));
      if (name === 'update') return (...args: Parameters<PolicyEngine['update']>) => timed('update', () => target.update(...args));
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
  const suite = SUITES['arithmetic'];
  if (suite === undefined) throw new Error('no arithmetic');
  const parts = { engine: watched, tokenizer, suite, runCalls, seed: 1, settings: { ...DEFAULT_GRPO, questions: 16, group: 6 } };
  const seconds: number[] = [];
  const rewards: number[] = [];
  for (let step = 1; step <= steps; step++) {
    const began = performance.now();
    const { metrics } = await trainStep(parts, step);
    seconds.push((performance.now() - began) / 1000);
    rewards.push(metrics['reward'] ?? NaN);
  }
  return { adapter: engine.info.adapter, steps: seconds, ...spent, reward: [rewards[0] ?? NaN, rewards.at(-1) ?? NaN] };
}

export interface PythonReport {
  /** Milliseconds of a turn of 48 calls, crossing once. */
  readonly batch: readonly number[];
  /** The same calls, each crossing by itself. */
  readonly single: readonly number[];
}

export async function measurePython(python: Python): Promise<PythonReport> {
  await python.ready();
  const calls = Array.from({ length: 48 }, (_, i) => `print(${100 + 7 * i} * ${10 + i})`);
  const milliseconds = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };
  const report = { batch: [] as number[], single: [] as number[] };
  for (let round = -3; round < 15; round++) {
    const batch = await milliseconds(() => python.run(calls, TOY_LIMITS));
    const single = await milliseconds(async () => {
      for (const call of calls) await python.run([call], TOY_LIMITS);
    });
    if (round < 0) continue;
    report.batch.push(batch);
    report.single.push(single);
  }
  return report;
}
