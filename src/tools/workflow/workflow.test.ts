import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COLOURS, EXAMPLE_TRIP, formatCall, retailQuestion, travelQuestion, workflow as suite, workflowOf, workflowTask,
  type Order, type RetailDatabase, type State, type TravelDatabase, type Workflow,
} from '../../tasks/workflow.ts';
import { drawDifferentTasks } from '../../tasks/task.ts';
import { ERROR_TYPES, functionSchema, runCall, type ErrorType } from './functions.ts';
import { RETAIL_FUNCTIONS } from './retail.ts';
import { TRAVEL_FUNCTIONS } from './travel.ts';
import { answerCall, beginState, callFunction, callIn, difference, functionsOf, reachesGoal, replay, stateMatch, toolSchemas } from './workflow.ts';

const travel: TravelDatabase = {
  budget: 2000,
  flights: [
    { id: 'F1', from: 'Beijing', to: 'Shanghai', day: 4, hour: 8, price: 600, soldOut: false },
    { id: 'F2', from: 'Beijing', to: 'Shanghai', day: 4, hour: 6, price: 400, soldOut: true },
    { id: 'F3', from: 'Beijing', to: 'Shanghai', day: 4, hour: 9, price: 2100, soldOut: false },
    { id: 'F4', from: 'Beijing', to: 'Lhasa', day: 4, hour: 9, price: 500, soldOut: false },
  ],
  hotels: [
    { id: 'H1', city: 'Shanghai', stars: 3, price: 300 },
    { id: 'H2', city: 'Shanghai', stars: 5, price: 800 },
    { id: 'H3', city: 'Lhasa', stars: 4, price: 100 },
  ],
  carPrice: 200,
};
const order = (id: string, policy: Order['policy'], stock: Order['stock'] = ['red']): Order => ({ id, customer: 417, item: 'lamp', policy, stock });
const retail: RetailDatabase = {
  orders: [order('O1', 'refund or exchange'), order('O2', 'refund only'), order('O3', 'exchange only'), order('O4', 'final sale')],
};

/** Runs a sequence on one of the databases above; the last outcome, and the state after it. */
function run(domain: 'travel' | 'retail', codes: readonly string[]): { output: string; error: ErrorType | undefined; state: State } {
  let state = domain === 'travel'
    ? { flight: null, hotel: null, nights: null, car_days: null, left: travel.budget } as State
    : Object.fromEntries(retail.orders.map(({ id }) => [id, 'delivered'])) as State;
  let output = '';
  let error: ErrorType | undefined;
  for (const code of codes) {
    const outcome = domain === 'travel' ? runCall(TRAVEL_FUNCTIONS, travel, state, code) : runCall(RETAIL_FUNCTIONS, retail, state, code);
    error = outcome.ok ? undefined : outcome.error.type;
    output = outcome.ok ? outcome.output : outcome.error.message;
    if (outcome.ok) state = outcome.state;
  }
  return { output, error, state };
}

describe('a trip, worked by hand', () => {
  it('carries ids from one output to the next call, and the budget through all', () => {
    const codes = ['search_flights(from=Beijing, to=Shanghai, day=4, by=price)', 'book_flight(id=F1)', 'search_hotels(city=Shanghai, by=stars)', 'book_hotel(id=H1, nights=2)', 'rent_car(city=Shanghai, day=4, days=3)'];
    const outputs = codes.map((_, i) => run('travel', codes.slice(0, i + 1)).output);
    expect(outputs).toEqual([
      'flights 600:F1 400:F2 2100:F3', 'booked, left 1400', 'hotels 3*:H1 5*:H2', 'booked, left 800', 'rented, left 200',
    ]);
    expect(run('travel', codes).state).toEqual({ flight: 'F1', hotel: 'H1', nights: 2, car_days: 3, left: 200 });
  });

  it('lists what offers are to be compared by', () => {
    expect(run('travel', ['search_flights(from=Beijing, to=Shanghai, day=4, by=hour)']).output).toBe('flights 8h:F1 6h:F2 9h:F3');
    expect(run('travel', ['search_hotels(city=Shanghai, by=price)']).output).toBe('hotels 300:H1 800:H2');
  });

  it('says where there is nothing', () => {
    expect(run('travel', ['search_flights(from=Shanghai, to=Beijing, day=4, by=hour)']).output).toBe('no flights');
    expect(run('travel', ['search_hotels(city=Wuhan, by=price)']).output).toBe('no hotels');
  });

  it('takes back what is cancelled', () => {
    const booked = ['book_flight(id=F1)', 'book_hotel(id=H1, nights=2)', 'rent_car(city=Shanghai, day=4, days=1)'];
    const cancelled = [...booked, 'cancel(booking=car)', 'cancel(booking=hotel)', 'cancel(booking=flight)'];
    expect(run('travel', cancelled)).toMatchObject({ output: 'cancelled, left 2000', state: { flight: null, hotel: null, nights: null, car_days: null, left: 2000 } });
  });

  it('goes on after a failure', () => {
    expect(run('travel', ['book_flight(id=F2)', 'book_flight(id=F1)']).output).toBe('booked, left 1400');
  });
});

