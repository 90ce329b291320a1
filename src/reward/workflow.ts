/**
 * The reward of a function-calling rollout (ARTIST, arXiv 2505.01441, section 3.2), at most 1.2: state 0.5, functions
 * 0.5, format 0.2. State and functions are read from the runtime's record of calls, never from text that a policy
 * could forge.
 */
import type { Tokenizer } from '../policy/tokenizer.ts';
import { POLICY, tagsOf, type Tags, type Trajectory } from '../rollout/trajectory.ts';
import { formatCall, workflowOf, type Workflow } from '../tasks/workflow.ts';
import { callIn, reachesGoal, replay, stateMatch } from '../tools/workflow/workflow.ts';
import { shapeOf } from './format.ts';
import type { RewardParts, RewardSettings } from './reward.ts';

const STATE = 0.5;
const FUNCTIONS = 0.5;
const TAG = 0.025;
const STRICT = 0.1;

/**
 * Needed calls that were made and ran, with the right name and arguments. Each counts once, in any order; a needed
 * call that was made twice is no second match, and a call more takes nothing away.
 */
export function functionMatch(workflow: Workflow, calls: Trajectory['calls']): { readonly matched: number; readonly total: number } {
  const made = calls.filter((call) => call.ok).map(({ code }) => callIn(workflow.domain, code));
  const needed = workflow.needed.map(formatCall);
  return { matched: needed.filter((call) => made.includes(call)).length, total: needed.length };
}

/**
 * 0 to 0.1: a share for each of the four tags of the policy. An opening tag counts where the policy wrote it, a closing
 * one where it closes something. (The paper says 0.025 a tag, up to 0.1: with a share a pair, 0.1 could not be reached.)
 */
function relaxedFormat({ tokens, owner, spans }: Trajectory, tags: Tags): number {
  const there = ([['think', tags.think.open], ['call', tags.call.open]] as const).flatMap(([kind, open]) => [
    tokens.some((id, i) => id === open && owner[i] === POLICY),
    spans.some((span) => span.kind === kind && span.closed),
  ]);
  return TAG * there.filter(Boolean).length;
}

/** Scores one finished attempt. @throws RangeError where its task is of another suite. */
export function scoreWorkflow(trajectory: Trajectory, tokenizer: Tokenizer, { callCost }: Pick<RewardSettings, 'callCost'>): RewardParts {
  const tags = tagsOf(tokenizer);
  const workflow = workflowOf(trajectory.task);
  const { calls } = trajectory;
  const final = replay(workflow, calls.map(({ code }) => code));
  const state = stateMatch(workflow, final);
  const functions = functionMatch(workflow, calls);
  const parts = {
    state: (STATE * state.matched) / state.total,
    functions: (FUNCTIONS * functions.matched) / functions.total,
    functionsMatched: functions.matched,
    functionsNeeded: functions.total,
  };
  const formatRelaxed = relaxedFormat(trajectory, tags);
  // (reasoning tool tool_result)+ reasoning? and nothing else.
  const formatStrict = /^(tco)+t?$/.test(shapeOf(trajectory, tags, tokenizer) ?? '') ? STRICT : 0;
  const cost = callCost === 0 ? 0 : -callCost * calls.length;
  return {
    answer: 0, formatRelaxed, formatStrict, execution: null, callCost: cost,
    total: parts.state + parts.functions + formatRelaxed + formatStrict + cost,
    correct: reachesGoal(workflow, final),
    workflow: parts,
  };
}

/** What some rollouts came to, in the counts of the paper's τ-bench figure. */
export interface WorkflowFigures {
  readonly rollouts: number;
  /** Those whose final state is the goal. */
  readonly completed: number;
  /** Needed calls that were made, and needed calls, over all rollouts. */
  readonly correctCalls: number;
  readonly neededCalls: number;
  /** Calls that were carried out, whether they ran or failed. */
  readonly calls: number;
  readonly failedCalls: number;
  /** Calls of all rollouts for each completed task; null where none was. */
  readonly callsPerCompleted: number | null;
  /** Calls of those rollouts alone that completed their task; null where none did. */
  readonly callsWhereCompleted: number | null;
}

export function workflowFigures(scored: readonly { readonly trajectory: Pick<Trajectory, 'calls'>; readonly reward: RewardParts }[]): WorkflowFigures {
  const sum = (value: (item: (typeof scored)[number]) => number): number => scored.reduce((total, item) => total + value(item), 0);
  const completed = sum(({ reward }) => (reward.correct ? 1 : 0));
  const calls = sum(({ trajectory }) => trajectory.calls.length);
  return {
    rollouts: scored.length,
    completed,
    correctCalls: sum(({ reward }) => reward.workflow?.functionsMatched ?? 0),
    neededCalls: sum(({ reward }) => reward.workflow?.functionsNeeded ?? 0),
    calls,
    failedCalls: sum(({ trajectory }) => trajectory.calls.filter((call) => !call.ok).length),
    callsPerCompleted: completed === 0 ? null : calls / completed,
    callsWhereCompleted: completed === 0 ? null : sum(({ trajectory, reward }) => (reward.correct ? trajectory.calls.length : 0)) / completed,
  };
}
