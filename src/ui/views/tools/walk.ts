/** A workflow task walked by hand: calls and what they did, ids seen so far, what is left to do. Pure; no DOM. */
import { PAPER_REWARD, type RewardParts } from '../../../reward/reward.ts';
import { functionMatch, scoreWorkflow } from '../../../reward/workflow.ts';
import type { Tokenizer } from '../../../policy/tokenizer.ts';
import type { ToolCall } from '../../../rollout/trajectory.ts';
import { formatCall, workflowTask, type FunctionCall, type State, type Workflow } from '../../../tasks/workflow.ts';
import type { FunctionSignature } from '../../../tools/workflow/functions.ts';
import { beginState, callFunction, callIn, difference, reachesGoal, stateMatch, type Change, type WorkflowResult } from '../../../tools/workflow/workflow.ts';

export interface WalkStep {
  readonly code: string;
  readonly result: WorkflowResult;
  readonly changes: readonly Change[];
}

export function walk(workflow: Workflow, codes: readonly string[]): WalkStep[] {
  let state = beginState(workflow);
  return codes.map((code) => {
    const result = callFunction(workflow, state, code);
    const changes = difference(state, result.state);
    state = result.state;
    return { code, result, changes };
  });
}

export function stateAfter(workflow: Workflow, steps: readonly WalkStep[]): State {
  return steps.at(-1)?.result.state ?? beginState(workflow);
}

/** Ids with this letter that outputs gave, the first seen first. */
export function idsSeen(steps: readonly WalkStep[], letter: string): string[] {
  const outputs = steps.filter(({ result }) => result.ok).map(({ result }) => result.output).join(' ');
  return [...new Set(outputs.match(new RegExp(`\\b${letter}\\d{1,2}\\b`, 'g')))];
}

/** A call as far as its form is filled in. */
export function writeCall({ name, parameters }: FunctionSignature, values: Readonly<Record<string, string>>): string {
  const args = parameters.flatMap((p): [string, string][] => {
    const value = values[p.name]?.trim() ?? '';
    return value === '' ? [] : [[p.name, value]];
  });
  return formatCall({ name, args: Object.fromEntries(args) });
}

export type Next =
  | { readonly kind: 'call'; readonly call: FunctionCall }
  | { readonly kind: 'done' }
  /** A mistake that no call takes back. */
  | { readonly kind: 'stuck' };

/** The next call of a way to the goal from here: what was booked wrongly is cancelled first. */
export function nextCall(workflow: Workflow, steps: readonly WalkStep[]): Next {
  const state = stateAfter(workflow, steps);
  const { domain, goal, needed } = workflow;
  if (domain === 'travel') {
    const wrong = (key: string): boolean => state[key] !== null && state[key] !== goal[key];
    const cancel = (booking: string): Next => ({ kind: 'call', call: { name: 'cancel', args: { booking } } });
    // A flight cannot be cancelled while a car or a hotel hangs on it.
    if (state['car_days'] !== null && (wrong('car_days') || wrong('flight'))) return cancel('car');
    if (state['hotel'] !== null && (wrong('hotel') || wrong('nights') || wrong('flight'))) return cancel('hotel');
    if (wrong('flight')) return cancel('flight');
  }
  const made = new Set(steps.filter(({ result }) => result.ok).map(({ code }) => callIn(domain, code)));
  for (const call of needed) {
    const code = formatCall(call);
    const result = callFunction(workflow, state, code);
    if (made.has(code) ? difference(state, result.state).length > 0 : result.ok) return { kind: 'call', call };
  }
  return { kind: reachesGoal(workflow, state) ? 'done' : 'stuck' };
}

export interface Standing {
  readonly state: { readonly matched: number; readonly total: number };
  readonly functions: { readonly matched: number; readonly total: number };
  readonly reached: boolean;
}

const recordOf = ({ code, result }: WalkStep): ToolCall => ({ code, ok: result.ok, output: result.output, truncated: false, seconds: 0 });

/** How much of the goal is reached, as the reward counts it. */
export function standing(workflow: Workflow, steps: readonly WalkStep[]): Standing {
  const state = stateAfter(workflow, steps);
  return { state: stateMatch(workflow, state), functions: functionMatch(workflow, steps.map(recordOf)), reached: reachesGoal(workflow, state) };
}

/** What the rule of training gives for these calls. A person writes no tokens, so its parts for the format are 0. */
export function rewardOf(question: string, steps: readonly WalkStep[], tokenizer: Tokenizer): RewardParts {
  return scoreWorkflow({
    task: workflowTask(question), tokens: new Uint32Array(), owner: new Uint8Array(), logProbs: new Float32Array(), spans: [], calls: steps.map(recordOf), stop: 'end',
  }, tokenizer, PAPER_REWARD);
}
