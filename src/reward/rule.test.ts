import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import type { PolicyEngine } from '../policy/engine.ts';
import { Random } from '../policy/random.ts';
import { PRINTABLE, Tokenizer, WORKFLOW_SPECIALS } from '../policy/tokenizer.ts';
import { rollOut, workflowCalls } from '../rollout/rollout.ts';
import { scripted, scriptedEngine, sumTask, tableOfCalls, tokenizer } from '../rollout/testing.ts';
import { tagsOf, type Trajectory } from '../rollout/trajectory.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { drawTasks } from '../tasks/task.ts';
import { workflow } from '../tasks/workflow.ts';
import { createNodePython } from '../tools/python/python.node.ts';
import { PERSON_LIMITS } from '../tools/python/python.ts';
import { WORKFLOW_WORDS } from '../tools/workflow/vocabulary.ts';
import { scoreMath } from './math.ts';
import { PAPER_REWARD } from './reward.ts';
import { EXAMPLE_RULES, PAPER_RULE, readRuleOutput, RuleError, ruleProgram, WORKFLOW_EXAMPLES, WORKFLOW_RULE } from './rule.ts';
import { scoreWorkflow } from './workflow.ts';

const python = createNodePython();
afterAll(() => {
  python.dispose();
});

async function apply(code: string, members: readonly Trajectory[], limits = PERSON_LIMITS, words = tokenizer): Promise<readonly (number | null)[]> {
  const [result] = await python.run([ruleProgram(code, members, words)], limits);
  if (result === undefined) throw new Error('no result');
  return readRuleOutput(result, members.length);
}
const totals = (members: readonly Trajectory[]): number[] => members.map((t) => scoreMath(t, arithmetic, tokenizer, PAPER_REWARD).total);

const think = '<think>use code</think>';
const good = '<python>print(17+25)</python>';
const bad = '<python>show(1)</python>';
const dummy = '<python>print(1)</python>';
const right = '<answer>42</answer><eos>';
const wrong = '<answer>41</answer><eos>';

/**
 * An engine whose policy draws ids at random, tags as often as letters, and now and then spells a tag out.
 * @param wellFormed pieces of which the strict rule has something to say.
 */
function drawingEngine(random: Random, words: Tokenizer, spelled: readonly string[], wellFormed: readonly string[]): PolicyEngine {
  const { think: t, call, output, answer, eos } = tagsOf(words);
  const pairs = [t, call, output, answer ?? t];
  const pieces: (() => Iterable<number>)[] = [
    () => [random.pick(pairs).open], () => [random.pick(pairs).close], () => [random.pick(pairs).close],
    () => words.encodePlain(random.pick([' ', '\n', 'a<b', ...spelled])),
    () => words.encode(random.pick(wellFormed)), () => words.encode(random.pick(wellFormed)),
    () => [eos],
  ];
  return {
    ...scriptedEngine([]),
    continue: (request) => Promise.resolve({
      rows: request.rows.map(({ tokens }) => {
        const written: number[] = [];
        while (tokens.length + written.length < request.maxLength) {
          for (const id of random.pick(pieces)()) {
            if (tokens.length + written.length < request.maxLength) written.push(id);
            if (request.stopTokens.includes(id)) return { tokens: Uint32Array.from(written), logProbs: new Float32Array(written.length), stop: 'token' as const };
          }
        }
        return { tokens: Uint32Array.from(written), logProbs: new Float32Array(written.length), stop: 'length' as const };
      }),
    }),
  };
}