describe('a return, worked by hand', () => {
  it('refunds or exchanges what the policy allows', () => {
    expect(run('retail', ['find_order(customer=417)']).output).toBe('orders lamp:O1 lamp:O2 lamp:O3 lamp:O4');
    expect(run('retail', ['check_policy(order=O3)']).output).toBe('exchange only');
    expect(run('retail', ['refund(order=O2)', 'exchange(order=O1, colour=red)']).state).toEqual({
      O1: 'exchanged for red', O2: 'refunded', O3: 'delivered', O4: 'delivered',
    });
  });
});

const flown = 'book_flight(id=F1)';
const FAILURES: readonly (readonly ['travel' | 'retail', readonly string[], ErrorType, string])[] = [
  ['travel', [''], 'NotACall', 'write name(argument=value)'],
  ['travel', ['book_flight F1'], 'NotACall', 'write name(argument=value)'],
  ['travel', ['book_flight(F1)'], 'NotACall', 'write name(argument=value)'],
  ['travel', ['book_flight(id=F1'], 'NotACall', 'write name(argument=value)'],
  ['travel', ['book_flight((id=F1))'], 'NotACall', 'write name(argument=value)'],
  ['travel', ['refund(order=O1)'], 'UnknownFunction', 'no function refund'],
  ['travel', ['constructor()'], 'UnknownFunction', 'no function constructor'],
  ['travel', ['book_the_first_flight_there_is()'], 'UnknownFunction', 'no function book_the_first_fligh...'],
  ['travel', ['book_flight()'], 'MissingArgument', 'argument id is missing'],
  ['travel', ['search_flights(from=Beijing, day=4, by=price)'], 'MissingArgument', 'argument to is missing'],
  ['travel', ['book_flight(id=F1, seat=4)'], 'UnknownArgument', 'no argument seat'],
  ['travel', ['book_flight(id=F1, __proto__=4)'], 'UnknownArgument', 'no argument __proto__'],
  ['travel', ['book_flight(id=F1, id=F2)'], 'RepeatedArgument', 'argument id twice'],
  ['travel', ['book_flight(id=1)'], 'BadArgument', 'id must be like F3'],
  ['travel', ['book_flight(id=H1)'], 'BadArgument', 'id must be like F3'],
  ['travel', ['search_hotels(city=Paris, by=price)'], 'BadArgument', 'city must be one of Beijing, Shanghai, Chengdu, Harbin, Kunming, Lhasa, Nanjing, Suzhou, Wuhan, Xiamen'],
  ['travel', ['search_hotels(city=Lhasa, by=hour)'], 'BadArgument', 'by must be one of price, stars'],
  ['travel', ['book_hotel(id=H1, nights=0)'], 'BadArgument', 'nights must be 1 to 14'],
  ['travel', ['book_hotel(id=H1, nights=2.5)'], 'BadArgument', 'nights must be 1 to 14'],
  ['travel', ['book_flight(id=F9)'], 'NotFound', 'no flight F9'],
  ['travel', [flown, 'book_hotel(id=H9, nights=2)'], 'NotFound', 'no hotel H9'],
  ['travel', ['book_flight(id=F2)'], 'SoldOut', 'F2 is sold out'],
  ['travel', ['book_flight(id=F3)'], 'OverBudget', 'F3 is over budget'],
  ['travel', [flown, 'book_hotel(id=H2, nights=2)'], 'OverBudget', 'H2 is over budget'],
  ['travel', [flown, 'rent_car(city=Shanghai, day=4, days=8)'], 'OverBudget', 'the car is over budget'],
  ['travel', [flown, 'rent_car(city=Shanghai, day=5, days=1)'], 'WrongDates', 'you arrive on day 4'],
  ['travel', [flown, 'rent_car(city=Lhasa, day=4, days=1)'], 'WrongCity', 'you fly to Shanghai'],
  ['travel', [flown, 'book_hotel(id=H3, nights=1)'], 'WrongCity', 'H3 is not in Shanghai'],
  ['travel', [flown, flown], 'AlreadyBooked', 'a flight is booked already'],
  ['travel', [flown, 'book_hotel(id=H1, nights=1)', 'book_hotel(id=H1, nights=1)'], 'AlreadyBooked', 'a hotel is booked already'],
  ['travel', [flown, 'rent_car(city=Shanghai, day=4, days=1)', 'rent_car(city=Shanghai, day=4, days=1)'], 'AlreadyBooked', 'a car is rented already'],
  ['travel', ['book_hotel(id=H1, nights=1)'], 'NotBooked', 'book a flight first'],
  ['travel', ['rent_car(city=Shanghai, day=4, days=1)'], 'NotBooked', 'book a flight first'],
  ['travel', ['cancel(booking=flight)'], 'NotBooked', 'no flight is booked'],
  ['travel', [flown, 'cancel(booking=hotel)'], 'NotBooked', 'no hotel is booked'],
  ['travel', [flown, 'rent_car(city=Shanghai, day=4, days=1)', 'cancel(booking=flight)'], 'InUse', 'cancel hotel and car first'],
  ['retail', ['find_order(customer=418)'], 'NotFound', 'no customer 418'],
  ['retail', ['check_policy(order=O9)'], 'NotFound', 'no order O9'],
  ['retail', ['refund(order=O9)'], 'NotFound', 'no order O9'],
  ['retail', ['refund(order=O3)'], 'NotRefundable', 'O3 is not refundable'],
  ['retail', ['exchange(order=O4, colour=red)'], 'NotExchangeable', 'O4 is not exchangeable'],
  ['retail', ['exchange(order=O1, colour=blue)'], 'OutOfStock', 'blue is out of stock'],
  ['retail', ['exchange(order=O1, colour=pink)'], 'BadArgument', 'colour must be one of red, blue, green, black'],
  ['retail', ['refund(order=O1)', 'exchange(order=O1, colour=red)'], 'AlreadyReturned', 'O1 is refunded already'],
];

