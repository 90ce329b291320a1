/** Looking into a run of three steps of the small policy, on the CPU engine, with a tool that is a table. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { StepRecord, TrainedTrajectory } from '../grpo/record.ts';
import { DEFAULT_GRPO, type GrpoSettings } from '../grpo/settings.ts';
import { trainStep } from '../grpo/trainer.ts';
import { loadPolicy, type PolicyFiles } from '../policy/checkpoint.ts';
import { createCpuEngine } from '../policy/cpu/engine.ts';
import { spawnInNode } from '../policy/cpu/spawn.node.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import type { RunCalls } from '../rollout/rollout.ts';
import { ENVIRONMENT, POLICY } from '../rollout/trajectory.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { drawTasks } from '../tasks/task.ts';
import type { PythonResult } from '../tools/python/python.ts';
import type { Inspection, InspectionResults } from './inspection.ts';
import { Microscope } from './microscope.ts';
import type { RunSettings } from './protocol.ts';
import { decodeSnapshot, encodeSnapshot } from './recorded.ts';
import { memoryRunStore, type RunStore } from './store.ts';

const SEED = 5;
const STEPS = 3;
const plain: GrpoSettings = { ...DEFAULT_GRPO, questions: 3, group: 4, maxLength: 96, optimizer: { ...DEFAULT_GRPO.optimizer, learningRate: 2e-3 } };

const length = (code: string): PythonResult => ({ ok: true, output: `${code.length}`, truncated: false, seconds: 0 });
const runCalls: RunCalls = (calls) => Promise.resolve(calls.map(({ code }) => length(code)));
/** Set by a test whose program is not a call of a rollout. */
let pythonSays: PythonResult | undefined;
const asked: string[] = [];

let engine: PolicyEngine;
let files: PolicyFiles;
let runs: Record<string, { settings: RunSettings; store: RunStore }>;
let microscope: Microscope;

async function train(grpo: GrpoSettings, snapshots: readonly number[]): Promise<{ settings: RunSettings; store: RunStore }> {
  const store = memoryRunStore();
  await engine.load(files.checkpoint);
  if (grpo.beta > 0) await engine.holdReference();
  for (let step = 1; step <= STEPS; step++) {
    const record = await trainStep({ engine, tokenizer: files.tokenizer, suite: arithmetic, runCalls, settings: grpo, seed: SEED }, step);
    await store.putStep('run', { step, metrics: record.metrics, warnings: [] }, record);
    if (snapshots.includes(step)) await store.putSnapshot('run', { step, tokens: 0, snapshot: await engine.snapshot() });
  }
  return { settings: { suite: 'arithmetic', model: 'small', seed: SEED, steps: STEPS, tool: 'plain', grpo }, store };
}

beforeAll(async () => {
  const folder = new URL('../../public/models/arithmetic-small/', import.meta.url);
  files = await loadPolicy((name) => readFile(new URL(name, folder)));
  engine = createCpuEngine({ spawn: spawnInNode });
  runs = {
    plain: await train(plain, []),
    snapped: await train(plain, [1]),
    twice: await train({ ...plain, innerEpochs: 2, minibatches: 2, beta: 0.05 }, [1]),
  };
  microscope = new Microscope({
    startEngine: () => Promise.resolve(engine),
    loadModel: () => Promise.resolve(files),
    python: {
      ready: () => Promise.reject(new Error('not used')),
      run: (calls) => {
        asked.push(...calls);
        return Promise.resolve(calls.map((code) => pythonSays ?? length(code)));
      },
      dispose: () => undefined,
    },
    run: (id) => {
      const run = runs[id];
      return Promise.resolve(run && {
        settings: run.settings, step: STEPS,
        record: (step) => run.store.record('run', step),
        snapshot: (upTo) => run.store.snapshot('run', upTo),
      });
    },
  });
}, 60_000);
afterAll(() => { engine.dispose(); });

const ask = <I extends Inspection>(inspection: I, signal = new AbortController().signal): Promise<InspectionResults[I['kind']]> =>
  microscope.ask(inspection, signal, () => undefined);

