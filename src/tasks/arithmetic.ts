/**
 * The arithmetic suites: four tiers, from what a tiny policy can know by heart to what it can only translate into
 * code, and in `arithmetic-steps` a fifth, where a call needs what an earlier one printed. Tier 1 has 155 questions in
 * all and is meant to be learned by heart: it is exempt from the split.
 */
import { sameAnswer, powerModulo } from './exact.ts';
import { keysOf, lookup, lookupPrelude } from './lookup.ts';
import { pcg4d, type Random } from './random.ts';
import type { Split, Suite, Task } from './task.ts';

type Draft = Omit<Task, 'id' | 'suite' | 'tier'>;

/** One question in eight is held out. */
const HELD_OUT_SHARE = 8;

/** Sum or difference; a difference is never negative. */
function sumOrDifference(random: Random, low: number, high: number, kind: string): Draft {
  const a = random.integer(low, high);
  const b = random.integer(low, high);
  if (random.integer(0, 1) === 0) return draft(`${a}+${b}`, BigInt(a + b), kind);
  const [large, small] = a >= b ? [a, b] : [b, a];
  return draft(`${large}-${small}`, BigInt(large - small), kind);
}

function product(random: Random): Draft {
  const a = random.integer(10, 999);
  const b = random.next() < 0.6 ? random.integer(10, 99) : random.integer(100, 999);
  return draft(`${a}*${b}`, BigInt(a) * BigInt(b), 'product');
}

function mixed(random: Random): Draft {
  const [a, b, c, d] = [0, 0, 0, 0].map(() => random.integer(10, 99)) as [number, number, number, number];
  const plus = random.integer(0, 1) === 0;
  return draft(`(${a}+${b})*${c}${plus ? '+' : '-'}${d}`, BigInt((a + b) * c + (plus ? d : -d)), 'mixed');
}

function power(random: Random): Draft {
  const a = random.integer(2, 99);
  const n = random.integer(5, 99);
  const m = random.integer(11, 99);
  return {
    question: `${a}^${n}%${m}`,
    expression: `${a}**${n}%${m}`,
    answer: powerModulo(BigInt(a), BigInt(n), BigInt(m)).toString(),
    kind: 'power',
  };
}

/** ∫ from lo to hi of c·xⁿ, with c a multiple of n + 1: the answer is whole. */
function integral(random: Random): Draft {
  const n = random.integer(1, 4);
  const m = n + 1;
  const c = m * random.integer(1, 9);
  const lo = random.integer(0, 4);
  const hi = lo + random.integer(1, 5);
  return {
    question: `int(${c}x^${n},${lo},${hi})`,
    expression: `${c}*(${hi}**${m}-${lo}**${m})//${m}`,
    answer: ((BigInt(c) * (BigInt(hi) ** BigInt(m) - BigInt(lo) ** BigInt(m))) / BigInt(m)).toString(),
    kind: 'integral',
  };
}

function draft(question: string, answer: bigint, kind: string): Draft {
  return { question, expression: question, answer: answer.toString(), kind };
}

type Tiers = Readonly<Record<number, (random: Random, split: Split) => Draft>>;

const TIERS: Tiers = {
  1: (random) => sumOrDifference(random, 0, 9, 'tiny'),
  2: (random) => sumOrDifference(random, 10, 99, 'sum'),
  3: product,
  4: (random) => random.pick([mixed, power, integral])(random),
};

const TIERS_OF_STEPS: Tiers = { ...TIERS, 5: (random, split) => lookup(random, sideOfText, split) };

/** The side of a question, or of a key, depends on its text alone, so that no seed can move it across. */
function sideOfText(text: string): Split {
  let hash = 0;
  for (let i = 0; i < text.length; i++) [hash] = pcg4d(hash, text.charCodeAt(i), i, 0xa11e);
  return hash % HELD_OUT_SHARE === 0 ? 'held-out' : 'train';
}

function suiteOf(name: string, tiers: Tiers): Suite {
  const splitOf: Suite['splitOf'] = (task) => (task.tier === 1 ? 'both' : sideOfText(keysOf(task)[0] ?? task.question));
  return {
    name,
    tiers: Object.keys(tiers).map(Number),

    draw(random, tier, split) {
      const make = tiers[tier];
      if (make === undefined) throw new RangeError(`the ${name} suite has no tier ${tier}`);
      while (true) {
        const made = make(random, split);
        const task: Task = { ...made, id: made.question, suite: name, tier };
        const side = splitOf(task);
        if (side === 'both' || side === split) return task;
      }
    },

    check: (task, answer) => sameAnswer(answer, task.answer),

    splitOf,
  };
}

export const arithmetic: Suite = suiteOf('arithmetic', TIERS);

/** Tiers 1 to 4 are those of `arithmetic`; tier 5 needs two or three calls. */
export const arithmeticSteps: Suite = suiteOf('arithmetic-steps', TIERS_OF_STEPS);

/** Every suite by name. */
export const SUITES: Readonly<Record<string, Suite>> = { arithmetic, 'arithmetic-steps': arithmeticSteps };

/** What the sandbox of a question's suite offers beside Python itself: code that runs before each call. */
export function preludeOf(task: Task): string {
  return task.suite === arithmeticSteps.name ? lookupPrelude(task) : '';
}
