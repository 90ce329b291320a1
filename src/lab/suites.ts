/** What the lab can train and evaluate on: a suite, with what answers its calls and what it is trained with. */
import { DEFAULT_EVALUATION, type EvaluationSettings } from '../evaluation/evaluate.ts';
import { DEFAULT_GRPO, type GrpoSettings } from '../grpo/settings.ts';
import { MAX_REWARD, MAX_WORKFLOW_REWARD } from '../reward/reward.ts';
import { environment, type ToolName } from '../rollout/environments.ts';
import { workflowCalls, type RunCalls } from '../rollout/rollout.ts';
import { SUITES } from '../tasks/arithmetic.ts';
import type { Suite } from '../tasks/task.ts';
import { workflow } from '../tasks/workflow.ts';
import { TOY_LIMITS, type Python } from '../tools/python/python.ts';
import { WORKFLOW_GRPO } from '../warmstart/workflow.ts';

export const SUITE_NAMES: readonly string[] = [...Object.keys(SUITES), workflow.name];

/** @throws RangeError for a name that is no suite. */
export function suiteOf(name: string): Suite {
  const suite = name === workflow.name ? workflow : SUITES[name];
  if (suite === undefined) throw new RangeError(`there is no suite "${name}"`);
  return suite;
}

/** Whether calls are functions of a workflow, which have a state and no variants, and not code. */
export const isWorkflow = (suite: string): boolean => suite === workflow.name;

/** @param probe makes the first call of each rollout fail. The functions of a workflow fail by themselves: they have no variants. */
export function callsOf(suite: Suite, python: Python, tool: ToolName, probe = false): RunCalls {
  return isWorkflow(suite.name) ? workflowCalls : environment(python, TOY_LIMITS, tool, probe);
}

/** What a run on the suite is made with unless it is said otherwise. */
export function grpoOf(suite: string): GrpoSettings {
  return isWorkflow(suite) ? WORKFLOW_GRPO : DEFAULT_GRPO;
}

/** As many calls and tokens as in training, scored by the paper's rule. */
export function evaluationOf(suite: string): EvaluationSettings {
  const { maxCalls, maxLength } = grpoOf(suite);
  return { ...DEFAULT_EVALUATION, maxCalls, maxLength };
}

/** The largest reward on the suite. */
export function mostReward(suite: string): number {
  return isWorkflow(suite) ? MAX_WORKFLOW_REWARD : MAX_REWARD;
}
