/** What the lab can train and evaluate on: a suite, and what answers its calls. */
import { DEFAULT_EVALUATION, type EvaluationSettings } from '../evaluation/evaluate.ts';
import { environment, type ToolName } from '../rollout/environments.ts';
import { workflowCalls, type RunCalls } from '../rollout/rollout.ts';
import { SUITES } from '../tasks/arithmetic.ts';
import type { Suite } from '../tasks/task.ts';
import { workflow } from '../tasks/workflow.ts';
import { TOY_LIMITS, type Python } from '../tools/python/python.ts';
import { grpoOf, isWorkflow } from './suite-settings.ts';

export const SUITE_NAMES: readonly string[] = [...Object.keys(SUITES), workflow.name];

/** @throws RangeError for a name that is no suite. */
export function suiteOf(name: string): Suite {
  const suite = isWorkflow(name) ? workflow : SUITES[name];
  if (suite === undefined) throw new RangeError(`there is no suite "${name}"`);
  return suite;
}

/** @param probe makes the first call of each rollout fail. The functions of a workflow fail by themselves: they have no variants. */
export function callsOf(suite: Suite, python: Python, tool: ToolName, probe = false): RunCalls {
  return isWorkflow(suite.name) ? workflowCalls : environment(python, TOY_LIMITS, tool, probe);
}

/** As many calls and tokens as in training, scored by the paper's rule. */
export function evaluationOf(suite: string): EvaluationSettings {
  const { maxCalls, maxLength } = grpoOf(suite);
  return { ...DEFAULT_EVALUATION, maxCalls, maxLength };
}
