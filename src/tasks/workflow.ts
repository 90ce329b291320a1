/**
 * The workflow suite: requests that take several function calls and change the state of a database. Two domains in the
 * spirit of τ-bench (arXiv 2406.12045): `travel` (a flight, a hotel, perhaps a car, one budget for all) and `retail`
 * (an order to be refunded or exchanged). This file decides what is asked, the database it is asked of, which final
 * state is right and which calls lead there; what a call does is `tools/workflow/`.
 *
 * The words of a request determine everything else, so that a task can be made again from its question alone, and a
 * request that is held out brings a database that was never seen.
 */
import { pcg4d, Random } from './random.ts';
import { WORKFLOW, type Split, type Suite, type Task } from './task.ts';

export const CITIES = ['Beijing', 'Shanghai', 'Chengdu', 'Harbin', 'Kunming', 'Lhasa', 'Nanjing', 'Suzhou', 'Wuhan', 'Xiamen'] as const;
export const ITEMS = ['bag', 'coat', 'desk', 'kite', 'lamp', 'mug', 'pen', 'rug', 'sofa', 'tent'] as const;
export const COLOURS = ['red', 'blue', 'green', 'black'] as const;
export type City = (typeof CITIES)[number];
export type Item = (typeof ITEMS)[number];
export type Colour = (typeof COLOURS)[number];

/** A function call: arguments in the order in which the function declares them. */
export interface FunctionCall {
  readonly name: string;
  readonly args: Readonly<Record<string, string | number>>;
}

/** The one way in which a call is written: `book_hotel(id=H2, nights=3)`. */
export function formatCall({ name, args }: FunctionCall): string {
  return `${name}(${Object.entries(args).map(([key, value]) => `${key}=${value}`).join(', ')})`;
}

/** A state of the database as far as calls change it: a flat table. */
export type State = Readonly<Record<string, string | number | null>>;

export interface Flight {
  readonly id: string;
  readonly from: City;
  readonly to: City;
  readonly day: number;
  /** Of departure, 0 to 23. */
  readonly hour: number;
  /** Yuan. */
  readonly price: number;
  /** Found out only when one tries to book. */
  readonly soldOut: boolean;
}

export interface Hotel {
  readonly id: string;
  readonly city: City;
  readonly stars: number;
  /** Yuan a night. */
  readonly price: number;
}

export interface TravelRequest {
  readonly from: City;
  readonly to: City;
  readonly day: number;
  readonly days: number;
  /** Yuan, for the whole trip. */
  readonly budget: number;
  readonly flight: 'cheapest' | 'earliest';
  /** The one with most stars that the budget allows, or the cheapest. */
  readonly hotel: 'cheapest' | 'best';
  readonly car: boolean;
}

export const RETURN_POLICIES = ['refund or exchange', 'refund only', 'exchange only', 'final sale'] as const;
export type ReturnPolicy = (typeof RETURN_POLICIES)[number];

export interface Order {
  readonly id: string;
  readonly customer: number;
  readonly item: Item;
  readonly policy: ReturnPolicy;
  /** Colours that it can be exchanged for. Found out only when one tries. */
  readonly stock: readonly Colour[];
}

export type Wish = { readonly kind: 'refund' } | { readonly kind: 'exchange'; readonly colour: Colour };

export interface RetailRequest {
  readonly customer: number;
  readonly item: Item;
  /** In order: the first that is possible is to be done; none where none is. */
  readonly wishes: readonly Wish[];
}

export interface TravelDatabase {
  readonly budget: number;
  readonly flights: readonly Flight[];
  readonly hotels: readonly Hotel[];
  /** Yuan a day. */
  readonly carPrice: number;
}

export interface RetailDatabase {
  readonly orders: readonly Order[];
}

interface Common {
  /** The values that the final state must have; other entries of the state are not checked. */
  readonly goal: State;
  /** A shortest sequence of calls to the goal for one who knows what is sold out. Where nothing can be done: what must be looked up to know it. */
  readonly needed: readonly FunctionCall[];
  /** Whether the first choice fails (sold out, over the budget, not allowed, out of stock) and has to be given up. */
  readonly trouble: boolean;
}

export type Workflow = Common & (
  | { readonly domain: 'travel'; readonly request: TravelRequest; readonly database: TravelDatabase }
  | { readonly domain: 'retail'; readonly request: RetailRequest; readonly database: RetailDatabase }
);
export type Domain = Workflow['domain'];

