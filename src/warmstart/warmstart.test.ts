import { describe, expect, it } from 'vitest';
import type { CallRequest, RunCalls } from '../rollout/rollout.ts';
import { tokenizer } from '../rollout/testing.ts';
import { ENVIRONMENT, POLICY, PROMPT } from '../rollout/trajectory.ts';
import { arithmetic, arithmeticSteps } from '../tasks/arithmetic.ts';
import type { PythonResult } from '../tools/python/python.ts';
import { writeDemonstrations, type Demonstration } from './demonstrations.ts';
import { DEFAULT_WARM_START, learningRateAt, supervisedRows } from './warmstart.ts';

/** Answers every call with its own number, so that each observation can be told from the others. */
const numbered: RunCalls = (calls) =>
  Promise.resolve(calls.map((_, i): PythonResult => ({ ok: true, output: `#${i}`, truncated: false, seconds: 0 })));

const write = (count: number, maxLength = 160): Promise<Demonstration[]> =>
  writeDemonstrations(arithmetic, tokenizer, numbered, count, maxLength, 4, 0);

describe('demonstrations', () => {
  it('record who wrote each token: the question, the policy, or the tool', async () => {
    for (const { tokens, owner } of await write(200)) {
      expect(owner).toHaveLength(tokens.length);
      const written = (by: number): string => tokenizer.decode(tokens.filter((_, i) => owner[i] === by));
      expect(written(PROMPT)).toMatch(/^<bos>[^<]+$/);
      expect(written(ENVIRONMENT)).toMatch(/^(<output>#\d+<\/output>)*$/);
      expect(written(POLICY)).toMatch(/<eos>$/);
      expect(written(POLICY)).not.toContain('<output>');
    }
  });

  it('put each observation after its own call, and tell the tool what was called before', async () => {
    const asked: CallRequest[] = [];
    const echo: RunCalls = (calls) => {
      asked.push(...calls);
      return Promise.resolve(calls.map(({ code }): PythonResult => ({ ok: true, output: `[${code}]`, truncated: false, seconds: 0 })));
    };
    const texts = (await writeDemonstrations(arithmetic, tokenizer, echo, 300, 160, 4, 0)).map(({ tokens }) => tokenizer.decode(tokens)).join('\n');
    const pairs = [...texts.matchAll(/<python>(.*?)<\/python><output>\[(.*?)\]<\/output>/g)];
    expect(pairs.length).toBeGreaterThan(100);
    for (const [, code, output] of pairs) expect(output).toBe(code);
    expect(texts.match(/<\/python>/g)).toHaveLength(pairs.length);
    const second = asked.filter(({ earlier }) => earlier.length === 1);
    expect(second.length).toBeGreaterThan(10);
    for (const call of second) {
      const first = asked.find(({ stream, earlier }) => stream === call.stream && earlier.length === 0);
      expect(call.earlier[0]).toMatchObject({ code: first?.code, output: `[${first?.code ?? ''}]` });
    }
  });

  it('compute with the numbers that earlier calls printed', async () => {
    // A sandbox of its own, in which every number looked up is 100 more than the one before.
    const shifted: RunCalls = (calls) => Promise.resolve(calls.map(({ code, earlier }): PythonResult => ({
      ok: true, output: code.startsWith("look('") && code.endsWith(')') ? String(500 + 100 * earlier.length) : 'x', truncated: false, seconds: 0,
    })));
    const texts = (await writeDemonstrations(arithmeticSteps, tokenizer, shifted, 600, 160, 4, 0)).map(({ tokens }) => tokenizer.decode(tokens));
    const two = texts.filter((text) => /^<bos>[a-z]{3}[-+*]\d\d<think>lookup: use code<\/think><python>look\('[a-z]{3}'\)<\/python><output>500<\/output><think>next/.test(text));
    const three = texts.filter((text) => /^<bos>[a-z]{3}[+*][a-z]{3}<think>pair: use code<\/think><python>look.*<think>next<\/think><python>look.*<think>next/.test(text));
    expect(two.length).toBeGreaterThan(10);
    expect(three.length).toBeGreaterThan(5);
    for (const text of two) expect(text).toContain(`500${text.slice(8, 11)}`);
    for (const text of three) expect(text).toMatch(/500[+*]600/);
  });

  it('mix what they should, in about the right shares', async () => {
    const texts = (await write(4000)).map(({ tokens }) => tokenizer.decode(tokens));
    const share = (test: (text: string) => boolean): number => texts.filter(test).length / texts.length;
    const direct = (2 * 0.65 + 0.45 + 1.5 * 0.35 + 1.5 * 0.3) / 6;
    expect(share((t) => !t.includes('<python>'))).toBeCloseTo(direct, 1);
    expect(share((t) => t.includes('fix it'))).toBeCloseTo((1 - direct) * (30 / 55) * 0.5, 1);
    expect(share((t) => !t.includes('<think>'))).toBeGreaterThan(0.02);
    expect(share((t) => !t.includes('</answer>'))).toBeGreaterThan(0.01);
  });

  it('are the same for the same seed, and keep to a length', async () => {
    expect(await write(50)).toEqual(await write(50));
    const short = await write(400, 60);
    expect(short.length).toBeLessThan(400);
    expect(Math.max(...short.map((d) => d.tokens.length))).toBeLessThanOrEqual(60);
  });
});

describe('the supervised loss', () => {
  it('is the mean over the tokens of the policy', async () => {
    const demonstrations = await write(8);
    const rows = supervisedRows(demonstrations);
    expect(rows.reduce((sum, row) => sum + row.weights.reduce((a, b) => a + b, 0), 0)).toBeCloseTo(1, 5);
    for (const [i, { weights }] of rows.entries()) {
      for (const [t, weight] of weights.entries()) expect(weight > 0).toBe(demonstrations[i]?.owner[t] === POLICY);
    }
  });

  it('has a learning rate that warms up and ends at its share', () => {
    const { learningRate, steps, finalShare, warmUpSteps } = DEFAULT_WARM_START;
    expect(learningRateAt(0, DEFAULT_WARM_START)).toBeCloseTo(learningRate / warmUpSteps);
    expect(learningRateAt(warmUpSteps, DEFAULT_WARM_START)).toBeCloseTo(learningRate);
    expect(learningRateAt(steps, DEFAULT_WARM_START)).toBeCloseTo(learningRate * finalShare);
  });
});
