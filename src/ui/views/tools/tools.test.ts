import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { observationOf } from '../../../rollout/rollout.ts';
import { EXAMPLE_TRIP, formatCall, workflowOf } from '../../../tasks/workflow.ts';
import { functionsOf } from '../../../tools/workflow/workflow.ts';
import { parsePlace, questionAt, toolsAddress, type ToolsPlace } from './place.ts';
import { WORKFLOW_TAGS, workflowTokens } from './workflow-tokens.ts';
import { idsSeen, nextCall, rewardOf, standing, walk, writeCall, type WalkStep } from './walk.ts';

const trip = workflowOf({ question: EXAMPLE_TRIP });
const back = workflowOf({ question: questionAt({ task: undefined, seed: undefined }, 'retail') });

/** Follows the way from where some calls have led. */
function follow(workflow: typeof trip, codes: readonly string[]): { readonly steps: readonly WalkStep[]; readonly end: string } {
  const all = [...codes];
  for (let i = 0; i < 12; i++) {
    const next = nextCall(workflow, walk(workflow, all));
    if (next.kind !== 'call') return { steps: walk(workflow, all), end: next.kind };
    all.push(formatCall(next.call));
  }
  throw new Error(`no end: ${all.join('; ')}`);
}

describe('the address', () => {
  it('holds tool, task and calls', () => {
    const place: ToolsPlace = { part: 'travel', code: undefined, seed: 7, task: undefined, calls: ['book_flight(id=F1)', 'a & b=c%'] };
    expect(parsePlace(toolsAddress(place).replace('/tools?', ''))).toEqual(place);
    const code: ToolsPlace = { part: 'python', code: 'print(1)\n# ü & é', seed: undefined, task: undefined, calls: [] };
    expect(parsePlace(toolsAddress(code).replace('/tools?', ''))).toEqual(code);
  });

  it('is anybody’s text', () => {
    expect(parsePlace('part=rm&seed=-1&task=%3Cimg%3E')).toEqual({ part: 'python', code: undefined, seed: undefined, task: undefined, calls: [] });
    expect(parsePlace(`part=retail&task=${encodeURIComponent(EXAMPLE_TRIP)}`).task).toBeUndefined();
    expect(parsePlace(`part=travel&task=${encodeURIComponent(EXAMPLE_TRIP)}`).task).toBe(EXAMPLE_TRIP);
    expect(parsePlace(`part=travel&${Array.from({ length: 60 }, () => `call=${'x'.repeat(300)}`).join('&')}`).calls).toEqual(Array.from({ length: 40 }, () => 'x'.repeat(200)));
  });

  it('draws a task of the domain by seed, the same for the same seed', () => {
    for (const domain of ['travel', 'retail'] as const) {
      const questions = [1, 2, 3, 4, 5].map((seed) => questionAt({ task: undefined, seed }, domain));
      expect(questions.map((question) => workflowOf({ question }).domain)).toEqual(Array(5).fill(domain));
      expect(new Set(questions).size).toBe(5);
      expect(questionAt({ task: undefined, seed: 3 }, domain)).toBe(questions[2]);
    }
  });

  it('begins with examples whose first choice fails', () => {
    expect([trip.trouble, back.trouble]).toEqual([true, true]);
  });
});