/** The lowest budget for a trip: enough for any flight, a hotel and a car that a database may hold. */
export const leastBudget = (days: number): number => 1000 + 500 * days;
const MOST_BUDGET = 5000;
const DAYS = [2, 3, 4] as const;

/** What the request asks, in words. */
export function travelQuestion({ from, to, day, days, budget, flight, hotel, car }: TravelRequest): string {
  return `${from} to ${to} on day ${day} for ${days} days, budget ${budget}, ${flight} flight, ${hotel} hotel${car ? ', car' : ''}`;
}

export function retailQuestion({ customer, item, wishes }: RetailRequest): string {
  const words = wishes.map((wish) => (wish.kind === 'refund' ? ' refund' : ` exchange for ${wish.colour}`));
  return `customer ${customer} ${item}:${words.join(', else')}`;
}

/** Beijing to Shanghai, three days, 5,000 yuan. The cheapest flight turns out to be sold out. */
export const EXAMPLE_TRIP = travelQuestion({
  from: 'Beijing', to: 'Shanghai', day: 5, days: 3, budget: 5000, flight: 'cheapest', hotel: 'best', car: true,
});

const TRAVEL = new RegExp(`^(${CITIES.join('|')}) to (${CITIES.join('|')}) on day ([1-9]) for ([2-4]) days, budget (\\d{4}), (cheapest|earliest) flight, (cheapest|best) hotel(, car)?$`);
const WISH = `(?:refund|exchange for (?:${COLOURS.join('|')}))`;
const RETAIL = new RegExp(`^customer ([1-9]\\d\\d) (${ITEMS.join('|')}): (${WISH})(?:, else (${WISH}))?$`);

/** @throws RangeError where a question is not one of this suite. */
function parseQuestion(question: string): { domain: 'travel'; request: TravelRequest } | { domain: 'retail'; request: RetailRequest } {
  const travel = TRAVEL.exec(question);
  if (travel !== null) {
    const [, from, to, day, days, budget, flight, hotel, car] = travel;
    const request = {
      from, to, day: Number(day), days: Number(days), budget: Number(budget), flight, hotel, car: car !== undefined,
    } as TravelRequest;
    const { budget: yuan } = request;
    if (from !== to && yuan >= leastBudget(request.days) && yuan <= MOST_BUDGET && yuan % 100 === 0) return { domain: 'travel', request };
  }
  const retail = RETAIL.exec(question);
  if (retail !== null) {
    const [, customer, item, first = '', second] = retail;
    const wishes = [first, ...(second === undefined ? [] : [second])].map((text): Wish =>
      text === 'refund' ? { kind: 'refund' } : { kind: 'exchange', colour: text.split(' ').at(-1) as Colour });
    return { domain: 'retail', request: { customer: Number(customer), item: item as Item, wishes } };
  }
  throw new RangeError(`not a request of the workflow suite: ${JSON.stringify(question.slice(0, 100))}`);
}

/** Items in another order. */
function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items.map((item) => [random.next(), item] as const).sort(([a], [b]) => a - b).map(([, item]) => item);
}

/** `count` different whole multiples of `step` from `low` to `high`. */
function different(random: Random, count: number, low: number, high: number, step: number): number[] {
  const all = Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => low + i * step);
  return shuffled(all, random).slice(0, count);
}

const ids = (letter: string, random: Random): string[] => shuffled([1, 2, 3, 4, 5, 6], random).map((n) => `${letter}${n}`);

const PRICES = { flight: [300, 1000], night: [100, 800], most: 3000 } as const;

