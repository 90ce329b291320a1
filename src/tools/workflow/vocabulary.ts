/**
 * The words of the workflow suite for a tokenizer: whole names, values and phrases of its questions, calls and outputs.
 * With them a whole trip is about a hundred tokens. An amount in a list carries its colon (` 600:`), so that it stands right before the id
 * that it belongs to.
 */
import { CITIES, COLOURS, ITEMS, RETURN_POLICIES } from '../../tasks/workflow.ts';
import type { FunctionSignature } from './functions.ts';
import { functionsOf } from './workflow.ts';

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

/** A call up to each of its values: `book_hotel(id=` and `, nights=`. */
function callWords({ name, parameters }: FunctionSignature): string[] {
  return parameters.map((p, i) => (i === 0 ? `${name}(${p.name}=` : `, ${p.name}=`));
}

/** Beside single characters. */
export const WORKFLOW_WORDS: readonly string[] = [...new Set([
  ...CITIES, ...COLOURS, ...ITEMS.map((item) => ` ${item}:`), ...RETURN_POLICIES,
  ...['F', 'H', 'O'].flatMap((letter) => numbers(1, 9).map((n) => `${letter}${n}`)),
  ...numbers(6, 21).map((hour) => ` ${hour}h`),
  ...numbers(2, 5).map((stars) => ` ${stars}*`),
  ...numbers(100, 3000, 100).map((price) => ` ${price}:`),
  ...numbers(0, 5000, 100).map((amount) => ` ${amount}`),
  ...[...functionsOf('travel'), ...functionsOf('retail')].flatMap(callWords),
  'flight', 'hotel', 'car', ...QUESTIONS, ...OUTPUTS,
])];