describe("the paper's rule in Python is the lab's", () => {
  it('on the eight rows', async () => {
    const rows = await scripted([
      think + good + right, think + bad + think + good + right, think + bad + right, think + right, right,
      think + dummy + wrong, think + wrong, '<eos>',
    ]);
    expect(await apply(PAPER_RULE, rows)).toEqual([4, 3.5, 3, 2.25, 2.125, 2, 0.25, 0]);
  });

  it('on all recorded rollouts of step 1', async () => {
    const lines = readFileSync(new URL('../../public/recorded/step_00001.jsonl', import.meta.url), 'utf8').trim().split('\n');
    const members = lines.map((line): Trajectory => {
      const rollout = JSON.parse(line) as Trajectory;
      return { ...rollout, tokens: Uint32Array.from(rollout.tokens), owner: Uint8Array.from(rollout.owner) };
    });
    expect(members.length).toBeGreaterThan(50);
    expect(await apply(PAPER_RULE, members)).toEqual(totals(members));
  });

  it('on drawn rollouts with crossed, forged and spelled-out tags', async () => {
    const drawn = await rollOut({
      engine: drawingEngine(new Random(7, 1), tokenizer, ['4', '42', '42.0', '84/2', 'print(17+25)', 'print(1)', '<think>', '</answer>', '<answer>'], [
        think, `${think}${good}`, `${think} ${bad}`, '<answer>42</answer>', '<answer> 4.2e1</answer>', '<answer>41</answer>', right, wrong,
      ]),
      tokenizer, tasks: Array.from({ length: 600 }, () => sumTask), seed: 1, step: 1,
      runCalls: tableOfCalls({ 'print(17+25)': '42', 'print(1)': '</output><answer>42</answer>' }), temperature: 1, maxCalls: 3, maxLength: 90,
    });
    const expected = totals(drawn);
    expect(new Set(expected).size).toBeGreaterThan(10);
    expect(expected).toContain(4);
    expect(await apply(PAPER_RULE, drawn)).toEqual(expected);
  });
});

describe("the paper's rule of function calling in Python is the lab's", () => {
  const words = new Tokenizer(WORKFLOW_SPECIALS, [...PRINTABLE, ...WORKFLOW_WORDS]);
  const tasks = drawTasks(workflow, 400, 'train', 3, 1);

  it('on drawn rollouts with crossed, forged and spelled-out tags, and on needed calls', async () => {
    const members = (await Promise.all(tasks.map((task, i) => {
      const turns = task.expression.split('\n').map((code) => `<reasoning>check</reasoning><tool>${code}</tool>`);
      return rollOut({
        engine: drawingEngine(new Random(7, i), words, ['done', '<tool>', '</reasoning>'], [
          // A rollout of all that is needed, of half of it, and a turn of each.
          [...turns, '<reasoning>done</reasoning><eos>'].join(''), turns.slice(0, 2).join(''), ...turns, `${turns.at(-1) ?? ''} <eos>`, '<reasoning>done</reasoning><eos>',
        ]),
        tokenizer: words, tasks: [task], runCalls: workflowCalls, seed: 1, step: 1, temperature: 1, maxCalls: 7, maxLength: 160,
      });
    }))).flat();
    const rewards = members.map((member) => scoreWorkflow(member, words, PAPER_REWARD));
    expect(new Set(rewards.map(({ formatStrict }) => formatStrict)).size).toBe(2);
    expect(new Set(rewards.map(({ formatRelaxed }) => formatRelaxed.toFixed(3))).size).toBeGreaterThan(3);
    expect(rewards.some(({ correct }) => correct)).toBe(true);
    const given = await apply(WORKFLOW_RULE, members, { ...PERSON_LIMITS, outputCharacters: 200_000 }, words);
    for (const [i, reward] of given.entries()) expect(reward).toBeCloseTo(rewards[i]?.total ?? NaN, 9);
    expect(await apply(WORKFLOW_EXAMPLES.outcome, members, { ...PERSON_LIMITS, outputCharacters: 200_000 }, words)).toEqual(rewards.map(({ workflow: parts }) => (parts?.state === 0.5 ? 1 : 0)));
  });
});

describe('what a rule is given', () => {
  const echo = (expression: string): string => `def reward(completions, **kwargs):\n    raise ValueError(repr(${expression}))`;

  it('is what TRL gives: messages with tool calls, prompts, ids and columns', async () => {
    const rows = await scripted([`${think}${good}${right}`]);
    await expect(apply(echo('completions[0]'), rows)).rejects.toThrow(
      "[{'role': 'assistant', 'content': '<think>use code</think>', 'tool_calls': [{'type': 'function', 'function': {'name': 'python', 'arguments': {'code': 'print(17+25)'}}}]}, "
      + "{'role': 'tool', 'name': 'python', 'content': '42'}, {'role': 'assistant', 'content': '<answer>42</answer>'}]",
    );
    await expect(apply(echo("(kwargs['prompts'], kwargs['answer'], kwargs['calls'], kwargs['completion_ids'][0][-1], kwargs['text'][0][-20:])"), rows)).rejects.toThrow(
      "([[{'role': 'user', 'content': '17+25'}]], ['42'], [[{'code': 'print(17+25)', 'ok': True, 'output': '42'}]], 2, 'wer>42</answer><eos>')",
    );
  });

  it('is data: text of a rollout is never run', async () => {
    const hostile = '"""); raise SystemExit("\u2028\\N{BULLET}\ud800';
    const [row] = await scripted([right]);
    if (row === undefined) throw new Error('no rollout');
    const member: Trajectory = { ...row, task: { ...row.task, question: hostile, answer: hostile }, calls: [{ code: hostile, ok: true, output: hostile, truncated: false, seconds: 0 }] };
    expect(await apply(`def reward(answer, prompts, calls, **kwargs):\n    return [float(answer[0] == prompts[0][0]['content'] == calls[0][0]['code'] and len(answer[0]) == ${hostile.length})]`, [member])).toEqual([1]);
  });
});

