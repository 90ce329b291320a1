/** Which text the ids of a rollout stand for: the policies of a suite share one vocabulary. */
import { Tokenizer } from '../../../policy/tokenizer.ts';
import { workflow } from '../../../tasks/workflow.ts';
import type { Task } from '../../../tasks/task.ts';
import { workflowTokenizer } from '../../../warmstart/workflow.ts';

/** Of the suites of arithmetic: single characters. */
export const characters = new Tokenizer();
const words = workflowTokenizer();

export function tokenizerOf({ suite }: Pick<Task, 'suite'>): Tokenizer {
  return suite === workflow.name ? words : characters;
}
