/**
 * How attempts unfold: sample every rollout to its next `</python>` or `</tool>`, run all calls of the turn as one batch, append
 * the observations, go on. Token in, token out: what the engine sampled is what is stored and what is trained on.
 */
import type { PolicyEngine, SampledRow } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { Task } from '../tasks/task.ts';
import type { Python, PythonLimits, PythonResult } from '../tools/python/python.ts';
import { answerCall as answerWorkflow } from '../tools/workflow/workflow.ts';
import { codeClosedAtEnd, spansOf } from './grammar.ts';
import {
  ENVIRONMENT, POLICY, PROMPT, tagsOf, type Owner, type StopReason, type Tags, type ToolCall, type Trajectory,
} from './trajectory.ts';

/** A call that a rollout makes, with all that an answer may depend on. */
export interface CallRequest {
  readonly code: string;
  readonly task: Task;
  /**
   * The calls of this rollout that were answered before, in order. An environment with state makes it again from
   * them: so a rollout can be stepped, branched and replayed without anything being kept.
   */
  readonly earlier: readonly ToolCall[];
  /** With the number of earlier calls they key the randomness of an environment. */
  readonly seed: number;
  readonly step: number;
  readonly stream: number;
}

/** What answers the calls of a turn: one result a call, in their order. */
export type RunCalls = (calls: readonly CallRequest[], signal?: AbortSignal) => Promise<readonly PythonResult[]>;

/** Calls answered by real Python, each in a namespace of its own: nothing is shared between the calls of a rollout. */
export function pythonCalls(python: Python, limits: PythonLimits): RunCalls {
  return (calls, signal) => python.run(calls.map(({ code }) => code), limits, signal);
}

/** Calls answered by the functions of a workflow task, on the state that the earlier calls of the rollout left. */
export const workflowCalls: RunCalls = (calls) =>
  Promise.resolve(calls.map(({ code, task, earlier }) => answerWorkflow(task, earlier.map((call) => call.code), code)));

export interface RolloutRequest {
  readonly engine: PolicyEngine;
  readonly tokenizer: Tokenizer;
  readonly runCalls: RunCalls;
  /** One rollout each; a group is the same task several times. */
  readonly tasks: readonly Task[];
  /** Where the i-th rollout goes on from. Default: its task's prompt. */
  readonly beginnings?: readonly Beginning[];
  readonly seed: number;
  /** The training step, or another number that keeps the random numbers of evaluations apart. */
  readonly step: number;
  /** The random stream of the first rollout; the i-th has `firstStream + i`. Default 0. */
  readonly firstStream?: number;
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  /** Ids never sampled, beside those of the checkpoint. */
  readonly bannedTokens?: readonly number[];
  /** Calls that are run; the next one ends the rollout, is not run and does not count. */
  readonly maxCalls: number;
  /** Tokens of prompt, policy and observations together. */
  readonly maxLength: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: RolloutProgress) => void;
}

/**
 * A rollout as far as it is there: the tokens, who wrote them, and the calls that were answered. Where it ends with a
 * call that has no answer yet, the call is run first.
 */
export type Beginning = Pick<Trajectory, 'tokens' | 'owner' | 'logProbs' | 'calls'>;

export interface RolloutProgress {
  readonly phase: 'sampling' | 'python';
  /** Rollouts that have ended. */
  readonly finished: number;
  readonly of: number;
}

/** A trajectory that still grows. Tokens enter by `append` alone, which records their owner. */
class Draft {
  readonly calls: ToolCall[] = [];
  stop: StopReason | undefined;
  private readonly capacity: number;
  private length: number;
  private readonly tokens: Uint32Array;
  private readonly owner: Uint8Array;
  private readonly logProbs: Float32Array;

  constructor(
    readonly task: Task,
    readonly stream: number,
    maxLength: number,
    beginning: Beginning,
  ) {
    this.length = beginning.tokens.length;
    this.capacity = Math.max(maxLength, this.length);
    this.tokens = new Uint32Array(this.capacity);
    this.owner = new Uint8Array(this.capacity);
    this.logProbs = new Float32Array(this.capacity);
    this.tokens.set(beginning.tokens);
    this.owner.set(beginning.owner);
    this.logProbs.set(beginning.logProbs);
    this.calls.push(...beginning.calls);
  }

  append(ids: ArrayLike<number>, owner: Owner, logProbs?: Float32Array): void {
    const end = this.length + ids.length;
    this.tokens.set(ids, this.length);
    this.owner.fill(owner, this.length, end);
    if (logProbs === undefined) this.logProbs.fill(NaN, this.length, end);
    else this.logProbs.set(logProbs, this.length);
    this.length = end;
  }

  get room(): number {
    return this.capacity - this.length;
  }

  context(): Uint32Array {
    return this.tokens.slice(0, this.length);
  }

  last(): number | undefined {
    return this.length === 0 ? undefined : this.tokens[this.length - 1];
  }

  /** The code that the token just written closes, decoded. */
  pendingCode(tags: Tags, tokenizer: Tokenizer): string | undefined {
    const tokens = this.tokens.subarray(0, this.length);
    const range = codeClosedAtEnd(tokens, this.owner, tags.call);
    return range === undefined ? undefined : tokenizer.decode(tokens.subarray(range.start, range.end));
  }

