import { describe, expect, it } from 'vitest';
import { scriptedEngine, tableOfCalls, tokenizer } from '../rollout/testing.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { drawTasks } from '../tasks/task.ts';
import { correctedItself, DEFAULT_EVALUATION, evaluate } from './evaluate.ts';

const settings = { ...DEFAULT_EVALUATION, questionsPerTier: 1, seed: 5 };
const tasks = drawTasks(arithmetic, 4, 'held-out', 5, 0x7e57);

/** A good call, a mended one, a wrong one without a call, and a failed call that is not mended. */
const scripts = tasks.map((task, i) => {
  const good = `<python>print(${task.expression})</python>`;
  const think = '<think>x</think>';
  const answer = (text: string): string => `<answer>${text}</answer><eos>`;
  return [
    think + good + answer(task.answer),
    `${think}<python>show(1)</python>${think}${good}${answer(task.answer)}`,
    think + answer('none'),
    `${think}<python>show(1)</python>${answer('none')}`,
  ][i] ?? '';
});
const table = Object.fromEntries(tasks.map((task) => [`print(${task.expression})`, task.answer]));

describe('an evaluation', () => {
  const run = () => evaluate({ engine: scriptedEngine(scripts), tokenizer, suite: arithmetic, runCalls: tableOfCalls(table) }, settings);

  it('counts by tier what a hand count gives', async () => {
    const result = await run();
    expect(result.tiers).toEqual([
      { tier: 1, accuracy: 1, calls: 1, callSuccess: 1, selfCorrection: null },
      { tier: 2, accuracy: 1, calls: 2, callSuccess: 0.5, selfCorrection: 1 },
      { tier: 3, accuracy: 0, calls: 0, callSuccess: null, selfCorrection: null },
      { tier: 4, accuracy: 0, calls: 1, callSuccess: 0, selfCorrection: 0 },
    ]);
    // 4 + 3.5 + 0.25 + 1 (well formed, its only call failed).
    expect(result.reward).toBeCloseTo((4 + 3.5 + 0.25 + 1) / 4);
    expect(result.rewardParts.answer).toBe(1);
    expect(result.rewardParts.execution).toBeCloseTo(1.5 / 4);
    expect(result.accuracy).toBe(0.5);
  });

  it('stops when it is cancelled', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const engine = { ...scriptedEngine(scripts), continue: () => Promise.reject(new Error('enough')) };
    await expect(evaluate({ engine, tokenizer, suite: arithmetic, runCalls: tableOfCalls(table), signal: controller.signal }, settings)).rejects.toThrow('enough');
  });
});

describe('self-correction', () => {
  it('is a failed call, and after it one that runs', () => {
    const calls = (...oks: boolean[]) => ({ calls: oks.map((ok) => ({ ok, code: '', output: '', truncated: false, seconds: 0 })) });
    expect(correctedItself(calls(false, true))).toBe(true);
    expect(correctedItself(calls(true, false))).toBe(false);
    expect(correctedItself(calls(false, false, true))).toBe(true);
    expect(correctedItself(calls())).toBe(false);
  });
});
