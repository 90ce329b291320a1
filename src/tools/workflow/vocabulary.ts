/**
 * The words of the workflow suite for a tokenizer: whole names, values and phrases of its questions, calls and outputs.
 * With them a whole trip takes less than a hundred tokens. An offer in a list is one word, ` 600:F5`: with amount and
 * id as two words, a policy of two layers found the least amount soon and the id behind it not in 1,500 steps.
 */
import { CITIES, COLOURS, ITEMS, RETURN_POLICIES } from '../../tasks/workflow.ts';
import type { FunctionSignature } from './functions.ts';
import { functionsOf } from './workflow.ts';

const ID_NUMBERS = 6;

const numbers = (from: number, to: number, step = 1): number[] => Array.from({ length: (to - from) / step + 1 }, (_, i) => from + i * step);

const QUESTIONS = [
  ' to ', ' on day ', ' for ', ' days, budget', ', cheapest flight', ', earliest flight', ', cheapest hotel', ', best hotel', ', car',
  'customer ', ' refund', ' exchange for ', ', else',
];

const OUTPUTS = [
  'flights', 'no flights', 'hotels', 'no hotels', 'orders', 'booked, left', 'rented, left', 'cancelled, left', 'refunded', 'exchanged',
  'error: ', 'write name(argument=value)', 'no function ', 'no argument ', 'argument ', ' is missing', ' twice', ' must be ', 'one of ', 'like ',
  'no flight ', 'no hotel ', 'no order ', 'no customer ', ' is sold out', ' is over budget', 'the car is over budget', 'you arrive on day ', 'you fly to ',
  ' is not in ', 'a flight is booked already', 'a hotel is booked already', 'a car is rented already', 'book a flight first',
  'cancel hotel and car first', ' is booked', ' is not refundable', ' is not exchangeable', ' is out of stock', ' already', ' is ',
];

/** The words of a list: what an offer is compared by, and its id. */
function offers(letter: string, values: readonly (string | number)[]): string[] {
  return values.flatMap((value) => numbers(1, ID_NUMBERS).map((n) => ` ${value}:${letter}${n}`));
}

/** A call up to each of its values: `book_hotel(id=` and `, nights=`. */
function callWords({ name, parameters }: FunctionSignature): string[] {
  return parameters.map((p, i) => (i === 0 ? `${name}(${p.name}=` : `, ${p.name}=`));
}

/** Beside single characters. */
export const WORKFLOW_WORDS: readonly string[] = [...new Set([
  ...CITIES, ...COLOURS, ...RETURN_POLICIES, 'price', 'hour', 'stars',
  ...['F', 'H', 'O'].flatMap((letter) => numbers(1, ID_NUMBERS).map((n) => `${letter}${n}`)),
  ...offers('F', numbers(300, 1000, 100)), ...offers('F', numbers(6, 20, 2).map((hour) => `${hour}h`)),
  ...offers('H', numbers(100, 800, 100)), ...offers('H', numbers(2, 5).map((stars) => `${stars}*`)),
  ...offers('O', ITEMS), ...ITEMS.map((item) => ` ${item}:`),
  ...numbers(0, 5000, 100).map((amount) => ` ${amount}`),
  ...[...functionsOf('travel'), ...functionsOf('retail')].flatMap(callWords),
  'flight', 'hotel', 'car', ...QUESTIONS, ...OUTPUTS,
])];
