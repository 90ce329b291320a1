/**
 * A stateful function-calling environment. Nothing is kept between calls: a state is made again from the calls before
 * it, so that a rollout can be stepped, branched and replayed. No text that a policy or a person writes throws.
 */
import { workflowOf, type Domain, type State, type Workflow } from '../../tasks/workflow.ts';
import type { Task } from '../../tasks/task.ts';
import type { PythonResult } from '../python/python.ts';
import { canonicalCall, functionSchema, runCall, type Failure, type FunctionSignature } from './functions.ts';
import { beginRetail, RETAIL_FUNCTIONS } from './retail.ts';
import { beginTravel, TRAVEL_FUNCTIONS } from './travel.ts';

export interface WorkflowResult {
  readonly ok: boolean;
  /** What is answered, in words: the output, or `error: ` and the message. */
  readonly output: string;
  /** After the call; the state before it where the call failed. */
  readonly state: State;
  readonly error?: Failure;
}

/** The functions of a domain, for forms and lists. */
export function functionsOf(domain: Domain): readonly FunctionSignature[] {
  return domain === 'travel' ? TRAVEL_FUNCTIONS : RETAIL_FUNCTIONS;
}

/** The functions of a domain as tools for chat templates and other trainers (JSON schema). */
export function toolSchemas(domain: Domain): unknown[] {
  return functionsOf(domain).map(functionSchema);
}

export function beginState(workflow: Workflow): State {
  return workflow.domain === 'travel' ? beginTravel(workflow.database) : beginRetail(workflow.database);
}

export function callFunction(workflow: Workflow, state: State, code: string): WorkflowResult {
  const outcome = workflow.domain === 'travel'
    ? runCall(TRAVEL_FUNCTIONS, workflow.database, state, code)
    : runCall(RETAIL_FUNCTIONS, workflow.database, state, code);
  return outcome.ok ? outcome : { ok: false, output: `error: ${outcome.error.message}`, state, error: outcome.error };
}

/** The state after a sequence of calls. */
export function replay(workflow: Workflow, codes: readonly string[]): State {
  return codes.reduce((state, code) => callFunction(workflow, state, code).state, beginState(workflow));
}

/** The valid call that a text is, in its one spelling; undefined for other text. */
export function callIn(domain: Domain, code: string): string | undefined {
  return domain === 'travel' ? canonicalCall(TRAVEL_FUNCTIONS, code) : canonicalCall(RETAIL_FUNCTIONS, code);
}

export interface Change {
  readonly key: string;
  readonly before: string | number | null;
  readonly after: string | number | null;
}

/** What differs between two states of one task. */
export function difference(before: State, after: State): Change[] {
  return Object.keys({ ...before, ...after })
    .map((key) => ({ key, before: before[key] ?? null, after: after[key] ?? null }))
    .filter((change) => change.before !== change.after);
}

/**
 * How much of the wanted change has come about: of the entries that the goal changes, or that were changed against it,
 * those that are as the goal has them. Where nothing is to be changed and nothing was, 1 of 1.
 */
export function stateMatch(workflow: Workflow, state: State): { readonly matched: number; readonly total: number } {
  const begin = beginState(workflow);
  const concerned = Object.entries(workflow.goal).filter(([key, wanted]) => wanted !== begin[key] || state[key] !== begin[key]);
  if (concerned.length === 0) return { matched: 1, total: 1 };
  return { matched: concerned.filter(([key, wanted]) => state[key] === wanted).length, total: concerned.length };
}

/** Whether a state is the goal: whatever is checked is as it should be. */
export function reachesGoal(workflow: Workflow, state: State): boolean {
  return Object.entries(workflow.goal).every(([key, wanted]) => state[key] === wanted);
}

/** Answers a call of a rollout, as the loop of turns wants it. @throws RangeError where the task is of another suite. */
export function answerCall(task: Task, earlier: readonly string[], code: string): PythonResult {
  const workflow = workflowOf(task);
  const { ok, output, error } = callFunction(workflow, replay(workflow, earlier), code);
  return {
    ok, output, truncated: false, seconds: 0,
    ...(error === undefined ? {} : { error: { kind: 'exception', type: error.type, message: error.message } }),
  };
}
