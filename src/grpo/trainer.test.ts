/** Whole steps on the CPU engine with the small policy that ships, and a tool that is a table. */
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { loadPolicy, type PolicyFiles } from '../policy/checkpoint.ts';
import { createCpuEngine } from '../policy/cpu/engine.ts';
import { spawnInNode } from '../policy/cpu/spawn.node.ts';
import type { PolicyEngine, UpdateReport, UpdateRequest } from '../policy/engine.ts';
import type { RunCalls } from '../rollout/rollout.ts';
import { POLICY, PROMPT } from '../rollout/trajectory.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import type { PythonResult } from '../tools/python/python.ts';
import { DEFAULT_GRPO, VARIANTS, type GrpoSettings } from './settings.ts';
import { trainStep, type TrainerParts } from './trainer.ts';
import { replayStep } from './update.ts';

let engine: PolicyEngine;
let files: PolicyFiles;

beforeAll(async () => {
  const folder = new URL('../../public/models/arithmetic-small/', import.meta.url);
  files = await loadPolicy((name) => readFile(new URL(name, folder)));
  engine = createCpuEngine({ spawn: spawnInNode });
});
afterAll(() => { engine.dispose(); });
beforeEach(async () => { await engine.load(files.checkpoint); });

/** Runs every other call. */
const runCalls: RunCalls = (calls) =>
  Promise.resolve(calls.map((_, i): PythonResult => i % 2 === 0
    ? { ok: true, output: '7', truncated: false, seconds: 0 }
    : { ok: false, output: 'NameError: x', truncated: false, seconds: 0, error: { kind: 'exception', type: 'NameError', message: 'x' } }));

function parts(changes: Partial<GrpoSettings> = {}, over: Partial<TrainerParts> = {}): TrainerParts {
  const settings = { ...DEFAULT_GRPO, questions: 2, group: 4, maxLength: 96, ...changes };
  return { engine, tokenizer: files.tokenizer, suite: arithmetic, runCalls, settings, seed: 3, ...over };
}

/** The engine, with its updates overheard. */
function overheard(change: (report: UpdateReport) => UpdateReport = (report) => report): { engine: PolicyEngine; requests: UpdateRequest[] } {
  const requests: UpdateRequest[] = [];
  const listening: PolicyEngine = Object.create(engine) as PolicyEngine;
  listening.update = async (request, optimizer) => {
    requests.push(request);
    return change(await engine.update(request, optimizer));
  };
  return { engine: listening, requests };
}

