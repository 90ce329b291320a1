/** One step of training on both engines: from the same weights and seed they write, score and push the same tokens. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadPolicy, type PolicyFiles } from '../policy/checkpoint.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import { startEngine } from '../policy/start.node.ts';
import type { RunCalls } from '../rollout/rollout.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import type { PythonResult } from '../tools/python/python.ts';
import type { StepRecord } from './record.ts';
import { DEFAULT_GRPO } from './settings.ts';
import { trainStep } from './trainer.ts';

let wgsl: PolicyEngine;
let cpu: PolicyEngine;
let files: PolicyFiles;

beforeAll(async () => {
  const folder = new URL('../../public/models/arithmetic-small/', import.meta.url);
  files = await loadPolicy((name) => readFile(new URL(name, folder)));
  [wgsl, cpu] = await Promise.all([startEngine('webgpu'), startEngine('cpu')]);
});

afterAll(() => {
  wgsl.dispose();
  cpu.dispose();
});

/** Long outputs and short ones, so that rows of a batch drift apart. */
const runCalls: RunCalls = (calls) =>
  Promise.resolve(calls.map(({ code }): PythonResult => ({ ok: true, output: '7'.repeat(1 + (code.length % 20)), truncated: false, seconds: 0 })));

async function twoSteps(engine: PolicyEngine): Promise<StepRecord[]> {
  await engine.load(files.checkpoint);
  const settings = { ...DEFAULT_GRPO, questions: 4, optimizer: { ...DEFAULT_GRPO.optimizer, learningRate: 1e-3 } };
  const parts = { engine, tokenizer: files.tokenizer, suite: arithmetic, runCalls, settings, seed: 1 };
  return [await trainStep(parts, 1), await trainStep(parts, 2)];
}

it('samples the same tokens on both engines, before and after an update, and pushes them alike', async () => {
  const [a, b] = [await twoSteps(wgsl), await twoSteps(cpu)];
  for (const [s, record] of a.entries()) {
    const others = b[s]?.groups.flatMap((group) => group.members) ?? [];
    for (const [i, t] of record.groups.flatMap((group) => group.members).entries()) {
      const other = others[i];
      expect(files.tokenizer.decode(t.tokens)).toBe(files.tokenizer.decode(other?.tokens ?? []));
      expect(t.advantage).toBe(other?.advantage);
      for (const [k, push] of t.update?.dLogProb.entries() ?? []) expect(push).toBeCloseTo(other?.update?.dLogProb[k] ?? NaN, 5);
    }
  }
  const { weights } = await wgsl.snapshot();
  const { weights: other } = await cpu.snapshot();
  const distance = (x: Float32Array, y: Float32Array): number => Math.hypot(...x.map((w, i) => w - (y[i] ?? NaN)));
  // Adam's first steps are nearly signs of gradients: where a gradient is nearly 0, float noise decides.
  expect(distance(weights, other)).toBeLessThan(0.05 * distance(weights, files.checkpoint.weights));
});