async function recordOf(run: string, step: number): Promise<StepRecord> {
  const record = await runs[run]?.store.record('run', step);
  if (record === undefined) throw new Error('no such step');
  return record;
}

/** A rollout with a call and its observation. */
async function withCall(run: string, step: number): Promise<{ group: number; rollout: number; member: TrainedTrajectory }> {
  for (const [group, { members, equal }] of (await recordOf(run, step)).groups.entries()) {
    const rollout = members.findIndex(({ owner, advantage }) => owner.includes(ENVIRONMENT) && advantage !== 0);
    const member = members[rollout];
    if (member !== undefined && !equal) return { group, rollout, member };
  }
  throw new Error('no rollout with a call');
}

describe('the weights of a past step', () => {
  it('are those that sampled it, from the model, from a snapshot, and going back and forth', async () => {
    for (const [run, step, snapshot, replayed] of [['plain', 3, 0, 2], ['snapped', 3, 1, 1], ['plain', 1, 0, 0], ['plain', 2, 0, 1], ['twice', 3, 1, 1]] as const) {
      const rows = (await recordOf(run, step)).groups.flatMap(({ members }) => members.map(({ tokens }) => tokens));
      const { provenance } = await ask({ kind: 'scores', at: { run, step }, policy: 'before', rows });
      expect(provenance).toMatchObject({ snapshot, replayed });
      expect(provenance.check?.tokens).toBeGreaterThan(100);
      // Decoding and the forward pass of training differ by rounding; other weights differ by far more.
      expect(provenance.check?.maxDifference).toBeLessThan(1e-4);
    }
  });

  it('differ before and after the update, and the newest are those after the last step', async () => {
    const { member } = await withCall('plain', 3);
    const logProbs = async (policy: 'before' | 'after' | 'latest' | 'start'): Promise<number[]> =>
      [...(await ask({ kind: 'scores', at: { run: 'plain', step: 3 }, policy, rows: [member.tokens] })).rows[0]?.logProbs ?? []].slice(1);
    const [start, before, after, latest] = [await logProbs('start'), await logProbs('before'), await logProbs('after'), await logProbs('latest')];
    expect(after).toEqual(latest);
    expect(before).not.toEqual(after);
    expect(start).not.toEqual(before);
  });

  it('give the distribution that each token was drawn from', async () => {
    const { member } = await withCall('plain', 2);
    const { rows } = await ask({ kind: 'scores', at: { run: 'plain', step: 2 }, policy: 'before', rows: [member.tokens], alternatives: 5 });
    const [row] = rows;
    for (const [i, owner] of member.owner.entries()) {
      if (owner !== POLICY) continue;
      const ids = [...row?.alternatives?.ids.subarray(i * 5, i * 5 + 5) ?? []];
      const at = ids.indexOf(member.tokens[i] ?? -1);
      if (at >= 0) expect(row?.alternatives?.logProbs[i * 5 + at]).toBeCloseTo(member.logProbs[i] ?? NaN, 4);
    }
  });
});

