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
export const TOOL_NAMES = ['plain', 'terse', 'chatty', 'flaky'] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

export const TOOLS: Readonly<Record<ToolName, (run: RunCalls, limits: PythonLimits) => RunCalls>> = {
  plain: (run) => run,
  terse,
  chatty,
  flaky: (run) => failing(run, FLAKY_SHARE),
};

/** Characters of a terse tool's output: every number that a question asks for fits, and no error's text does. */
export const TERSE_CHARACTERS = 8;
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
  return probe ? failing(variant, 1) : variant;
}

/** Outputs short enough that an error takes no more room in a rollout than a result. */
function terse(run: RunCalls, limits: PythonLimits): RunCalls {
  const shorter = { ...limits, outputCharacters: Math.min(TERSE_CHARACTERS, limits.outputCharacters) };
  return async (calls, signal) => (await run(calls, signal)).map((result) => cut(result, result.output, shorter));
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

/**
 * First calls fail in this share: a bracket that nothing closes is lost into them on their way, so that the error is
 * Python's own. Later calls arrive as they were written.
 */
export function failing(run: RunCalls, share: number): RunCalls {
  const fails = ({ seed, step, stream, earlier }: CallRequest): boolean =>
    earlier.length === 0 && pcg4d(seed ^ FAILURE, step, stream, 0)[0] < share * 2 ** 32;
  // On a line of its own no comment hides it.
  return (calls, signal) => run(calls.map((call) => (fails(call) ? { ...call, code: `${call.code}\n(` } : call)), signal);
}

function cut(result: PythonResult, output: string, { outputCharacters }: PythonLimits): PythonResult {
  const characters = Array.from(output);
  return {
    ...result,
    output: characters.slice(0, outputCharacters).join(''),
    truncated: result.truncated || characters.length > outputCharacters,
  };
}