describe('failures', () => {
  it.each(FAILURES)('%s %j: %s, "%s"', (domain, codes, type, message) => {
    const { error, output, state } = run(domain, codes);
    expect([error, output]).toEqual([type, message]);
    expect(state).toEqual(run(domain, codes.slice(0, -1)).state);
  });

  it('are all covered above', () => {
    expect(new Set(FAILURES.map(([, , type]) => type))).toEqual(new Set(ERROR_TYPES));
  });
});

describe('tasks', () => {
  const tasks = drawDifferentTasks(suite, 512, 'held-out', 1, 2);

  it('are reached by the calls that they need, each of which runs', () => {
    for (const task of [...tasks, workflowTask(EXAMPLE_TRIP)]) {
      const workflow = workflowOf(task);
      let state = beginState(workflow);
      for (const call of workflow.needed) {
        const result = callFunction(workflow, state, formatCall(call));
        expect(result.error).toBeUndefined();
        expect(callIn(workflow.domain, formatCall(call))).toBe(formatCall(call));
        state = result.state;
      }
      expect(reachesGoal(workflow, state)).toBe(true);
      expect(stateMatch(workflow, state)).toMatchObject({ matched: stateMatch(workflow, state).total });
    }
  });

  it('want the choice that the request names, among what can be had', () => {
    for (const workflow of tasks.map(workflowOf)) {
      if (workflow.domain !== 'travel') continue;
      const { request, database, goal, trouble } = workflow;
      const flights = database.flights.filter((f) => f.from === request.from && f.to === request.to && f.day === request.day);
      const by = request.flight === 'cheapest' ? 'price' : 'hour';
      const flight = flights.find((f) => f.id === goal['flight']);
      const better = flights.filter((f) => f[by] < (flight?.[by] ?? 0));
      expect(better.every((f) => f.soldOut)).toBe(true);
      const left = request.budget - (flight?.price ?? 0);
      const stay = (price: number): number => price * request.days;
      const hotels = database.hotels.filter((h) => h.city === request.to);
      const hotel = hotels.find((h) => h.id === goal['hotel']);
      if (hotel === undefined) throw new Error('no such hotel');
      const passedOver = hotels.filter((h) => (request.hotel === 'cheapest' ? h.price < hotel.price : h.stars > hotel.stars));
      expect(passedOver.every((h) => stay(h.price) > left)).toBe(true);
      expect(better.length + passedOver.length > 0).toBe(trouble);
      expect(left - stay(hotel.price) - (request.car ? stay(database.carPrice) : 0)).toBeGreaterThanOrEqual(0);
    }
  });

  it('grant the first wish that is possible', () => {
    for (const workflow of tasks.map(workflowOf)) {
      if (workflow.domain !== 'retail') continue;
      const { request, database, needed, goal, trouble } = workflow;
      const mine = database.orders.find((o) => o.customer === request.customer && o.item === request.item);
      if (mine === undefined) throw new Error('no such order');
      const worlds = request.wishes.map((wish) => (wish.kind === 'refund' ? `refund(order=${mine.id})` : `exchange(order=${mine.id}, colour=${wish.colour})`))
        .map((code) => callFunction(workflow, beginState(workflow), code));
      const granted = worlds.find((result) => result.ok);
      expect(goal).toEqual(granted?.state ?? beginState(workflow));
      expect(worlds[0]?.ok).toBe(!trouble);
      expect(needed).toHaveLength(granted === undefined ? 2 : 3);
    }
  });

  it('are 512 different ones that training never sees, a quarter on each tier, the same for one seed', () => {
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(512);
    expect(suite.tiers.map((tier) => tasks.filter((task) => task.tier === tier).length)).toEqual([128, 128, 128, 128]);
    expect(tasks.every((task) => suite.splitOf(task) === 'held-out')).toBe(true);
    const seen = new Set(drawDifferentTasks(suite, 2000, 'train', 1, 2).map(({ id }) => id));
    expect(tasks.some(({ id }) => seen.has(id))).toBe(false);
    expect(drawDifferentTasks(suite, 512, 'held-out', 1, 2)).toEqual(tasks);
  });

  it('refuse a question of another suite', () => {
    for (const question of ['17+25', '', EXAMPLE_TRIP.replace('Shanghai', 'Beijing'), EXAMPLE_TRIP.replace('5000', '1000'), 'customer 99 lamp: refund']) {
      expect(() => workflowOf({ question })).toThrow('not a request');
    }
  });
});