describe('an update', () => {
  it('has the numbers that the trainer recorded', async () => {
    for (const [run, update] of [['plain', 0], ['twice', 3]] as const) {
      const { group } = await withCall(run, 2);
      const record = await recordOf(run, 2);
      const { views: [view], updates } = await ask({ kind: 'update', at: { run, step: 2, group }, changes: [], update });
      expect(updates).toBe(update + 1);
      const seen = view?.members.filter(({ tokens }) => tokens !== undefined) ?? [];
      expect(seen.length).toBeGreaterThan(0);
      for (const [i, member] of (record.groups[group]?.members ?? []).entries()) {
        const shown = view?.members[i];
        if (shown?.tokens === undefined) continue;
        expect(shown.weights).toEqual(member.weights);
        expect(shown.advantage).toBe(member.advantage);
        for (const name of ['ratio', 'dLogProb', 'gradient', 'kl'] as const) {
          const recorded = member.update?.[name] ?? new Float32Array();
          expect([...shown.tokens[name]].map(Number.isNaN)).toEqual([...recorded].map(Number.isNaN));
          for (const [k, x] of shown.tokens[name].entries()) if (!Number.isNaN(x)) expect(x).toBeCloseTo(recorded[k] ?? NaN, 6);
        }
        // On the first update the policy is the one that sampled.
        const moved = shown.tokens.ratio.some((ratio) => Math.abs(ratio - 1) > 1e-3);
        expect(moved).toBe(run === 'twice');
      }
    }
  });

  it('leaves observations without any gradient with the mask, and not without it', async () => {
    const { group, rollout, member } = await withCall('plain', 2);
    const { views: [masked, unmasked] } = await ask({ kind: 'update', at: { run: 'plain', step: 2, group }, changes: [{ mask: false }] });
    const observed = [...member.owner.entries()].filter(([, owner]) => owner === ENVIRONMENT).map(([i]) => i);
    for (const i of observed) {
      expect(masked?.members[rollout]?.tokens?.gradient[i]).toBe(0);
      expect(masked?.members[rollout]?.weights[i]).toBe(0);
      expect(unmasked?.members[rollout]?.tokens?.gradient[i]).toBeGreaterThan(0);
    }
    expect(masked?.observationTokensInLoss).toBe(0);
    expect(unmasked?.observationTokensInLoss).toBeGreaterThanOrEqual(observed.length);
    expect((unmasked?.tokensInLoss ?? 0) - (masked?.tokensInLoss ?? 0)).toBe(unmasked?.observationTokensInLoss);
    expect(masked?.difference).toMatchObject({ norm: 0 });
    expect(masked?.difference.cosine).toBeCloseTo(1, 6);
    expect(unmasked?.difference.norm).toBeGreaterThan(0);
    expect(unmasked?.difference.cosine).toBeLessThan(1);
  });

  it('compares the variants on one batch', async () => {
    const { group } = await withCall('plain', 2);
    const { views } = await ask({ kind: 'update', at: { run: 'plain', step: 2, group }, changes: [{ advantage: 'mean', aggregation: 'constant' }, { aggregation: 'token-mean' }, { beta: 0.1 }] });
    const [grpo, drGrpo, tokenMean, pulled] = views;
    const record = await recordOf('plain', 2);
    const mean = record.groups[group]?.mean ?? NaN;
    for (const [i, member] of (record.groups[group]?.members ?? []).entries()) {
      expect(drGrpo?.members[i]?.advantage).toBeCloseTo(member.reward.total - mean, 9);
      expect(Math.max(...drGrpo?.members[i]?.weights ?? [])).toBeCloseTo(1 / (12 * 96), 9);
      expect(tokenMean?.members[i]?.advantage).toBe(grpo?.members[i]?.advantage);
      // Log-probs of the start are the reference.
      expect(pulled?.members[i]?.referenceLogProbs).toBeDefined();
    }
  });
});

describe('a step of Adam', () => {
  it('is AdamW on the clipped gradient, and leads to the weights after the step', async () => {
    const { parameters, scale, gradNorm, optimizer, t, applied, tensors } = await ask({ kind: 'adam', at: { run: 'snapped', step: 3 } });
    expect(applied).toBe(true);
    expect(t).toBe(3);
    expect(scale).toBeCloseTo(Math.min(1, optimizer.maxGradNorm / gradNorm), 6);
    expect(Math.hypot(...tensors.map(({ gradient }) => gradient))).toBeCloseTo(gradNorm, 4);
    expect(parameters.length).toBeGreaterThan(5);
    for (const p of parameters) {
      expect(p.m).toBeCloseTo(optimizer.beta1 * p.mBefore + (1 - optimizer.beta1) * p.clipped, 7);
      expect(p.v).toBeCloseTo(optimizer.beta2 * p.vBefore + (1 - optimizer.beta2) * p.clipped ** 2, 7);
      const step = (p.m / (1 - optimizer.beta1 ** t)) / (Math.sqrt(p.v / (1 - optimizer.beta2 ** t)) + optimizer.epsilon);
      expect(p.after).toBeCloseTo(p.before - optimizer.learningRate * step, 6);
    }
  });
});