  finish(tags: Tags): Trajectory {
    const tokens = this.context();
    const owner = this.owner.slice(0, this.length);
    const logProbs = this.logProbs.slice(0, this.length);
    return { task: this.task, tokens, owner, logProbs, spans: spansOf(tokens, owner, tags), calls: this.calls, stop: this.stop ?? 'cancelled' };
  }
}

/** Prompt of a task: `<bos>` and the question. A tag written in a question stays text. */
export function promptOf(task: Task, tokenizer: Tokenizer): Uint32Array {
  const question = tokenizer.encodePlain(task.question);
  const prompt = new Uint32Array(question.length + 1);
  prompt[0] = tokenizer.id('<bos>');
  prompt.set(question, 1);
  return prompt;
}

function bare(prompt: Uint32Array): Beginning {
  return { tokens: prompt, owner: new Uint8Array(prompt.length).fill(PROMPT), logProbs: new Float32Array(prompt.length).fill(NaN), calls: [] };
}

/** What enters the context after a call: `<output>`, the text, `</output>`. */
export function observationOf(output: string, tags: Tags, tokenizer: Tokenizer): Uint32Array {
  return Uint32Array.from([tags.output.open, ...tokenizer.encodePlain(output), tags.output.close]);
}

/**
 * Rolls out every task. The same seed, step and streams give the same trajectories on the same weights, whatever
 * else is in the batch.
 * @returns trajectories in the order of the tasks. Where the signal aborts, those that had not ended have
 * `stop: 'cancelled'`.
 */
export async function rollOut(request: RolloutRequest): Promise<Trajectory[]> {
  const { engine, tokenizer, tasks, maxLength, firstStream = 0 } = request;
  const tags = tagsOf(tokenizer);
  const drafts = tasks.map((task, i) => new Draft(task, firstStream + i, maxLength, request.beginnings?.[i] ?? bare(promptOf(task, tokenizer))));
  const unfinished = (): Draft[] => drafts.filter((draft) => draft.stop === undefined);
  const report = (phase: RolloutProgress['phase']): void =>
    request.onProgress?.({ phase, finished: tasks.length - unfinished().length, of: tasks.length });

  const answer = async (turns: readonly Draft[]): Promise<void> => {
    const asking = turns.flatMap((draft) => {
      const code = settle(draft, tags, tokenizer, request.maxCalls);
      return code === undefined ? [] : [{ draft, code }];
    });
    if (asking.length === 0) return;
    report('python');
    const { seed, step } = request;
    const results = await request.runCalls(
      asking.map(({ draft, code }) => ({ code, task: draft.task, earlier: [...draft.calls], seed, step, stream: draft.stream })),
      request.signal,
    );
    for (const [i, { draft, code }] of asking.entries()) answerCall(draft, code, results[i], tags, tokenizer);
  };

  try {
    if (request.beginnings !== undefined) await answer(drafts);
    for (let running = unfinished(); running.length > 0; running = unfinished()) {
      report('sampling');
      const { rows } = await engine.continue({
        rows: running.map((draft) => ({ tokens: draft.context(), stream: draft.stream })),
        seed: request.seed,
        step: request.step,
        temperature: request.temperature,
        ...(request.topK === undefined ? {} : { topK: request.topK }),
        ...(request.topP === undefined ? {} : { topP: request.topP }),
        ...(request.bannedTokens === undefined ? {} : { bannedTokens: request.bannedTokens }),
        ...(request.signal === undefined ? {} : { signal: request.signal }),
        stopTokens: [tags.call.close, tags.eos],
        maxLength,
      });
      for (const [i, draft] of running.entries()) takeTurn(draft, rows[i]);
      await answer(running);
    }
  } catch (error) {
    // A cancelled step still has rollouts worth looking at; any other fault is the caller's to show.
    if (request.signal?.aborted !== true) throw error;
  }
  return drafts.map((draft) => draft.finish(tags));
}

/** Appends what was sampled. */
function takeTurn(draft: Draft, row: SampledRow | undefined): void {
  if (row === undefined) throw new Error('the engine returned fewer rows than were asked for');
  draft.append(row.tokens, POLICY, row.logProbs);
  if (row.stop === 'length') draft.stop = 'length';
}

/** Whether a rollout ends here. @returns the code to run, where it stands at a call. */
function settle(draft: Draft, tags: Tags, tokenizer: Tokenizer, maxCalls: number): string | undefined {
  if (draft.stop !== undefined) return undefined;
  if (draft.last() === tags.eos) {
    draft.stop = 'end';
    return undefined;
  }
  const code = draft.last() === tags.call.close ? draft.pendingCode(tags, tokenizer) : undefined;
  if (code !== undefined) {
    if (draft.calls.length < maxCalls) return code;
    draft.stop = 'calls';
  } else if (draft.room === 0) draft.stop = 'length';
  return undefined;
}

function answerCall(draft: Draft, code: string, result: PythonResult | undefined, tags: Tags, tokenizer: Tokenizer): void {
  if (result === undefined) throw new Error('the environment returned fewer results than there were calls');
  draft.calls.push({
    code,
    ok: result.ok,
    output: result.output,
    truncated: result.truncated,
    ...(result.error === undefined ? {} : { errorKind: result.error.kind, errorType: result.error.type }),
    seconds: result.seconds,
  });
  const observation = observationOf(result.output, tags, tokenizer);
  // An observation that leaves the policy no token to write would never be read.
  if (observation.length >= draft.room) draft.stop = 'length';
  else draft.append(observation, ENVIRONMENT);
}
