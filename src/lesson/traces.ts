/**
 * Attempts whose words and calls were written for the lesson, and whose outputs never are: a call is answered by Python
 * when the attempt unfolds, or by what Python was recorded to answer. Scored by the rule that scores any rollout.
 */
import type { TrainedTrajectory } from '../grpo/record.ts';
import { Tokenizer } from '../policy/tokenizer.ts';
import { scoreMath } from '../reward/math.ts';
import { PAPER_REWARD } from '../reward/reward.ts';
import { codeClosedAtEnd, spansOf } from '../rollout/grammar.ts';
import { observationOf, promptOf } from '../rollout/rollout.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type Owner, type ToolCall, type Trajectory } from '../rollout/trajectory.ts';
import type { Suite, Task } from '../tasks/task.ts';
import type { PythonResult } from '../tools/python/python.ts';
import { INTEGRAL_CODE } from './stages.ts';

/** What a turn of a trace shows, where it shows something by name. */
export const MOVES = ['refinement', 'correction', 'check'] as const;
export type Move = (typeof MOVES)[number];

/** What the policy writes up to a call, or to its end. */
export interface Turn {
  readonly text: string;
  readonly move?: Move;
}

export interface Script {
  readonly task: Task;
  readonly turns: readonly Turn[];
}

const tokenizer = new Tokenizer();
const tags = tagsOf(tokenizer);

const taskOf = (question: string, answer: string, expression: string): Task => ({ id: question, suite: 'lesson', tier: 1, question, answer, expression, kind: 'lesson' });

const INTEGRAL = taskOf('Integrate x^2 e^x from 0 to 1', 'e - 2', 'integrate(x**2*exp(x), (x, 0, 1))');
const APPLES = taskOf('11 apples, 10 of them red. After how many draws is the chance of only red ones below 1/2?', '6', '6');

const call = (code: string): string => `<python>${code}</python>`;
const think = (words: string): string => `<think>${words}</think>`;
const sum = (strips: string): string => `from math import exp\nn = ${strips}\nx = [(i + 0.5)/n for i in range(n)]\nprint(round(sum(t*t*exp(t) for t in x)/n, 6))`;

const FAILING = 'print(integrate(x**2*exp(x), (x, 0, 1)))';
const CHANCE = '(10/11)*(9/10)*(8/9)*(7/8)*(6/7)';

export const TRACES = ['integral', 'apples'] as const;
export type TraceId = (typeof TRACES)[number];

export const SCRIPTS: Readonly<Record<TraceId, Script>> = {
  integral: {
    task: INTEGRAL,
    turns: [
      { text: think('First a rough number: the area of four strips.') + call(sum('4')) },
      { text: think('Four are few. With a thousand the number is finer.') + call(sum('1000')), move: 'refinement' },
      { text: think('About 0.718281. Is there an exact form?') + call(FAILING) },
      { text: think('integrate was never imported: each call starts anew.') + call(INTEGRAL_CODE), move: 'correction' },
      { text: think('-2 + E is e - 2. Does it agree with the strips?') + call('from math import e\nprint(abs((e - 2) - 0.718281) < 1e-5)'), move: 'check' },
      { text: `${think('It does.')}<answer>e - 2</answer><eos>` },
    ],
  },
  apples: {
    task: APPLES,
    turns: [
      { text: think('Drawn apples stay out. The chance after five draws:') + call(`print(${CHANCE})`) },
      { text: think('Still more than one half. One draw more:') + call(`print(${CHANCE}*(5/6))`) },
      { text: `${think('Less than one half, for the first time.')}<answer>6</answer><eos>` },
    ],
  },
};

/** Attempts at the integral that differ in one thing each; the first eight rows of the paper's rule. */
export const ATTEMPTS = ['all-ran', 'one-failed', 'all-failed', 'no-call', 'bare', 'dummy', 'wrong', 'empty'] as const;
export type AttemptId = (typeof ATTEMPTS)[number];