function travelWorkflow(request: TravelRequest, random: Random): Workflow {
  const { from, to, day, days, budget, flight: wanted, hotel, car } = request;
  const trouble = random.next() < 0.5;
  const carPrice = random.pick([100, 200]);
  const carTotal = car ? carPrice * days : 0;

  const flightIds = ids('F', random);
  const hours = different(random, 5, 6, 20, 2);
  const prices = different(random, 5, ...PRICES.flight, 100);
  const offers = [0, 1, 2].map((i) => ({ id: flightIds[i] ?? '', hour: hours[i] ?? 0, price: prices[i] ?? 0 }));
  const [first, second] = offers.toSorted((a, b) => (wanted === 'cheapest' ? a.price - b.price : a.hour - b.hour));
  if (first === undefined || second === undefined) throw new Error('three flights were drawn');

  /** A night whose whole stay is just out of reach; undefined where that would be an absurd price. */
  const beyond = (left: number): number | undefined => {
    const night = (Math.floor(left / days / 100) + random.integer(1, 2)) * 100;
    return night * days > PRICES.most ? undefined : night;
  };
  // The trouble is a flight that is sold out, the best hotel out of reach, or both.
  let soldOut = trouble && (hotel === 'cheapest' || random.next() < 0.6);
  const tooDear = trouble && hotel === 'best' && (!soldOut || random.next() < 0.3) ? beyond(budget - (soldOut ? second : first).price) : undefined;
  if (trouble && tooDear === undefined) soldOut = true;
  const flight = soldOut ? second : first;
  const left = budget - flight.price;

  // Any other hotel leaves enough for the car: a stay either fits for good or is refused at once.
  const fits = Math.min(PRICES.night[1], Math.floor(PRICES.most / days / 100) * 100, Math.floor((left - carTotal) / days / 100) * 100);
  const nights = different(random, tooDear === undefined ? 3 : 2, PRICES.night[0], fits, 100);
  // More stars mostly cost more.
  if (random.next() < 0.7) nights.sort((a, b) => a - b);
  if (tooDear !== undefined) nights.push(tooDear);
  const stars = different(random, nights.length, 2, 5, 1).sort((a, b) => a - b);
  const hotelIds = ids('H', random);
  const stays = nights.map((price, i) => ({ id: hotelIds[i] ?? '', city: to, stars: stars[i] ?? 2, price }));
  const possible = stays.filter(({ price }) => price !== tooDear);
  const [stay] = possible.toSorted((a, b) => (hotel === 'cheapest' ? a.price - b.price : b.stars - a.stars));
  if (stay === undefined) throw new Error('a hotel always fits');

  const database: TravelDatabase = {
    budget,
    flights: shuffled([
      ...offers.map((offer) => ({ ...offer, from, to, day, soldOut: soldOut && offer === first })),
      { id: flightIds[3] ?? '', from, to, day: day + 1, hour: hours[3] ?? 0, price: prices[3] ?? 0, soldOut: false },
      { id: flightIds[4] ?? '', from: to, to: from, day, hour: hours[4] ?? 0, price: prices[4] ?? 0, soldOut: false },
    ], random),
    hotels: shuffled([
      ...stays,
      { id: hotelIds[3] ?? '', city: from, stars: 3, price: 200 },
      { id: hotelIds[4] ?? '', city: from, stars: 4, price: 300 },
    ], random),
    carPrice,
  };
  return {
    domain: 'travel', request, database, trouble,
    goal: { flight: flight.id, hotel: stay.id, nights: days, car_days: car ? days : null },
    needed: [
      { name: 'search_flights', args: { from, to, day, by: wanted === 'cheapest' ? 'price' : 'hour' } },
      { name: 'book_flight', args: { id: flight.id } },
      { name: 'search_hotels', args: { city: to, by: hotel === 'cheapest' ? 'price' : 'stars' } },
      { name: 'book_hotel', args: { id: stay.id, nights: days } },
      ...(car ? [{ name: 'rent_car', args: { city: to, day, days } }] : []),
    ],
  };
}

/** Whether a policy lets a wish be granted, stock aside. */
export function allows(policy: ReturnPolicy, kind: Wish['kind']): boolean {
  return policy === 'refund or exchange' || policy === `${kind} only`;
}

