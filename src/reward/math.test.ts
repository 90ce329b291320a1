import { describe, expect, it } from 'vitest';
import { scripted, tokenizer } from '../rollout/testing.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { scoreMath } from './math.ts';
import { PAPER_REWARD, type RewardParts, type RewardSettings } from './reward.ts';

async function roll(script: string): Promise<Trajectory> {
  const [t] = await scripted([script]);
  if (t === undefined) throw new Error('no trajectory');
  return t;
}
async function score(script: string, settings: RewardSettings = PAPER_REWARD): Promise<RewardParts> {
  return scoreMath(await roll(script), arithmetic, tokenizer, settings);
}
/** answer, relaxed, strict, execution, total. */
const row = (r: RewardParts): (number | null)[] => [r.answer, r.formatRelaxed, r.formatStrict, r.execution, r.total];

const think = '<think>use code</think>';
const good = '<python>print(17+25)</python>';
const bad = '<python>show(1)</python>';
const dummy = '<python>print(1)</python>';
const right = '<answer>42</answer><eos>';
const wrong = '<answer>41</answer><eos>';

describe("the paper's rule: eight rows", () => {
  it.each([
    ['correct, well formed, all calls run', think + good + right, [2, 0.5, 0.5, 1, 4]],
    ['correct, well formed, 1 of 2 calls runs', think + bad + think + good + right, [2, 0.5, 0.5, 0.5, 3.5]],
    ['correct, well formed, every call fails', think + bad + right, [2, 0.5, 0.5, 0, 3]],
    ['correct, no call, think and answer only', think + right, [2, 0.25, 0, 0, 2.25]],
    ['correct answer in its tag, nothing else', right, [2, 0.125, 0, 0, 2.125]],
    ['wrong, well formed, a dummy runs', think + dummy + wrong, [0, 0.5, 0.5, 1, 2]],
    ['wrong, no call', think + wrong, [0, 0.25, 0, 0, 0.25]],
    ['empty text', '<eos>', [0, 0, 0, 0, 0]],
  ])('%s', async (_, script, expected) => {
    expect(row(await score(script))).toEqual(expected);
  });
});

describe('format', () => {
  it('gives nothing for a forged output, and loses the strict form for it', async () => {
    expect(row(await score(`${think}${good}<output>42</output>${right}`))).toEqual([2, 0.5, 0, 1, 3.5]);
    // Without a call there is no output of the environment: think and answer are left.
    expect(row(await score(`${think}<output>42</output>${right}`))).toEqual([2, 0.25, 0, 0, 2.25]);
  });

  it('wants exactly one answer, and nothing after it but <eos>', async () => {
    expect((await score(`${think}${good}<answer>41</answer>${right}`)).formatStrict).toBe(0);
    expect((await score(`${think}${good}<answer>42</answer>!<eos>`)).formatStrict).toBe(0);
    expect((await score(`${think}${good}<answer>42</answer>\n<eos>`)).formatStrict).toBe(0.5);
  });

  it('checks the last closed answer', async () => {
    expect((await score(`${think}<answer>41</answer>${right}`)).correct).toBe(true);
    expect((await score(`${think}<answer>42</answer><answer>41<eos>`)).correct).toBe(true);
    expect((await score(`${think}<answer>42<eos>`)).correct).toBe(false);
  });

  it('allows think before the answer, and asks for think before each call', async () => {
    expect((await score(think + good + think + right)).formatStrict).toBe(0.5);
    expect((await score(good + right)).formatStrict).toBe(0);
    expect((await score(think + good + good + right)).formatStrict).toBe(0);
  });

  it('does not pay for a pair that never opens, closes first, or closes too seldom', async () => {
    expect((await score(`</think>${right}`)).formatRelaxed).toBe(0.125);
    expect((await score(`</think><think>${right}`)).formatRelaxed).toBe(0.125);
    expect((await score(`<think><think></think>${right}`)).formatRelaxed).toBe(0.125);
  });

  it('does not excuse the call that ended the rollout', async () => {
    const t = await roll((think + good).repeat(4));
    expect(t.stop).toBe('calls');
    const reward = scoreMath(t, arithmetic, tokenizer, PAPER_REWARD);
    expect(reward.execution).toBe(1);
    expect(reward.formatStrict).toBe(0);
  });
});

describe('what no call is worth', () => {
  const direct = think + right;

  it('left out: the other parts are rescaled to 4, the format excuses the call', async () => {
    expect(row(await score(direct, { noCall: 'excluded', callCost: 0 }))).toEqual([2, 0.5, 0.5, null, 4]);
  });
  it('in full', async () => {
    expect(row(await score(direct, { noCall: 'full', callCost: 0 }))).toEqual([2, 0.5, 0.5, 1, 4]);
  });
  it('changes nothing for a rollout with a call', async () => {
    const script = think + bad + right;
    for (const noCall of ['excluded', 'full'] as const) {
      expect(row(await score(script, { noCall, callCost: 0 }))).toEqual(row(await score(script)));
    }
  });
  it('costs: each executed call', async () => {
    const reward = await score(think + bad + think + good + right, { noCall: 'full', callCost: 0.2 });
    expect(reward.callCost).toBeCloseTo(-0.4);
    expect(reward.total).toBeCloseTo(3.1);
  });
});
