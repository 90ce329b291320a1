import { describe, expect, it } from 'vitest';
import { PRINTABLE, Tokenizer, WORKFLOW_SPECIALS } from '../policy/tokenizer.ts';
import { tokenizer as mathTokenizer, scripted, scriptedEngine } from '../rollout/testing.ts';
import { rollOut, workflowCalls } from '../rollout/rollout.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { EXAMPLE_TRIP, formatCall, workflow as suite, workflowOf, workflowTask } from '../tasks/workflow.ts';
import { WORKFLOW_WORDS } from '../tools/workflow/vocabulary.ts';
import { PAPER_REWARD, type RewardParts } from './reward.ts';
import { mostOf, partsOf, scorerOf } from './score.ts';
import { scoreWorkflow, workflowFigures } from './workflow.ts';

const tokenizer = new Tokenizer(WORKFLOW_SPECIALS, [...PRINTABLE, ...WORKFLOW_WORDS]);
const trip = workflowTask(EXAMPLE_TRIP);
const { needed, goal, ...rest } = workflowOf(trip);
if (rest.domain !== 'travel') throw new Error('a trip');
const { database } = rest;

async function roll(script: string, task = trip): Promise<Trajectory> {
  const [t] = await rollOut({
    engine: scriptedEngine([script], tokenizer), tokenizer, runCalls: workflowCalls, tasks: [task],
    seed: 1, step: 1, temperature: 1, maxCalls: 7, maxLength: 400,
  });
  if (t === undefined) throw new Error('no trajectory');
  return t;
}
const score = async (script: string, task = trip, callCost = 0): Promise<RewardParts> => scoreWorkflow(await roll(script, task), tokenizer, { callCost });
/** state, functions, relaxed, strict, total. */
const row = (r: RewardParts): number[] => [r.workflow?.state, r.workflow?.functions, r.formatRelaxed, r.formatStrict, r.total].map((x) => Number((x ?? NaN).toFixed(6)));

const turn = (code: string): string => `<reasoning>go</reasoning><tool>${code}</tool>`;
const [searchFlights = '', bookFlight = '', searchHotels = '', bookHotel = '', rentCar = ''] = needed.map(formatCall).map(turn);
const soldOut = turn(`book_flight(id=${database.flights.find((f) => f.soldOut)?.id})`);
const otherHotel = turn(`book_hotel(id=${database.hotels.find((h) => h.city === 'Shanghai' && h.id !== goal['hotel'])?.id}, nights=3)`);
const end = '<reasoning>done</reasoning><eos>';

describe("the paper's rule of function calling", () => {
  it.each([
    ['all that is needed', searchFlights + bookFlight + searchHotels + bookHotel + rentCar + end, [0.5, 0.5, 0.1, 0.1, 1.2], true],
    ['without closing words', searchFlights + bookFlight + searchHotels + bookHotel + `${rentCar}<eos>`, [0.5, 0.5, 0.1, 0.1, 1.2], true],
    ['a flight sold out on the way, and a search more', searchFlights + soldOut + searchFlights + bookFlight + searchHotels + bookHotel + rentCar + end, [0.5, 0.5, 0.1, 0.1, 1.2], true],
    ['right bookings, no search', bookFlight + bookHotel + rentCar + end, [0.5, 0.3, 0.1, 0.1, 1], true],
    // Of flight, hotel, nights and car all but the hotel; of five calls all but its booking.
    ['another hotel', searchFlights + bookFlight + searchHotels + otherHotel + rentCar + end, [0.375, 0.4, 0.1, 0.1, 0.975], false],
    ['no car', searchFlights + bookFlight + searchHotels + bookHotel + end, [0.375, 0.4, 0.1, 0.1, 0.975], false],
    ['gives up after the flight that was sold out', searchFlights + soldOut + end, [0, 0.1, 0.1, 0.1, 0.3], false],
    ['only words', end, [0, 0, 0.05, 0, 0.05], false],
    ['nothing', '<eos>', [0, 0, 0, 0, 0], false],
  ])('%s', async (_, script, expected, correct) => {
    const reward = await score(script);
    expect(row(reward)).toEqual(expected);
    expect(reward.correct).toBe(correct);
  });

  it('pays a needed call once, and only where it ran', async () => {
    expect((await score(searchFlights + searchFlights + searchFlights + end)).workflow).toMatchObject({ functionsMatched: 1, functionsNeeded: 5 });
    expect((await score(bookHotel + rentCar + end)).workflow?.functionsMatched).toBe(0);
  });

  it('takes arguments in another order and spelling for the same call', async () => {
    const reordered = turn('search_flights( by=price,day=5, to=Shanghai, from=Beijing )');
    expect((await score(reordered + end)).workflow?.functionsMatched).toBe(1);
  });

  it('pays nothing in full for doing nothing where nothing can be done, but for what had to be looked up', async () => {
    const task = Array.from({ length: 900 }, (_, i) => workflowTask(`customer ${100 + i} lamp: refund`)).find(({ expression }) => expression.split('\n').length === 2);
    if (task === undefined) throw new Error('no hopeless request');
    const reward = await score(end, task);
    expect([reward.correct, row(reward)]).toEqual([true, [0.5, 0, 0.05, 0, 0.55]]);
    const [find = '', check = ''] = task.expression.split('\n').map(turn);
    expect((await score(find + check + end, task)).total).toBeCloseTo(1.2);
    // A refund that the policy refuses changes nothing; an order of someone else's that is sent back does.
    const workflow = workflowOf(task);
    if (workflow.domain !== 'retail') throw new Error('a return');
    const other = workflow.database.orders.find((o) => o.policy.startsWith('refund') && o.item !== 'lamp');
    if (other !== undefined) expect((await score(turn(`refund(order=${other.id})`) + end, task)).workflow?.state).toBe(0);
  });

  it('takes off what calls cost', async () => {
    const reward = await score(searchFlights + bookFlight + end, trip, 0.02);
    expect(reward.callCost).toBeCloseTo(-0.04);
    expect(reward.total).toBeCloseTo(0.125 + 0.2 + 0.2 - 0.04);
  });
});

