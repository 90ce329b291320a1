import { describe, expect, it } from 'vitest';
import { Random } from '../policy/random.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import { scriptedEngine, tableOfCalls, tokenizer } from '../rollout/testing.ts';
import { arithmetic, SUITES } from '../tasks/arithmetic.ts';
import { drawTasks } from '../tasks/task.ts';
import { bannedTokens, CONDITIONS, modelOf } from './conditions.ts';
import { correctedItself, DEFAULT_EVALUATION, evaluate, type EvaluationResult, type EvaluationSettings } from './evaluate.ts';

const settings = { ...DEFAULT_EVALUATION, questionsPerTier: 1, seed: 5 };
const tasks = drawTasks(arithmetic, 4, 'held-out', 5, 0x7e57);

const think = '<think>x</think>';
const answer = (text: string): string => `<answer>${text}</answer><eos>`;
/** A good call, a mended one, a wrong one without a call, and a failed call that is not mended. */
const scripts = tasks.map((task, i) => {
  const good = `<python>print(${task.expression})</python>`;
  return [
    think + good + answer(task.answer),
    `${think}<python>show(1)</python>${think}${good}${answer(task.answer)}`,
    think + answer('none'),
    `${think}<python>show(1)</python>${answer('none')}`,
  ][i] ?? '';
});
const runCalls = tableOfCalls(Object.fromEntries(tasks.map((task) => [`print(${task.expression})`, task.answer])));

const run = (engine: PolicyEngine = scriptedEngine(scripts), changed: Partial<EvaluationSettings> = {}): Promise<EvaluationResult> =>
  evaluate({ engine, tokenizer, suite: arithmetic, runCalls }, { ...settings, ...changed });

describe('an evaluation', () => {
  it('counts by tier what a hand count gives', async () => {
    const result = await run();
    expect(result.tiers).toMatchObject([
      { tier: 1, accuracy: 1, calls: 1, callSuccess: 1, selfCorrection: null, rightAfterCorrection: null, strictFormat: 1 },
      { tier: 2, accuracy: 1, calls: 2, callSuccess: 0.5, selfCorrection: 1, rightAfterCorrection: 1, strictFormat: 1 },
      { tier: 3, accuracy: 0, calls: 0, callSuccess: null, selfCorrection: null, rightAfterCorrection: null, strictFormat: 0 },
      { tier: 4, accuracy: 0, calls: 1, callSuccess: 0, selfCorrection: 0, rightAfterCorrection: null, strictFormat: 1 },
    ]);
    // 4 + 3.5 + 0.25 + 1 (well formed, its only call failed).
    expect(result.reward).toBeCloseTo((4 + 3.5 + 0.25 + 1) / 4);
    expect(result.rewardParts).toEqual({ answer: 1, format: (1 + 1 + 0.25 + 1) / 4, execution: 1.5 / 4, callCost: 0 });
    expect(result.accuracy).toBe(0.5);
    expect(result.tiers[2]?.tokens).toBe(3 + 2 + 4 + 1);
    expect(result.stops).toEqual({ end: 1, length: 0, calls: 0, cancelled: 0 });
  });

  it('takes several samples of a question, and compares questions', async () => {
    // Three samples each; of tier 1 two are right, of tier 2 one, of the others none.
    const right = [2, 1, 0, 0];
    const samples = tasks.flatMap((task, i) => [0, 1, 2].map((s) => answer(s < (right[i] ?? 0) ? task.answer : 'none')));
    const result = await run(scriptedEngine(samples), { samples: 3 });
    expect(result.tiers.map((t) => t.passAt)).toEqual([{ 1: expect.closeTo(2 / 3) as number, 2: 1, 3: 1 }, { 1: expect.closeTo(1 / 3) as number, 2: expect.closeTo(2 / 3) as number, 3: 1 }, { 1: 0, 2: 0, 3: 0 }, { 1: 0, 2: 0, 3: 0 }]);
    expect(result.accuracy).toBeCloseTo(1 / 4);
    // One question a tier: resampling it gives itself.
    expect(result.tiers[0]?.accuracyInterval).toEqual([expect.closeTo(2 / 3), expect.closeTo(2 / 3)]);
  });

  it('refuses greedy samples of one question, which are all the same', async () => {
    await expect(run(undefined, { temperature: 0, samples: 2 })).rejects.toThrow(RangeError);
  });

  it('shows how far it is, and every rollout', async () => {
    const seen: number[] = [];
    let rollouts = 0;
    const engine = scriptedEngine(Array.from({ length: 400 }, () => answer('none')));
    await evaluate({
      engine, tokenizer, suite: arithmetic, runCalls,
      onProgress: (done, of) => seen.push(done / of),
      onRollouts: (batch) => { rollouts += batch.length; },
    }, { ...settings, questionsPerTier: 100 });
    expect(seen.at(-1)).toBe(1);
    expect(seen.length).toBeGreaterThan(2);
    expect(rollouts).toBe(400);
  });

  it('stops between turns when it is cancelled, with the reason', async () => {
    const controller = new AbortController();
    const engine = scriptedEngine(scripts);
    const cancelled = evaluate({
      engine, tokenizer, suite: arithmetic, signal: controller.signal,
      runCalls: (_, signal) => { controller.abort(new Error('enough')); return Promise.reject(signal?.reason as Error); },
    }, settings);
    await expect(cancelled).rejects.toThrow('enough');
    expect(engine.requests).toHaveLength(1);
  });
});

