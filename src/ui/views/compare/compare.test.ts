import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import type { RunSettings, RunSummary, StepSummary } from '../../../lab/protocol.ts';
import { scripted } from '../../../rollout/testing.ts';
import { PRESET_SETTINGS } from '../train/presets.ts';
import { compareAddress, METRICS, MOST_RUNS, parseCompare, parsePolicy, PARTS, policyId, QUESTIONS, SAMPLES, WHICH, type CompareAddress } from './address.ts';
import { deltaOf, logProbOf, sharedTokens, walk } from './divergence.ts';
import { madeRun, measuredOf, plannedRuns } from './masking.ts';
import { BENCHMARKS, TABLE_1 } from './paper.ts';
import { bySettings, lineOf, metricKey, stepsOf } from './series.ts';

const search = (address: string): string => address.split('?')[1] ?? '';

describe('the address', () => {
  const policy = fc.constantFrom('model:arithmetic-base', 'base:arithmetic-base', 'run:abc@12', 'run:abc');
  const address: fc.Arbitrary<CompareAddress> = fc.record({
    part: fc.constantFrom(...PARTS), suite: fc.constantFrom('arithmetic', 'arithmetic-steps', 'workflow'), pair: fc.boolean(), a: fc.option(policy, { nil: undefined }),
    b: fc.option(policy, { nil: undefined }), questions: fc.constantFrom(...QUESTIONS), greedy: fc.boolean(), samples: fc.constantFrom(...SAMPLES),
    seed: fc.nat(2 ** 30), probe: fc.boolean(), tier: fc.integer({ min: 0, max: 9 }), draw: fc.integer({ min: 1, max: 999 }), go: fc.boolean(),
    text: fc.constantFrom('a', 'b'), token: fc.option(fc.nat(500), { nil: undefined }),
    runs: fc.option(fc.array(fc.constantFrom('a1', 'b2', 'recorded'), { minLength: 1, maxLength: 3 }), { nil: undefined }),
    metric: fc.constantFrom(...METRICS), which: fc.constantFrom(...WHICH), seeds: fc.integer({ min: 1, max: 5 }),
  });

  it('holds everything that is looked at', () => {
    fc.assert(fc.property(address, (it) => {
      expect(parseCompare(search(compareAddress(it)))).toEqual(it);
    }));
  });

  it('leaves out what is at its default', () => {
    expect(compareAddress(parseCompare(''))).toBe('/compare');
    expect(compareAddress(parseCompare('part=question'))).toBe('/compare?part=question');
  });

  it('takes nothing from a stranger that is not offered', () => {
    const evil = parseCompare(`part=x&suite=../../etc&a=model:../secret&b=run:%3Cscript%3E&questions=9999999&seed=-1&runs=${Array(40).fill('r').join(',')},%3Cb%3E&metric=__proto__&token=1e9`);
    expect(evil).toMatchObject({ part: 'conditions', suite: 'arithmetic', a: undefined, b: undefined, questions: 32, seed: 1, metric: 'reward', token: undefined });
    expect(evil.runs).toHaveLength(MOST_RUNS);
  });

  it('names policies so that they are found again', () => {
    for (const id of ['model:arithmetic-trained', 'base:arithmetic-base', 'run:recorded@40', 'run:f00']) {
      const policy = parsePolicy(id);
      expect(policy && policyId(policy)).toBe(id);
    }
    expect(parsePolicy('base:arithmetic-base')?.access).toBe('none');
  });
});

describe('curves of several runs', () => {
  const run = (id: string, settings: Partial<RunSettings>): { readonly summary: RunSummary } => ({
    summary: { id, started: 0, settings: { ...PRESET_SETTINGS.paper, ...settings }, step: 2, state: 'finished', engine: { kind: 'cpu', adapter: '', software: false } },
  });
  const steps = (...rewards: number[]): StepSummary[] => rewards.map((reward, i) => ({ step: i + 1, metrics: { reward }, warnings: [] }));

  it('are one line where only the seed differs', () => {
    const runs = [run('a', { seed: 1 }), run('b', { seed: 2, grpo: { ...DEFAULT_GRPO, mask: false } }), run('c', { seed: 3 })];
    expect(bySettings(runs).map((group) => group.map(({ summary }) => summary.id))).toEqual([['a', 'c'], ['b']]);
  });

  it('are lines of their own where the seed is the same too', () => {
    const runs = [run('mine', { seed: 1 }), run('recorded', { seed: 1 }), run('other', { seed: 2 })];
    expect(bySettings(runs).map((group) => group.map(({ summary }) => summary.id))).toEqual([['mine', 'other'], ['recorded']]);
  });

  it('are means with their least and most, over the steps that all runs have', () => {
    const runs = [steps(1, 2), steps(3, 6, 9)];
    const numbers = stepsOf(runs);
    expect(numbers).toEqual([1, 2, 3]);
    expect(lineOf(numbers, runs, 'reward')).toEqual({ values: [2, 4, NaN], spread: { low: [1, 2, NaN], high: [3, 6, NaN] } });
    expect(lineOf(numbers, [steps(1, 2)], 'reward')).toEqual({ values: [1, 2, NaN], spread: undefined });
    expect(lineOf([1], runs, 'none').values).toEqual([NaN]);
  });

  it('have a metric by tier only where it is measured by tier', () => {
    expect([metricKey('calls', 0), metricKey('calls', 3), metricKey('kl', 3)]).toEqual(['tools/call_frequency', 'calls/tier_3', undefined]);
  });
});