describe('a branch', () => {
  const at = { run: 'plain', step: 2 } as const;

  it('with nothing put in, on the same weights and seed, is the rollout that it left', async () => {
    const { group, rollout, member } = await withCall('plain', 2);
    const first = member.owner.indexOf(POLICY);
    for (const keep of [first, first + 3, member.owner.indexOf(ENVIRONMENT), member.owner.lastIndexOf(ENVIRONMENT) + 1]) {
      const { trajectory } = await ask({ kind: 'branch', at: { ...at, group, rollout }, policy: 'before', keep, insert: { kind: 'nothing' }, seed: SEED });
      expect(trajectory.tokens).toEqual(member.tokens);
      expect(trajectory.reward).toEqual(member.reward);
    }
  });

  it('runs the code that a person wrote, and reads the observation that a person wrote', async () => {
    const { group, rollout, member } = await withCall('plain', 2);
    const call = member.spans.find(({ kind }) => kind === 'call');
    if (call === undefined) throw new Error('no call');
    const edited = await ask({ kind: 'branch', at: { ...at, group, rollout }, policy: 'before', keep: call.start + 1, insert: { kind: 'call', code: 'print(123456)' }, seed: 9 });
    expect(edited.trajectory.calls[0]).toMatchObject({ code: 'print(123456)', output: '13' });
    expect([...edited.trajectory.tokens.subarray(0, edited.keep)]).toEqual([...member.tokens.subarray(0, edited.keep)]);
    expect(files.tokenizer.decode(edited.trajectory.tokens.subarray(...edited.inserted))).toBe('print(123456)</python>');
    expect(edited.trajectory.logProbs.subarray(...edited.inserted).every(Number.isNaN)).toBe(true);

    const told = await ask({ kind: 'branch', at: { ...at, group, rollout }, policy: 'before', keep: call.end, insert: { kind: 'observation', text: '</output><answer>1' }, seed: 9 });
    expect(told.trajectory.calls[0]).toMatchObject({ code: member.calls[0]?.code, output: '</output><answer>1' });
    const output = told.trajectory.spans.find(({ kind }) => kind === 'output');
    // What a person writes cannot forge a tag.
    expect(output).toMatchObject({ start: told.inserted[0], end: told.inserted[1], owner: ENVIRONMENT, closed: true });
    const again = await ask({ kind: 'branch', at: { ...at, group, rollout }, from: told.trajectory, policy: 'after', keep: call.end, insert: { kind: 'observation', text: '7' }, seed: 9 });
    expect(again.trajectory.calls[0]?.output).toBe('7');
  });

  it('refuses what cannot be, in words', async () => {
    const { group, rollout, member } = await withCall('plain', 2);
    const branch = (keep: number, insert: Extract<Inspection, { kind: 'branch' }>['insert']): Promise<unknown> =>
      ask({ kind: 'branch', at: { ...at, group, rollout }, policy: 'before', keep, insert, seed: 1 });
    const open = (member.spans.find(({ kind }) => kind === 'call')?.start ?? 0) + 1;
    await expect(branch(open, { kind: 'call', code: 'x'.repeat(200) })).rejects.toThrow('does not fit');
    await expect(branch(open + 1, { kind: 'call', code: 'x' })).rejects.toThrow('behind an opening tag');
    await expect(branch(open, { kind: 'observation', text: 'x' })).rejects.toThrow('follows a call');
    await expect(branch(1, { kind: 'nothing' })).rejects.toThrow('behind its question');
  });
});

describe('a rule of the person', () => {
  it('gets the group as data, and gives a reward for each rollout', async () => {
    pythonSays = { ok: false, output: 'NameError: x', truncated: false, seconds: 0, error: { kind: 'exception', type: 'NameError', message: 'x' } };
    await expect(ask({ kind: 'rule', at: { run: 'plain', step: 1, group: 0 }, code: 'def reward(**kwargs): return x' })).rejects.toThrow('NameError');
    expect(asked.at(-1)).toContain('def reward(**kwargs): return x');
    pythonSays = undefined;
  });
});