describe('the conditions', () => {
  /** Samples evenly from all ids that it may, as an engine would from an untrained policy. */
  function evenEngine(): PolicyEngine & { readonly written: number[] } {
    const random = new Random(11);
    const written: number[] = [];
    return {
      ...scriptedEngine([]),
      written,
      continue: ({ rows, bannedTokens: banned = [], stopTokens, maxLength }) => Promise.resolve({
        rows: rows.map(({ tokens }) => {
          const ids: number[] = [];
          while (tokens.length + ids.length < maxLength) {
            const id = random.integer(1, 106);
            if (banned.includes(id)) continue;
            ids.push(id);
            if (stopTokens.includes(id)) break;
          }
          written.push(...ids);
          const stop: 'token' | 'length' = stopTokens.includes(ids.at(-1) ?? -1) ? 'token' : 'length';
          return { tokens: Uint32Array.from(ids), logProbs: new Float32Array(ids.length), stop };
        }),
      }),
    };
  }
  const calls = [tokenizer.id('<python>'), tokenizer.id('</python>')];

  it('never sample a call tag in the base condition, and do in the others', async () => {
    for (const condition of CONDITIONS) {
      const engine = evenEngine();
      await run(engine, { questionsPerTier: 20, bannedTokens: bannedTokens(condition, tokenizer) });
      expect(engine.written.some((id) => calls.includes(id))).toBe(condition !== 'base');
    }
  });

  it('have a policy for each suite: one warm start, and what was trained from it', () => {
    for (const suite of Object.keys(SUITES)) {
      expect(modelOf(suite, 'base')).toBe(modelOf(suite, 'prompted'));
      expect(modelOf(suite, 'trained')).not.toBe(modelOf(suite, 'prompted'));
    }
    expect(() => modelOf('none', 'base')).toThrow('no policies');
  });
});

describe('self-correction', () => {
  it('is a failed call, and after it one that runs', () => {
    const made = (...oks: boolean[]) => ({ calls: oks.map((ok) => ({ ok, code: '', output: '', truncated: false, seconds: 0 })) });
    expect(correctedItself(made(false, true))).toBe(true);
    expect(correctedItself(made(true, false))).toBe(false);
    expect(correctedItself(made(false, false, true))).toBe(true);
    expect(correctedItself(made())).toBe(false);
  });
});