/** Calls, and texts that only look like calls, on ids and values that exist and that do not. */
const word = fc.constantFrom('F1', 'F2', 'F7', 'H1', 'H3', 'O1', 'O5', 'Beijing', 'Shanghai', 'red', 'flight', 'hotel', 'car', '0', '4', '14', '417', '__proto__');
const odd = fc.oneof(
  fc.string(), fc.constantFrom('toString()', '__proto__(a=1)', 'book_flight(id=F1)'.repeat(200), '(', 'cancel(booking=)', '\u0000', '🙂(a=🙂)'),
);
const signatures = [...functionsOf('travel'), ...functionsOf('retail')];
const wellFormed = fc.constantFrom(...signatures).chain(({ name, parameters }) =>
  fc.tuple(...parameters.map((p) => fc.oneof(
    p.type === 'choice' ? fc.constantFrom(...p.values) : p.type === 'integer' ? fc.integer({ min: p.least - 1, max: p.most + 1 }) : fc.integer({ min: 0, max: 9 }).map((n) => `${p.letter}${n}`),
    word,
  ))).map((values) => formatCall({ name, args: Object.fromEntries(parameters.map((p, i) => [p.name, values[i] ?? ''])) })));

/** What must be true of any state. */
function checkState(workflow: Workflow, state: State): void {
  expect(Object.keys(state).sort()).toEqual(Object.keys(beginState(workflow)).sort());
  if (workflow.domain === 'retail') {
    const statuses = ['delivered', 'refunded', ...COLOURS.map((colour) => `exchanged for ${colour}`)];
    expect(Object.values(state).every((status) => statuses.includes(String(status)))).toBe(true);
    return;
  }
  const { flights, hotels, carPrice, budget } = workflow.database;
  const flight = flights.find(({ id }) => id === state['flight']);
  const hotel = hotels.find(({ id }) => id === state['hotel']);
  expect([flight === undefined, hotel === undefined]).toEqual([state['flight'] === null, state['hotel'] === null]);
  if (flight === undefined) expect([state['hotel'], state['car_days']]).toEqual([null, null]);
  expect(flight?.soldOut ?? false).toBe(false);
  const spent = (flight?.price ?? 0) + (hotel?.price ?? 0) * Number(state['nights']) + carPrice * Number(state['car_days']);
  expect(state['left']).toBe(budget - spent);
  expect(Number(state['left'])).toBeGreaterThanOrEqual(0);
}