describe('the format of function calling', () => {
  const found = '<tool>search_hotels(city=Wuhan, by=price)</tool>';

  it('counts each tag of the policy, a closing one where it closes something', async () => {
    expect((await score(`${found}<eos>`)).formatRelaxed).toBeCloseTo(0.05);
    expect((await score(`<reasoning>go${found}<eos>`)).formatRelaxed).toBeCloseTo(0.075);
    expect((await score(`go</reasoning>${found}<eos>`)).formatRelaxed).toBeCloseTo(0.05);
    expect((await score('<reasoning>go<eos>')).formatRelaxed).toBeCloseTo(0.025);
  });

  it('is strict: reasoning, tool and tool_result, once or more, reasoning or none, and nothing else', async () => {
    const strict = async (script: string): Promise<number> => (await score(script)).formatStrict;
    expect(await strict(`<reasoning>go</reasoning>${found}<eos>`)).toBe(0.1);
    expect(await strict(`${found}<eos>`)).toBe(0);
    expect(await strict(`<reasoning>go</reasoning>${found}${found}<eos>`)).toBe(0);
    expect(await strict(`<reasoning>go</reasoning>${found}go<eos>`)).toBe(0);
    expect(await strict(`<reasoning>go</reasoning>${found}${end.replace('<eos>', '')}${end}`)).toBe(0);
    expect(await strict(`<reasoning>go</reasoning>${found}<tool_result>booked</tool_result><eos>`)).toBe(0);
  });

  it('does not excuse the call that ended the rollout', async () => {
    const t = await roll(`<reasoning>go</reasoning>${found}`.repeat(8));
    expect([t.stop, t.calls.length]).toEqual(['calls', 7]);
    expect(scoreWorkflow(t, tokenizer, { callCost: 0 }).formatStrict).toBe(0);
  });

  it('has the kinds of spans that a math rollout has', async () => {
    const t = await roll(`<reasoning>go</reasoning>${found}${end}`);
    expect(t.spans.map((s) => s.kind)).toEqual(['prompt', 'think', 'call', 'output', 'think', 'stray']);
    expect(tokenizer.decode(t.tokens)).toContain('<tool_result>no hotels</tool_result>');
  });
});

describe('parts of either rule', () => {
  it('add up to the total, and to the most', async () => {
    const math = async (script: string, noCall: 'paper' | 'excluded' | 'full'): Promise<RewardParts> => {
      const [t] = await scripted([script]);
      if (t === undefined) throw new Error('no trajectory');
      return scorerOf(arithmetic, mathTokenizer, { noCall, callCost: 0.1 })(t);
    };
    const rewards = [
      await score(searchFlights + soldOut + end, trip, 0.02), await score(`${searchFlights}<eos>`),
      await math('<think>a</think><python>print(1)</python><answer>42</answer><eos>', 'paper'),
      await math('<think>a</think><answer>42</answer><eos>', 'excluded'), await math('<answer>42</answer><eos>', 'full'),
    ];
    for (const reward of rewards) {
      const parts = partsOf(reward);
      expect(parts.reduce((sum, part) => sum + part.value, 0)).toBeCloseTo(reward.total);
      expect(parts.reduce((sum, part) => sum + part.most, 0)).toBeCloseTo(mostOf(reward));
    }
    expect(rewards.map(mostOf)).toEqual([1.2, 1.2, 4, 4, 4]);
    expect(partsOf(rewards[0] as RewardParts).map(({ name }) => name)).toEqual(['state', 'functions', 'formatRelaxed', 'formatStrict', 'callCost']);
  });

  it('come from the rule that the tags ask for', async () => {
    const t = await roll(searchFlights + end);
    expect(scorerOf(suite, tokenizer, PAPER_REWARD)(t)).toEqual(scoreWorkflow(t, tokenizer, PAPER_REWARD));
  });
});

describe('figures of some rollouts', () => {
  it('count tasks and calls', async () => {
    const scored = await Promise.all([searchFlights + bookFlight + searchHotels + bookHotel + rentCar + end, searchFlights + soldOut + end].map(async (script) => {
      const trajectory = await roll(script);
      return { trajectory, reward: scoreWorkflow(trajectory, tokenizer, { callCost: 0 }) };
    }));
    expect(workflowFigures(scored)).toMatchObject({
      rollouts: 2, completed: 1, correctCalls: 6, neededCalls: 10, calls: 7, failedCalls: 1, callsPerCompleted: 7, callsWhereCompleted: 5,
    });
    expect(workflowFigures(scored.slice(1))).toMatchObject({ completed: 0, callsPerCompleted: null, callsWhereCompleted: null });
  });
});
