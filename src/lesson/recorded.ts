/**
 * What the figures of the lesson found when they were recorded: for whoever prints the lesson, for an answer key, and
 * where SymPy could not be loaded. The tests beside this file find all of it again, from Python, the engine and the
 * recorded run.
 */
import type { Answered } from './traces.ts';
import type { Findings } from './stages.ts';

const ran = (output: string): Answered => ({ ok: true, output, truncated: false, seconds: 0 });
const nameError = (name: string): Answered => {
  const message = `name '${name}' is not defined`;
  return { ok: false, output: `NameError: ${message}`, truncated: false, seconds: 0, error: { kind: 'exception', type: 'NameError', message } };
};

/** Versions that answered. */
export const RECORDED_PYTHON = { version: '3.14.2', sympy: '1.14.0' } as const;

/** Real observations by the code of the call. */
export const OBSERVATIONS: ReadonlyMap<string, Answered> = new Map([
  ['from math import exp\nn = 4\nx = [(i + 0.5)/n for i in range(n)]\nprint(round(sum(t*t*exp(t) for t in x)/n, 6))', ran('0.697184')],
  ['from math import exp\nn = 1000\nx = [(i + 0.5)/n for i in range(n)]\nprint(round(sum(t*t*exp(t) for t in x)/n, 6))', ran('0.718281')],
  ['print(integrate(x**2*exp(x), (x, 0, 1)))', nameError('integrate')],
  ["from sympy import *\nx = symbols('x')\nprint(integrate(x**2*exp(x), (x, 0, 1)))", ran('-2 + E')],
  ['from math import e\nprint(abs((e - 2) - 0.718281) < 1e-5)', ran('True')],
  ['print((10/11)*(9/10)*(8/9)*(7/8)*(6/7))', ran('0.5454545454545453')],
  ['print((10/11)*(9/10)*(8/9)*(7/8)*(6/7)*(5/6))', ran('0.4545454545454544')],
  ['print(1)', ran('1')],
]);

/** Paper: correct calls 517 → 676 and 236 steps less; its chart shows about 1,520 steps before and 1,280 after. */
export const PAPER_WORKFLOWS = { calls: [517, 676], steps: [1520, 1280], fewer: 236 } as const;

export const RECORDED: Findings = {
  gap: { ok: true, output: '-2 + E', live: false },
  interleaving: { observed: 78, read: 78, written: 664, forged: 0, sampled: false },
  scoring: { answer: 2, format: 1, execution: 0, total: 3, most: 4 },
  comparing: { rewards: [4, 4, 4, 4, 4, 4], advantages: [0, 0, 0, 0, 0, 0], mixed: 0.99 },
  masking: { ownMasked: 1, ownUnmasked: 0.064, normMasked: 0.247, normUnmasked: 0.894 },
  strategy: { paper: { rose: 2, fell: 2, of: 4 }, lab: { rose: 4, fell: 0, of: 4 } },
  workflows: { paper: PAPER_WORKFLOWS, lab: { tasks: 512, calls: [1321, 1790], steps: [9, 4.75], within: [4.24, 3.96], all: [2017, 2146], completed: [224, 452] } },
  loop: { first: 1.97, last: 3.25, steps: 10, rollouts: 960, seconds: 38, engine: 'cpu', live: false },
};