function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    Object.values(value).forEach(frozen);
  }
  return value;
}

describe('no sequence of calls, however odd,', () => {
  const question = fc.constantFrom(
    EXAMPLE_TRIP,
    travelQuestion({ from: 'Wuhan', to: 'Lhasa', day: 4, days: 2, budget: 2000, flight: 'earliest', hotel: 'cheapest', car: false }),
    retailQuestion({ customer: 417, item: 'lamp', wishes: [{ kind: 'exchange', colour: 'red' }, { kind: 'refund' }] }),
  );
  const needed = (workflow: Workflow): fc.Arbitrary<string> => fc.constantFrom(...workflow.needed.map(formatCall));

  it('throws, corrupts the state, or loses the record', () => {
    const sequence = question.chain((q) => fc.tuple(fc.constant(q), fc.array(fc.oneof(needed(workflowOf({ question: q })), wellFormed, odd), { maxLength: 12 })));
    let failed = 0;
    let ran = 0;
    fc.assert(fc.property(sequence, ([q, codes]) => {
      const task = workflowTask(q);
      const workflow = frozen(workflowOf(task));
      let state = frozen(beginState(workflow));
      for (const [i, code] of codes.entries()) {
        const result = frozen(callFunction(workflow, state, code));
        checkState(workflow, result.state);
        expect(result.output.length).toBeGreaterThan(0);
        expect(result.output.length).toBeLessThan(120);
        if (result.ok) ran++;
        else {
          failed++;
          expect(result.state).toBe(state);
        }
        // The record: the same answer from the calls before it alone, and the same state.
        expect(answerCall(task, codes.slice(0, i), code)).toMatchObject({ ok: result.ok, output: result.output });
        expect(replay(workflow, codes.slice(0, i + 1))).toEqual(result.state);
        const { matched, total } = stateMatch(workflow, result.state);
        expect(matched === total).toBe(reachesGoal(workflow, result.state));
        state = result.state;
      }
    }), { numRuns: 300 });
    // Neither kind alone would show much.
    expect(Math.min(failed, ran)).toBeGreaterThan(100);
  });
});

describe('for people and other programs', () => {
  it('differences of two states can be read', () => {
    const before = run('travel', []).state;
    const { state } = run('travel', ['book_flight(id=F1)']);
    expect(difference(before, state)).toEqual([{ key: 'flight', before: null, after: 'F1' }, { key: 'left', before: 2000, after: 1400 }]);
    expect(difference(state, state)).toEqual([]);
  });

  it('a state that was changed against the goal matches less than one that was left alone', () => {
    const workflow = workflowOf({ question: EXAMPLE_TRIP });
    const [, book] = workflow.needed;
    if (workflow.domain !== 'travel' || book === undefined) throw new Error('a trip');
    const wrong = workflow.database.flights.find((f) => !f.soldOut && f.id !== workflow.goal['flight']);
    expect(stateMatch(workflow, beginState(workflow))).toEqual({ matched: 0, total: 4 });
    expect(stateMatch(workflow, replay(workflow, [formatCall(book)]))).toEqual({ matched: 1, total: 4 });
    expect(stateMatch(workflow, replay(workflow, [`book_flight(id=${wrong?.id})`]))).toEqual({ matched: 0, total: 4 });
  });

  it('functions are tools in JSON schema', () => {
    const [schema] = toolSchemas('retail');
    expect(schema).toEqual({
      type: 'function',
      function: {
        name: 'find_order',
        description: 'Lists what a customer ordered: item and id of each order.',
        parameters: {
          type: 'object',
          properties: { customer: { type: 'integer', minimum: 100, maximum: 999, description: 'Number of the customer.' } },
          required: ['customer'],
          additionalProperties: false,
        },
      },
    });
    expect(JSON.stringify(TRAVEL_FUNCTIONS.map(functionSchema))).toContain('"pattern":"^F\\\\d{1,2}$"');
  });
});