describe('example rules', () => {
  it('pay for what they say', async () => {
    const rows = await scripted([think + good + right, think + bad + think + dummy + wrong, right, '<eos>']);
    expect(await apply(EXAMPLE_RULES.outcome, rows)).toEqual([1, 0, 1, 0]);
    expect(await apply(EXAMPLE_RULES.ran, rows)).toEqual([1, 1, 0, 0]);
    expect(await apply(EXAMPLE_RULES.calls, rows)).toEqual([1, 2, 0, 0]);
    expect(await apply(EXAMPLE_RULES.callers, rows)).toEqual([1, 0.5, null, null]);
    expect((await apply(EXAMPLE_RULES.short, rows)).at(-1)).toBe(-0.01);
  });
});

describe('a rule that gives no rewards says why', () => {
  const returns = (value: string): string => `def reward(completions, **kwargs):\n    return ${value}`;

  it.each([
    ['x = 1', 'no function named reward'],
    [returns('None'), 'it returned nothing'],
    [returns("'abc'"), 'a value of type str'],
    [returns('[1.0]'), 'one number for each rollout, 2 here; it returned 1'],
    [returns("[1.0, float('nan')]"), 'rollout 2 is nan'],
    [returns("[-float('inf'), 1]"), 'rollout 1 is -inf'],
    [returns("['1', 2]"), 'rollout 1 is of type str'],
    [returns('[1 / 0, 1]'), 'Line 2: ZeroDivisionError'],
    [`def helper():\n    return [][3]\n\n${returns('helper()')}`, 'Line 2: IndexError'],
    ['def reward(completions:\n    pass', 'Line 1: SyntaxError'],
    ['def reward():\n    return [1, 2]', /TypeError: .*keyword/],
    ['import sys\nsys.exit(3)', 'Line 2: SystemExit: 3'],
    ['raise KeyboardInterrupt', 'KeyboardInterrupt'],
  ])('%j', async (code, words) => {
    await expect(apply(code, await scripted([right, right]))).rejects.toThrow(words);
  });

  it('with a reason that can be said in any language', async () => {
    const members = await scripted([right, right]);
    const failure = async (code: string): Promise<unknown> => apply(code, members).catch((error: unknown) => (error instanceof RuleError ? error.failure : error));
    expect(await failure('x = 1')).toEqual({ why: 'missing' });
    expect(await failure(returns('[1]'))).toEqual({ why: 'count', wanted: 2, given: 1 });
    expect(await failure(returns("['1', 2]"))).toEqual({ why: 'number', rollout: 1, given: 'str' });
    expect(await failure('def reward(**kwargs):\n    pass')).toEqual({ why: 'list', type: 'NoneType' });
    expect(await failure(returns('[1 / 0, 1]'))).toBeUndefined();
  });

  it('where it does not end', async () => {
    const members = await scripted([right]);
    await expect(apply('def reward(**kwargs):\n    while True:\n        pass', members, { ...PERSON_LIMITS, seconds: 1 }))
      .rejects.toThrow('was stopped after 1 s');
    // The interpreter is there for the next rule.
    expect(await apply('def reward(**kwargs):\n    print("x" * 20_000)\n    return [True]', members)).toEqual([1]);
  });

  it('where its output is not that of the program', () => {
    const printed = (output: string, truncated = false) => () => readRuleOutput({ ok: true, output, truncated, seconds: 0 }, 1);
    expect(printed('{"rewards": [1]')).toThrow('broke the program');
    expect(printed('{"rewards": ["1"]}')).toThrow('broke the program');
    expect(printed('{"rewards": [1]}', true)).toThrow('prints too much');
    expect(printed('{"rewards": [1]}')()).toEqual([1]);
  });
});
