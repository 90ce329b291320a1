/** What the lab can train and evaluate on: a suite, with what answers its calls and what scores its attempts. */
import { environment, type ToolName } from '../rollout/environments.ts';
import { workflowCalls, type RunCalls } from '../rollout/rollout.ts';
import { SUITES } from '../tasks/arithmetic.ts';
import type { Suite } from '../tasks/task.ts';
import { workflow } from '../tasks/workflow.ts';
import { TOY_LIMITS, type Python } from '../tools/python/python.ts';

/** @throws RangeError for a name that is no suite. */
export function suiteOf(name: string): Suite {
  const suite = name === workflow.name ? workflow : SUITES[name];
  if (suite === undefined) throw new RangeError(`there is no suite "${name}"`);
  return suite;
}

/** @param probe makes the first call of each rollout fail. The functions of a workflow fail by themselves: they have no variants. */
export function callsOf(suite: Suite, python: Python, tool: ToolName, probe = false): RunCalls {
  return suite === workflow ? workflowCalls : environment(python, TOY_LIMITS, tool, probe);
}