describe('two texts', () => {
  it('part at the first token that differs', () => {
    expect([sharedTokens([1, 2, 3], [1, 2, 4]), sharedTokens([1, 2], [1, 2, 4]), sharedTokens([], [1])]).toEqual([2, 2, 0]);
  });

  it('are compared only where a policy chose', async () => {
    const [text] = await scripted(['<python>print(1)</python><answer>42</answer><eos>']);
    if (text === undefined) throw new Error('no rollout');
    const own = { logProbs: new Float32Array(text.tokens.length).fill(-1) };
    const other = { logProbs: new Float32Array(text.tokens.length).fill(-3) };
    const delta = deltaOf(text, own, other);
    expect([...delta].map((d) => (Number.isNaN(d) ? 'none' : d))).toEqual([...text.owner].map((owner) => (owner === 1 ? -2 : 'none')));
    expect(logProbOf(text, own)).toBe(-[...text.owner].filter((owner) => owner === 1).length);
  });

  it('are walked by keys, and never out of their ends', async () => {
    const texts = await scripted(['<think>a</think><answer>42</answer><eos>', '<answer>7</answer><eos>']);
    const [first, second] = texts;
    if (first === undefined || second === undefined) throw new Error('no rollouts');
    const begin = first.spans[0]?.end ?? 0;
    expect(walk('ArrowRight', texts, 0, undefined, begin)).toEqual({ text: 0, token: begin });
    expect(walk('ArrowLeft', texts, 0, 0, begin)).toEqual({ text: 0, token: 0 });
    expect(walk('ArrowDown', texts, 0, first.tokens.length - 1, begin)).toEqual({ text: 1, token: second.tokens.length - 1 });
    expect(walk('ArrowDown', texts, 1, 2, begin)).toEqual({ text: 1, token: 2 });
    expect(walk('d', texts, 1, 0, begin)).toEqual({ text: 1, token: begin });
    expect(walk('x', texts, 0, 0, begin)).toBeUndefined();
  });
});

describe('the masking experiment', () => {
  it('is made of pairs that differ in the mask alone', () => {
    const planned = plannedRuns('both', 2);
    expect(planned.map(({ settings }) => [settings.model, settings.tool, settings.grpo.questions, settings.seed, settings.grpo.mask])).toEqual([1, 2].flatMap((seed) => [
      ['chatty-base', 'chatty', 8, seed, true], ['chatty-base', 'chatty', 8, seed, false],
      ['arithmetic-base', 'terse', 16, seed, true], ['arithmetic-base', 'terse', 16, seed, false],
    ]));
    const [on, off] = plannedRuns('chatty', 1);
    expect({ ...off?.settings, grpo: { ...off?.settings.grpo, mask: true } }).toEqual(on?.settings);
  });

  it('finds what an earlier visit made, and nothing else', () => {
    const [plan] = plannedRuns('short', 1);
    if (plan === undefined) throw new Error('nothing planned');
    const run = (id: string, step: number, settings: RunSettings): RunSummary => ({ id, started: 0, settings, step, state: 'paused', engine: { kind: 'cpu', adapter: '', software: false } });
    const runs = [run('early', 5, plan.settings), run('far', 60, plan.settings), run('other', 60, { ...plan.settings, seed: 9 })];
    expect(madeRun(plan.settings, runs)?.id).toBe('far');
    expect(madeRun(plan.settings, runs.slice(2))).toBeUndefined();
  });

  it('averages reward and format over the last ten steps, and the gradient over all that made an update', () => {
    const steps = Array.from({ length: 20 }, (_, i): StepSummary => ({
      step: i + 1, metrics: { reward: i < 10 ? 1 : 3, format_strict: i < 10 ? 0 : 0.5, ...(i % 2 === 0 ? { grad_norm: 0.25 } : {}) }, warnings: [],
    }));
    expect(measuredOf(steps, undefined)).toEqual({ reward: 3, strictFormat: 0.5, gradNorm: 0.25, klToBase: NaN, forged: NaN, outputAfterCall: NaN });
    expect(measuredOf(steps, { klToBase: 1.1, forged: 0.03, outputAfterCall: null })).toMatchObject({ klToBase: 1.1, forged: 0.03, outputAfterCall: NaN });
  });
});

describe('the paper’s table', () => {
  it('has the best of each column where the text claims another', () => {
    const best = BENCHMARKS.map((_, i) => TABLE_1.reduce((a, b) => ((b.values[i] ?? 0) > (a.values[i] ?? 0) ? b : a)).name);
    expect(best).toEqual(['DeepSeek-R1-Distill-Qwen-7B', 'DeepSeek-R1', 'DeepSeek-R1', 'DeepSeek-R1']);
  });

  it('bears out the gains that are named', () => {
    const of = (kind: string, name: string, i: number): number => TABLE_1.find((m) => m.kind === kind && m.name === name)?.values[i] ?? NaN;
    const gain = (size: string, i: number): number => Math.round(1000 * (of('artist', size, i) - of('prompted', size, i))) / 10;
    expect([gain('7B', 3), gain('14B', 3), gain('7B', 2), gain('14B', 2)]).toEqual([1.3, 4.9, 12.1, 14]);
    expect(of('artist', '14B', 1)).toBeLessThan(of('artist', '7B', 1));
  });
});