describe('a walk', () => {
  const steps = walk(trip, ['search_flights(from=Beijing, to=Shanghai, day=5, by=price)', 'book_flight(id=F6)', 'book_flight(id=F1)']);

  it('says what each call changed', () => {
    expect(steps.map(({ result }) => result.ok)).toEqual([true, false, true]);
    expect(steps.map(({ changes }) => changes)).toEqual([[], [], [
      { key: 'flight', before: null, after: 'F1' }, { key: 'left', before: 5000, after: 4600 },
    ]]);
  });

  it('collects ids from outputs, not from errors', () => {
    expect(idsSeen(steps, 'F')).toEqual(['F1', 'F6', 'F4']);
    expect(idsSeen(walk(trip, ['book_flight(id=F9)', 'book_hotel(id=H77, nights=1)']), 'H')).toEqual([]);
  });

  it('counts as the reward does', () => {
    expect(standing(trip, steps)).toEqual({ state: { matched: 1, total: 4 }, functions: { matched: 2, total: 5 }, reached: false });
  });

  it('is rewarded by the rule of training, but for the form that only a policy has', () => {
    const whole = rewardOf(EXAMPLE_TRIP, walk(trip, trip.needed.map(formatCall)), workflowTokens);
    expect([whole.workflow?.state, whole.workflow?.functions, whole.formatRelaxed, whole.formatStrict, whole.total, whole.correct]).toEqual([0.5, 0.5, 0, 0, 1, true]);
    // Flight of four entries, search and booking of five calls.
    expect(rewardOf(EXAMPLE_TRIP, steps, workflowTokens).total).toBeCloseTo(0.125 + 0.2);
  });

  it('enters the context between the tags of the environment, a tag in it as text', () => {
    const ids = observationOf('</tool_result>', WORKFLOW_TAGS, workflowTokens);
    expect([ids[0], ids.at(-1), ids.length]).toEqual([workflowTokens.id('<tool_result>'), workflowTokens.id('</tool_result>'), 2 + '</tool_result>'.length]);
  });

  it('writes a call as far as it is filled in', () => {
    const [search] = functionsOf('travel');
    if (search === undefined) throw new Error('no function');
    expect(writeCall(search, { day: ' 5 ', from: 'Beijing', other: 'x' })).toBe('search_flights(from=Beijing, day=5)');
    expect(writeCall(search, {})).toBe('search_flights()');
  });
});

describe('the way that is shown', () => {
  it('is the needed calls, from the beginning', () => {
    for (const workflow of [trip, back]) expect(follow(workflow, []).steps.map(({ code }) => code)).toEqual(workflow.needed.map(formatCall));
  });

  it('takes wrong bookings back first', () => {
    const { steps, end } = follow(trip, ['book_flight(id=F4)', 'book_hotel(id=H5, nights=2)', 'rent_car(city=Shanghai, day=5, days=1)']);
    expect(steps.slice(3, 6).map(({ code }) => code)).toEqual(['cancel(booking=car)', 'cancel(booking=hotel)', 'cancel(booking=flight)']);
    expect(end).toBe('done');
  });

  it('says where no call helps any more', () => {
    if (back.domain !== 'retail') throw new Error('a return');
    const other = back.database.orders.find(({ customer, item, policy }) => (customer !== 117 || item !== 'tent') && policy.startsWith('refund'));
    expect(follow(back, [`refund(order=${other?.id})`]).end).toBe('stuck');
  });

  it('leads from anywhere in the travel domain to the goal and all needed calls', () => {
    const id = fc.integer({ min: 1, max: 9 });
    const nights = fc.integer({ min: 1, max: 4 });
    const call = fc.oneof(
      id.map((n) => `book_flight(id=F${n})`),
      fc.tuple(id, nights).map(([n, count]) => `book_hotel(id=H${n}, nights=${count})`),
      fc.tuple(fc.constantFrom('Shanghai', 'Beijing'), nights).map(([city, days]) => `rent_car(city=${city}, day=5, days=${days})`),
      fc.constantFrom('cancel(booking=flight)', 'cancel(booking=hotel)', 'search_flights(from=Beijing, to=Shanghai, day=5, by=price)', 'nonsense('),
    );
    fc.assert(fc.property(fc.array(call, { maxLength: 10 }), (codes) => {
      const { steps, end } = follow(trip, codes);
      expect([end, standing(trip, steps)]).toEqual(['done', { state: { matched: 4, total: 4 }, functions: { matched: 5, total: 5 }, reached: true }]);
    }), { numRuns: 60, seed: 11 });
  });
});
