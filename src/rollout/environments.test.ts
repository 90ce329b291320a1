import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { arithmeticSteps } from '../tasks/arithmetic.ts';
import { keysOf, nextCall } from '../tasks/lookup.ts';
import { drawTasks } from '../tasks/task.ts';
import { createNodePython } from '../tools/python/python.node.ts';
import { TOY_LIMITS, type Python } from '../tools/python/python.ts';
import { environment, FLAKY_SHARE, TERSE_CHARACTERS, TOOLS } from './environments.ts';
import type { CallRequest, RunCalls } from './rollout.ts';
import { sumTask, tableOfCalls } from './testing.ts';

const answers: RunCalls = tableOfCalls({ 'print(17+25)': '42' });
const request = (stream: number, earlier = 0, step = 1, seed = 1, code = 'print(17+25)'): CallRequest => ({
  code, task: sumTask, seed, step, stream,
  earlier: Array.from({ length: earlier }, () => ({ code, ok: true, output: '42', truncated: false, seconds: 0 })),
});
const requests = fc.array(
  fc.record({ stream: fc.nat(500), earlier: fc.nat(2), step: fc.nat(50), seed: fc.nat(0xffffffff) }).map(({ stream, earlier, step, seed }) => request(stream, earlier, step, seed)),
  { maxLength: 12 },
);

describe('every variant of a tool', () => {
  it.each(Object.entries(TOOLS))('%s: the same key gives the same answer, whatever else is in the batch', async (_, variant) => {
    const run = variant(answers, TOY_LIMITS);
    await fc.assert(
      fc.asyncProperty(requests, async (calls) => {
        const together = await run(calls);
        expect(together).toHaveLength(calls.length);
        for (const [i, call] of calls.entries()) expect(await run([call])).toEqual([together[i]]);
      }),
    );
  });
});

describe('a chatty tool', () => {
  const run = TOOLS.chatty(answers, TOY_LIMITS);

  it('appends sixteen letters that depend on every part of the key', async () => {
    const keys = [request(0), request(1), request(0, 1), request(0, 0, 2), request(0, 0, 1, 2)];
    const outputs = (await run(keys)).map(({ output }) => output);
    for (const output of outputs) expect(output).toMatch(/^42 [a-z]{16}$/);
    expect(new Set(outputs).size).toBe(keys.length);
  });

  it('uses the whole alphabet, evenly', async () => {
    const outputs = await run(Array.from({ length: 1000 }, (_, i) => request(i)));
    const letters = outputs.map(({ output }) => output.slice(3)).join('');
    for (const letter of 'abcdefghijklmnopqrstuvwxyz') {
      const count = letters.split(letter).length - 1;
      // Five standard deviations of a binomial.
      expect(Math.abs(count - 16_000 / 26)).toBeLessThan(5 * Math.sqrt((16_000 / 26) * (25 / 26)));
    }
  });

  it('keeps to the limit of an output, and to the fact of failure', async () => {
    const [result] = await run([request(0, 0, 1, 1, 'show(1)')]);
    expect(result).toMatchObject({ ok: false, truncated: true });
    expect(result?.output).toMatch(/^NameError: name 'show' is not defined [a-z]{2}$/);
    expect(result?.output).toHaveLength(TOY_LIMITS.outputCharacters);
  });
});

describe('a terse tool', () => {
  it('leaves room for every answer, and cuts errors', async () => {
    const tasks = drawTasks(arithmeticSteps, 2000, 'train', 4, 9);
    expect(Math.max(...tasks.map(({ answer }) => answer.length))).toBeLessThanOrEqual(TERSE_CHARACTERS);
    const [result, error] = await TOOLS.terse(answers, TOY_LIMITS)([request(0), request(1, 0, 1, 1, 'show(1)')]);
    expect(result).toMatchObject({ ok: true, output: '42', truncated: false });
    expect(error).toMatchObject({ ok: false, output: 'NameErro', truncated: true });
  });
});

describe('a failing tool', () => {
  it('fails its share of first calls, and no later ones', async () => {
    const run = TOOLS.flaky(answers, TOY_LIMITS);
    const failed = async (earlier: number): Promise<number> =>
      (await run(Array.from({ length: 2000 }, (_, i) => request(i, earlier)))).filter(({ ok }) => !ok).length;
    expect(Math.abs((await failed(0)) - 2000 * FLAKY_SHARE)).toBeLessThan(5 * Math.sqrt(2000 * FLAKY_SHARE * (1 - FLAKY_SHARE)));
    expect(await failed(1)).toBe(0);
  });
});

describe('the sandbox of a suite', () => {
  let python: Python;
  beforeAll(() => { python = createNodePython(); });
  afterAll(() => { python.dispose(); });

  it('as a probe fails every first call whatever it is, in the words of Python, and no later one', async () => {
    const run = environment(python, TOY_LIMITS, 'plain', true);
    const codes = ['print(17+25)', '17+25 # a comment', 'x = 1', '', '1)', '"', 'if 1:\n  pass', 'print(1)\\'];
    const first = await run(codes.map((code, i) => request(i, 0, 1, 1, code)));
    expect(first.map(({ ok, error }) => [ok, error?.type])).toEqual(codes.map(() => [false, 'SyntaxError']));
    expect(first[0]?.output).toBe("SyntaxError: '(' was never closed");
    expect(await run([request(0, 1)])).toMatchObject([{ ok: true, output: '42' }]);
  });

  it('defines look, which prints a number and returns nothing', async () => {
    const [task] = drawTasks(arithmeticSteps, 1, 'train', 1, 1, [5]);
    if (task === undefined) throw new Error('no task');
    const key = task.question.slice(0, 3);
    const run = environment(python, TOY_LIMITS);
    const call = (code: string, of = task): CallRequest => ({ ...request(0, 0, 1, 1, code), task: of });
    const outputs = (await run([
      call(`look('${key}')`), call(`x = look('${key}'); print(x)`), call(`print(look('${key}')+1)`), call("look('???')"), call(`look('${key}')`, sumTask),
    ])).map(({ output }) => output);
    expect(outputs[0]).toMatch(/^\d{3}$/);
    expect(outputs.slice(1)).toEqual([
      `${outputs[0] ?? ''}\nNone`, 'TypeError: unsupported operand type(s) f', "KeyError: '???'", "NameError: name 'look' is not defined",
    ]);
  });

  it('computes the answer of every tier from its expression', async () => {
    const tasks = drawTasks(arithmeticSteps, 250, 'held-out', 3, 9);
    const results = await environment(python, TOY_LIMITS)(tasks.map((task) => ({ ...request(0, 0, 1, 1, `print(${task.expression})`), task })));
    expect(results.map(({ output }) => output)).toEqual(tasks.map((task) => task.answer));
  });

  it('answers a lookup turn by turn: in two calls for one number, in three for two', async () => {
    const run = environment(python, TOY_LIMITS);
    const attempts = drawTasks(arithmeticSteps, 60, 'held-out', 3, 9, [5]).map((task) => ({ task, printed: [] as string[] }));
    for (let turn = 0; turn < 3; turn++) {
      const asking = attempts.filter(({ task }) => turn <= keysOf(task).length);
      const results = await run(asking.map(({ task, printed }) => ({ ...request(0, turn, 1, 1, nextCall(task, printed)), task })));
      for (const [i, { printed }] of asking.entries()) printed.push(results[i]?.output ?? '');
    }
    expect(attempts.map(({ printed }) => printed.at(-1))).toEqual(attempts.map(({ task }) => task.answer));
    expect(new Set(attempts.map(({ printed }) => printed.length))).toEqual(new Set([2, 3]));
  });
});
