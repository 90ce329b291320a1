/**
 * What answers the calls of a rollout: Python with what the suite's sandbox offers, and variants of it that show what
 * the loss and the reward are sensitive to. Randomness is keyed by seed, step, rollout and the number of earlier
 * calls: a rollout made again meets the same answers.
 */
import { pcg4d } from '../policy/random.ts';
import { preludeOf } from '../tasks/arithmetic.ts';
import type { Python, PythonLimits, PythonResult } from '../tools/python/python.ts';
import { pythonCalls, type CallRequest, type RunCalls } from './rollout.ts';

/** Variants of a tool, by name. */
export const TOOL_NAMES = ['plain', 'chatty', 'flaky'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export const TOOLS: Readonly<Record<ToolName, (run: RunCalls, limits: PythonLimits) => RunCalls>> = {
  plain: (run) => run,
  chatty,
  flaky: (run, limits) => failing(run, limits, FLAKY_SHARE),
};

/** Of first calls, the share that a flaky tool fails. */
export const FLAKY_SHARE = 0.3;
const NOISE_LENGTH = 16;
const LETTERS = 26;
// Draws of an environment must not be those of tokens, which have the same four counters.
const NOISE = 0xc4a7;
const FAILURE = 0xf1a4;

/** The calls of any suite. @param probe makes the first call of each rollout fail: what does the policy do then? */
export function environment(python: Python, limits: PythonLimits, tool: ToolName = 'plain', probe = false): RunCalls {
  const run = pythonCalls(python, limits);
  const prepared: RunCalls = (calls, signal) => run(calls.map((call) => ({ ...call, code: preludeOf(call.task) + call.code })), signal);
  const variant = TOOLS[tool](prepared, limits);
  return probe ? failing(variant, limits, 1) : variant;
}

/** Sixteen random letters after each output, within the limit of an output: tokens that nobody could have predicted. */
function chatty(run: RunCalls, limits: PythonLimits): RunCalls {
  return async (calls, signal) => {
    const results = await run(calls, signal);
    return results.map((result, i) => {
      const call = calls[i];
      return call === undefined ? result : cut(result, `${result.output} ${noise(call)}`, limits);
    });
  };
}

function noise(call: CallRequest): string {
  const { seed, step, stream, earlier } = call;
  const words = pcg4d(seed ^ NOISE, step, stream, earlier.length);
  return Array.from({ length: NOISE_LENGTH }, (_, i) => {
    const word = words[i % words.length] ?? 0;
    return String.fromCharCode(97 + (Math.floor(word / LETTERS ** Math.floor(i / words.length)) % LETTERS));
  }).join('');
}

/** First calls fail in this share, without being run. Later calls are answered. */
export function failing(run: RunCalls, limits: PythonLimits, share: number): RunCalls {
  const fails = ({ seed, step, stream, earlier }: CallRequest): boolean =>
    earlier.length === 0 && pcg4d(seed ^ FAILURE, step, stream, 0)[0] < share * 2 ** 32;
  return async (calls, signal) => {
    const asked = calls.filter((call) => !fails(call));
    const answered = (asked.length === 0 ? [] : await run(asked, signal)).values();
    return calls.map((call) => {
      const result = fails(call) ? failure(call, limits) : answered.next().value;
      if (result === undefined) throw new Error('the environment returned fewer results than there were calls');
      return result;
    });
  };
}

/** As Python words it where the function that is called is missing. */
function failure({ code }: CallRequest, limits: PythonLimits): PythonResult {
  const name = /[A-Za-z_]\w*(?=\()/.exec(code)?.[0] ?? 'print';
  const error = { kind: 'exception', type: 'NameError', message: `name '${name}' is not defined` } as const;
  return cut({ ok: false, output: '', truncated: false, error, seconds: 0 }, `${error.type}: ${error.message}`, limits);
}

function cut(result: PythonResult, output: string, { outputCharacters }: PythonLimits): PythonResult {
  const characters = Array.from(output);
  return {
    ...result,
    output: characters.slice(0, outputCharacters).join(''),
    truncated: result.truncated || characters.length > outputCharacters,
  };
}