function retailWorkflow(request: RetailRequest, random: Random): Workflow {
  const { customer, item, wishes } = request;
  const trouble = random.next() < 0.5;
  const granted = trouble ? (wishes.length > 1 && random.next() < 0.9 ? wishes[1] : undefined) : wishes[0];
  const orderIds = ids('O', random);
  const draw = (id: string, of: Item, by: number): Order => ({
    id, customer: by, item: of, policy: random.pick(RETURN_POLICIES), stock: COLOURS.filter(() => random.next() < 0.6),
  });
  const possible = (order: Order): Wish | undefined =>
    wishes.find((wish) => allows(order.policy, wish.kind) && (wish.kind === 'refund' || order.stock.includes(wish.colour)));
  let order = draw(orderIds[0] ?? '', item, customer);
  while (possible(order) !== granted) order = draw(order.id, item, customer);

  const [second, third] = shuffled(ITEMS.filter((other) => other !== item), random);
  const stranger = customer === 999 ? 100 : customer + 1;
  const orders = [
    order,
    draw(orderIds[1] ?? '', second ?? item, customer),
    draw(orderIds[2] ?? '', third ?? item, customer),
    draw(orderIds[3] ?? '', item, stranger),
  ];
  const done = granted?.kind === 'refund' ? 'refunded' : `exchanged for ${granted?.colour}`;
  return {
    domain: 'retail', request, trouble,
    database: { orders: shuffled(orders, random) },
    goal: Object.fromEntries(orders.map(({ id }) => [id, id === order.id && granted !== undefined ? done : 'delivered'])),
    needed: [
      { name: 'find_order', args: { customer } },
      { name: 'check_policy', args: { order: order.id } },
      ...(granted === undefined ? [] : [granted.kind === 'refund'
        ? { name: 'refund', args: { order: order.id } }
        : { name: 'exchange', args: { order: order.id, colour: granted.colour } }]),
    ],
  };
}

function hashOf(text: string, salt: number): number {
  let hash = salt;
  for (let i = 0; i < text.length; i++) [hash] = pcg4d(hash, text.charCodeAt(i), i, 0xf10e);
  return hash;
}

/**
 * Everything about a task, from its question: request, database, goal. The same question gives the same workflow.
 * @throws RangeError where it is not a question of this suite.
 */
export function workflowOf({ question }: Pick<Task, 'question'>): Workflow {
  const parsed = parseQuestion(question);
  const random = new Random(hashOf(question, 1), 0x3081);
  return parsed.domain === 'travel' ? travelWorkflow(parsed.request, random) : retailWorkflow(parsed.request, random);
}

/** The task of a question. @throws RangeError where it is not a question of this suite. */
export function workflowTask(question: string): Task {
  const { domain, trouble, goal, needed } = workflowOf({ question });
  return {
    id: question, suite: 'workflow', question, kind: domain,
    tier: (domain === 'retail' ? 1 : 3) + (trouble ? 1 : 0),
    answer: Object.entries(goal).map(([key, value]) => `${key}: ${value ?? 'none'}`).join(', '),
    expression: needed.map(formatCall).join('\n'),
  };
}

function drawTravel(random: Random): string {
  const [from, to] = shuffled(CITIES, random);
  if (from === undefined || to === undefined) throw new Error('there are ten cities');
  const days = random.pick(DAYS);
  const least = leastBudget(days);
  return travelQuestion({
    from, to, days, day: random.integer(1, 9),
    budget: least + 500 * random.integer(0, (MOST_BUDGET - least) / 500),
    flight: random.pick(['cheapest', 'earliest']), hotel: random.pick(['cheapest', 'best']), car: random.next() < 0.5,
  });
}

function drawRetail(random: Random): string {
  const [a, b] = shuffled(COLOURS, random);
  if (a === undefined || b === undefined) throw new Error('there are four colours');
  const refund: Wish = { kind: 'refund' };
  const exchange = (colour: Colour): Wish => ({ kind: 'exchange', colour });
  // Few have a single wish: where it cannot be granted, the right thing to do is nothing.
  const wishes = random.pick([[refund, exchange(a)], [exchange(a), refund], [exchange(a), exchange(b)]]).slice(0, random.next() < 0.15 ? 1 : 2);
  return retailQuestion({ customer: random.integer(100, 999), item: random.pick(ITEMS), wishes });
}

/** One request in eight is held out. */
const HELD_OUT_SHARE = 8;

/**
 * Tiers 1 and 2 are retail, 3 and 4 travel; on 2 and 4 the first choice fails. In the tasks `answer` is the goal in
 * words and `expression` the needed calls, a line each.
 */
export const workflow: Suite = {
  name: WORKFLOW,
  tiers: [1, 2, 3, 4],
  distinct: true,
  draw(random, tier, split) {
    if (!workflow.tiers.includes(tier)) throw new RangeError(`the workflow suite has no tier ${tier}`);
    while (true) {
      const task = workflowTask(tier <= 2 ? drawRetail(random) : drawTravel(random));
      if (task.tier === tier && workflow.splitOf(task) === split) return task;
    }
  },
  check: (task, answer) => answer === task.answer,
  splitOf: (task): Split => (hashOf(task.question, 2) % HELD_OUT_SHARE === 0 ? 'held-out' : 'train'),
};