describe('a step', () => {
  it('trains on exactly the tokens that the policy wrote, at a ratio of 1', async () => {
    const { groups, metrics } = await trainStep(parts(), 1);
    const members = groups.flatMap((group) => group.members);
    expect(members).toHaveLength(8);
    expect(members.some((t) => t.calls.length > 0)).toBe(true);
    for (const { tokens, owner, weights, update, advantage } of members) {
      if (update === undefined) throw new Error('no update');
      for (const array of [owner, weights, update.ratio, update.dLogProb, update.gradient]) expect(array).toHaveLength(tokens.length);
      for (const [t, by] of owner.entries()) {
        expect((weights[t] ?? 0) > 0).toBe(by === POLICY);
        if (by === POLICY) {
          expect(Math.abs((update.ratio[t] ?? NaN) - 1)).toBeLessThan(1e-4);
          expect(Math.sign(update.dLogProb[t] ?? NaN)).toBe(-Math.sign(advantage));
        } else {
          expect(update.dLogProb[t]).toBe(0);
          expect(update.gradient[t]).toBe(0);
        }
      }
    }
    expect(metrics['sampled_tokens']).toBe(members.reduce((n, t) => n + t.owner.filter((by) => by === POLICY).length, 0));
    expect(metrics['num_tokens']).toBe(members.reduce((n, t) => n + t.tokens.length, 0));
    expect(metrics['clip_ratio/region_mean']).toBe(0);
    expect(metrics['grad_norm']).toBeGreaterThan(0);
  });

  it('is the same again from the same weights: replay is the run', async () => {
    const once = await trainStep(parts(), 2);
    const after = await engine.snapshot();
    await engine.load(files.checkpoint);
    const again = await trainStep(parts(), 2);
    expect(again.groups).toEqual(once.groups);
    expect((await engine.snapshot()).weights).toEqual(after.weights);
  });

  it('says that all groups are equal, and leaves the weights bit for bit', async () => {
    // Momentum from a real step: without the skip, it alone would move the weights.
    await trainStep(parts(), 1);
    const before = await engine.snapshot();
    const { skipped, groups, metrics } = await trainStep(parts({ group: 1 }), 2);
    expect(skipped).toBe('all-groups-equal');
    expect(groups.every((group) => group.equal && group.std === 1)).toBe(true);
    expect(metrics['frac_reward_zero_std']).toBe(1);
    expect(await engine.snapshot()).toEqual(before);
  });

  it('pulls equal groups to the reference where there is one', async () => {
    await engine.holdReference();
    const { skipped, metrics, warnings } = await trainStep(parts({ group: 1, beta: 0.1 }), 1);
    expect(skipped).toBeUndefined();
    expect(metrics['kl']).toBeLessThan(1e-4);
    expect(warnings).toContain('group-of-one');
  });

  it('with the mask off trains on observations too, and scores them first', async () => {
    const { engine: listening, requests } = overheard();
    const { groups } = await trainStep(parts({ mask: false }, { engine: listening }), 1);
    const members = groups.flatMap((group) => group.members);
    for (const [i, { owner, weights, update }] of members.entries()) {
      for (const [t, by] of owner.entries()) {
        expect((weights[t] ?? 0) > 0).toBe(by !== PROMPT);
        if (by === PROMPT) continue;
        expect(requests[0]?.rows[i]?.oldLogProbs?.[t]).not.toBeNaN();
        expect(Math.abs((update?.ratio[t] ?? NaN) - 1)).toBeLessThan(1e-4);
      }
    }
  });

  it('makes each inner epoch of each minibatch an update of its own', async () => {
    const { engine: listening, requests } = overheard();
    const { warnings } = await trainStep(parts({ innerEpochs: 2, minibatches: 2 }, { engine: listening }), 1);
    expect(requests.map((r) => r.rows.length)).toEqual([4, 4, 4, 4]);
    // Each minibatch weighs its own rollouts: all weights of a request add up to 1.
    for (const { rows } of requests) expect(rows.flatMap((r) => [...r.weights]).reduce((a, b) => a + b, 0)).toBeCloseTo(1, 5);
    expect(warnings).toEqual([]);
  });

  it('warns where the ratio is still exactly 1 on a second pass', async () => {
    const stuck = overheard((report) => ({ ...report, rows: report.rows.map((r) => ({ ...r, ratio: r.ratio.map((x) => (Number.isNaN(x) ? x : 1)) })) }));
    const { warnings } = await trainStep(parts({ innerEpochs: 2 }, { engine: stuck.engine }), 1);
    expect(warnings).toContain('ratio-always-one');
  });

  it('says that a gradient was not finite', async () => {
    const broken = overheard((report) => ({ ...report, applied: false, skipped: 'non-finite' }));
    expect((await trainStep(parts({}, { engine: broken.engine }), 1)).skipped).toBe('non-finite');
  });

  it('skips the update and says so where a reward is not finite', async () => {
    const before = await engine.snapshot();
    const { skipped, warnings, groups } = await trainStep(parts({ reward: { noCall: 'paper', callCost: NaN } }), 1);
    expect([skipped, warnings]).toEqual(['non-finite', ['non-finite-reward']]);
    expect(groups.flatMap((group) => group.members).some((t) => Number.isNaN(t.reward.total))).toBe(true);
    expect(await engine.snapshot()).toEqual(before);
  });

  it('makes no update of a minibatch that dropped groups have left empty', async () => {
    const { engine: listening, requests } = overheard();
    const settings = { ...VARIANTS.dapo.settings, refills: 1, questions: 2, group: 4, minibatches: 8 };
    const { groups, skipped } = await trainStep(parts(settings, { engine: listening, tiers: [1], seed: 2 }), 1);
    const kept = groups.filter((group) => !group.dropped).length;
    expect(requests).toHaveLength(4 * kept);
    expect(skipped).toBe(kept === 0 ? 'all-groups-equal' : undefined);
  });

  it('drops equal groups and refills them with other questions, where the variant asks for it', async () => {
    // Groups of two at tier 1 are often equal.
    const { groups } = await trainStep(parts({ ...VARIANTS.dapo.settings, questions: 4, group: 2 }, { tiers: [1] }), 1);
    const kept = groups.filter((group) => !group.dropped);
    expect(kept.length).toBeLessThanOrEqual(4);
    expect(groups.length).toBeGreaterThan(kept.length);
    for (const group of groups) {
      expect(group.dropped).toBe(group.equal);
      for (const { weights, update } of group.members) {
        expect(weights.some((w) => w > 0)).toBe(!group.dropped);
        expect(update === undefined).toBe(group.dropped);
      }
    }
  });

  it('leaves the weights alone when it is cancelled while sampling', async () => {
    const before = await engine.snapshot();
    const controller = new AbortController();
    const step = trainStep(parts({}, {
      runCalls: (calls) => {
        controller.abort(new Error('enough'));
        return runCalls(calls);
      },
    }), 1, { signal: controller.signal });
    await expect(step).rejects.toThrow('enough');
    expect(await engine.snapshot()).toEqual(before);
  });
});

describe('a step made again from its record', () => {
  it('leads to the very same weights, without sampling or asking a tool', async () => {
    const settings: Partial<GrpoSettings> = { innerEpochs: 2, minibatches: 2, mask: false, beta: 0.05 };
    await engine.holdReference();
    const { settings: all } = parts(settings);
    const record = await trainStep(parts(settings), 1);
    expect(record.skipped).toBeUndefined();
    const after = await engine.snapshot();
    await engine.load(files.checkpoint);
    await engine.holdReference();
    const sampling = vi.spyOn(engine, 'continue');
    await replayStep(engine, record, all);
    expect(sampling).not.toHaveBeenCalled();
    sampling.mockRestore();
    expect(await engine.snapshot()).toEqual(after);
    expect(after.weights).not.toEqual(files.checkpoint.weights);
  });

  it('leaves the weights where the step left them', async () => {
    const record = await trainStep(parts({ group: 1 }), 1);
    expect(record.skipped).toBe('all-groups-equal');
    const before = await engine.snapshot();
    await replayStep(engine, record, parts({ group: 1 }).settings);
    expect(await engine.snapshot()).toEqual(before);
  });
});