describe('a question', () => {
  it('about what is not there is refused in words', async () => {
    await expect(ask({ kind: 'adam', at: { run: 'gone', step: 1 } })).rejects.toThrow('not stored here any more');
    await expect(ask({ kind: 'adam', at: { run: 'plain', step: 9 } })).rejects.toThrow('step 9 of this run is not stored');
    await expect(ask({ kind: 'update', at: { run: 'plain', step: 1, group: 7 }, changes: [] })).rejects.toThrow('no group 8');
  });

  it('can be taken back, and the next one is answered', async () => {
    const controller = new AbortController();
    controller.abort(new Error('never mind'));
    await expect(ask({ kind: 'adam', at: { run: 'plain', step: 3 } }, controller.signal)).rejects.toThrow('never mind');
    await expect(ask({ kind: 'adam', at: { run: 'plain', step: 3 } })).resolves.toMatchObject({ applied: true });
  });
});

describe('a policy by itself', () => {
  const questions = { kind: 'evaluate', suite: 'arithmetic', tool: 'plain', probe: false, questionsPerTier: 3, samples: 1, temperature: 1, seed: 2 } as const;

  it('is evaluated with tools and without, alike for one seed', async () => {
    const evaluated = async (access: 'tools' | 'none', seed: number): Promise<InspectionResults['evaluate']['result']> =>
      (await ask({ ...questions, policy: { run: 'plain', step: 2 }, access, seed })).result;
    const [first, again, without] = [await evaluated('tools', 2), await evaluated('tools', 2), await evaluated('none', 2)];
    expect(again).toEqual(first);
    expect(first.calls).toBeGreaterThan(0);
    expect(without.calls).toBe(0);
    expect(without.tiers).toHaveLength(4);
  });

  it('stops being evaluated when it is told to', async () => {
    const controller = new AbortController();
    const evaluated = microscope.ask({ ...questions, questionsPerTier: 30, policy: { model: 'small' }, access: 'tools' }, controller.signal, (phase) => {
      if (phase === 'answering') controller.abort(new Error('enough'));
    });
    await expect(evaluated).rejects.toThrow('enough');
  });

  it('answers one question, and reads what another wrote', async () => {
    const task = drawTasks(arithmetic, 1, 'held-out', 1, 1, [2])[0];
    if (task === undefined) throw new Error('no task');
    const { trajectory } = await ask({ kind: 'answer', policy: { model: 'small' }, access: 'tools', task, temperature: 0, seed: 1 });
    expect(trajectory.task).toBe(task);
    const { rows } = await ask({ kind: 'read', policy: { run: 'plain' }, rows: [trajectory.tokens] });
    const { rows: own } = await ask({ kind: 'read', policy: { model: 'small' }, rows: [trajectory.tokens] });
    const differences = [...trajectory.logProbs].flatMap((x, i) => (Number.isNaN(x) ? [] : [Math.abs(x - (own[0]?.logProbs[i] ?? NaN))]));
    expect(differences.length).toBeGreaterThan(3);
    expect(rows[0]?.logProbs).not.toEqual(own[0]?.logProbs);
  });

  it('has gone nowhere before its first update, and somewhere later', async () => {
    const { drift: begin } = await ask({ kind: 'drift', at: { run: 'plain', step: 1 } });
    const { drift: later } = await ask({ kind: 'drift', at: { run: 'plain', step: 3 } });
    expect(begin.klToBase).toBe(0);
    expect(later.klToBase).toBeGreaterThan(1e-5);
  });
});

it('a call by hand is run within the limits that were asked for', async () => {
  expect((await ask({ kind: 'python', code: 'print(1)', limits: 'rollout' })).result).toEqual(length('print(1)'));
});

it('a recorded snapshot is read as it was written, and one of another policy is refused', async () => {
  await engine.load(files.checkpoint);
  const snapshot = await engine.snapshot();
  expect(decodeSnapshot(encodeSnapshot(snapshot), files.checkpoint)).toEqual(snapshot);
  expect(() => decodeSnapshot(encodeSnapshot({ ...snapshot, weights: snapshot.weights.slice(1) }), files.checkpoint)).toThrow('no weights of');
});