const USE = think('use code');
const RIGHT = '<answer>e - 2</answer><eos>';
const WRONG = '<answer>e</answer><eos>';
const attempt = (...texts: readonly string[]): Script => ({ task: INTEGRAL, turns: texts.map((text) => ({ text })) });

export const ATTEMPT_SCRIPTS: Readonly<Record<AttemptId, Script>> = {
  'all-ran': attempt(USE + call(INTEGRAL_CODE), RIGHT),
  'one-failed': attempt(USE + call(FAILING), think('fix it') + call(INTEGRAL_CODE), RIGHT),
  'all-failed': attempt(USE + call(FAILING), RIGHT),
  'no-call': attempt(think('by hand') + RIGHT),
  bare: attempt(RIGHT),
  dummy: attempt(USE + call('print(1)'), WRONG),
  wrong: attempt(think('by hand') + WRONG),
  empty: attempt('<eos>'),
};

/** The code of the call with which a turn ends; undefined where it ends without one. */
export function codeOf({ text }: Turn): string | undefined {
  const ids = tokenizer.encode(text);
  if (ids.at(-1) !== tags.call.close) return undefined;
  const range = codeClosedAtEnd(ids, new Uint8Array(ids.length).fill(POLICY), tags.call);
  return range && tokenizer.decode(ids.subarray(range.start, range.end));
}

/** The calls of a script, in order. */
export function callsOf({ turns }: Script): string[] {
  return turns.flatMap((turn) => codeOf(turn) ?? []);
}

/** What the lesson needs of an answer to a call. */
export type Answered = Pick<PythonResult, 'ok' | 'output' | 'truncated' | 'error' | 'seconds'>;

const suite: Suite = {
  name: 'lesson',
  tiers: [1],
  draw: () => INTEGRAL,
  check: ({ answer }, given) => given.replaceAll(/\s/g, '') === answer.replaceAll(/\s/g, ''),
  splitOf: () => 'both',
};

/**
 * The attempt as far as its calls are answered: it stands still behind a call that has no answer yet.
 * No update was made for it, so the weights only say what the mask would let in.
 */
export function unfold({ task, turns }: Script, answers: readonly Answered[]): TrainedTrajectory {
  const ids: number[] = [];
  const owner: Owner[] = [];
  const calls: ToolCall[] = [];
  const append = (more: Iterable<number>, who: Owner): void => {
    for (const id of more) {
      ids.push(id);
      owner.push(who);
    }
  };
  append(promptOf(task, tokenizer), PROMPT);
  let complete = true;
  for (const turn of turns) {
    append(tokenizer.encode(turn.text), POLICY);
    const code = codeOf(turn);
    if (code === undefined) continue;
    const answer = answers[calls.length];
    if (answer === undefined) {
      complete = false;
      break;
    }
    const { ok, output, truncated, error, seconds } = answer;
    calls.push({ code, ok, output, truncated, seconds, ...(error === undefined ? {} : { errorKind: error.kind, errorType: error.type }) });
    append(observationOf(output, tags, tokenizer), ENVIRONMENT);
  }
  const trajectory: Trajectory = {
    task, calls,
    tokens: Uint32Array.from(ids),
    owner: Uint8Array.from(owner),
    logProbs: new Float32Array(ids.length).fill(NaN),
    spans: spansOf(ids, owner, tags),
    stop: complete ? 'end' : 'cancelled',
  };
  const own = owner.filter((who) => who === POLICY).length;
  return {
    ...trajectory,
    reward: scoreMath(trajectory, suite, tokenizer, PAPER_REWARD),
    advantage: 0,
    weights: Float32Array.from(owner, (who) => (who === POLICY ? 1 / own : 0)),
    update: undefined,
  };
}

/** At which span of a trace each named move begins: the thought that leads to it. */
export function movesOf({ turns }: Script, { spans }: Pick<Trajectory, 'spans'>): (readonly [token: number, move: Move])[] {
  const thoughts = spans.filter(({ kind, owner }) => kind === 'think' && owner === POLICY);
  return turns.flatMap(({ move }, i) => {
    const at = thoughts[i]?.start;
    return move === undefined || at === undefined ? [] : [[at, move] as const];
  });
}
