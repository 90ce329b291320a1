/**
 * Questions that do not hold what they ask for: a key of three letters stands for a number that only the sandbox
 * knows. There `look('kxq')` prints the number and returns nothing, so one call cannot also use it: the call that
 * computes is written after the output was read.
 */
import { pcg4d, type Random } from './random.ts';
import type { Split, Task } from './task.ts';

/** One lookup and a number at hand: two calls. Two lookups: three calls. */
export const LOOKUP_KINDS = ['lookup', 'pair'] as const;

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const KEY = /[a-z]{3}/g;

/** The number behind a key, 100 to 999: nothing in the key's letters says which. */
export function numberBehind(key: string): number {
  const [a = 0, b = 0, c = 0] = Array.from(key, (letter) => letter.charCodeAt(0));
  return 100 + (pcg4d(a, b, c, 0x100c)[0] % 900);
}

/** The keys of a question, in the order in which they are written; none where it is no lookup. */
export function keysOf({ kind, question }: Pick<Task, 'kind' | 'question'>): string[] {
  return LOOKUP_KINDS.some((lookup) => lookup === kind) ? (question.match(KEY) ?? []) : [];
}

/** A product or sum of a looked-up number and a number of two digits (two thirds), or of two looked-up numbers. */
export function lookup(random: Random, sideOf: (key: string) => Split, split: Split): Pick<Task, 'question' | 'expression' | 'answer' | 'kind'> {
  const pair = random.next() < 1 / 3;
  const sign = random.pick(pair ? ['+', '*'] : ['+', '-', '*']);
  const first = drawKey(random, sideOf, split);
  const second = pair ? drawKey(random, sideOf, split) : String(random.integer(10, 99));
  const [a, b] = [numberBehind(first), pair ? numberBehind(second) : Number(second)];
  return {
    question: first + sign + second,
    expression: `${a}${sign}${b}`,
    answer: String(sign === '+' ? a + b : sign === '-' ? a - b : a * b),
    kind: pair ? 'pair' : 'lookup',
  };
}

/** Every key of a question lies on the question's side: what is held out has never been looked up in training. */
function drawKey(random: Random, sideOf: (key: string) => Split, split: Split): string {
  while (true) {
    const key = [0, 0, 0].map(() => LETTERS[random.integer(0, LETTERS.length - 1)] ?? '').join('');
    if (sideOf(key) === split) return key;
  }
}

/** The Python that defines `look` for a question: it knows the question's keys; others are a KeyError. */
export function lookupPrelude(task: Task): string {
  const entries = keysOf(task).map((key) => `'${key}': ${numberBehind(key)}`);
  return `look = lambda key: print({${entries.join(', ')}}[key])\n`;
}

/** The code of the next call, given the numbers that earlier calls printed: look up what is missing, then compute. */
export function nextCall(task: Task, numbers: readonly string[]): string {
  const key = keysOf(task)[numbers.length];
  return key === undefined ? `print(${withNumbers(task, numbers)})` : `look('${key}')`;
}

/** The expression to compute: the question's, keys replaced by the numbers that were read. */
export function withNumbers(task: Task, numbers: readonly string[]): string {
  const keys = keysOf(task);
  return keys.length === 0 ? task.expression : keys.reduce((text, key, i) => text.replace(key, numbers[i] ?? key), task.question);
}
