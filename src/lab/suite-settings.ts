/** What a suite is trained with, by its name: for a page that has not loaded its tasks. */
import { DEFAULT_GRPO, WORKFLOW_GRPO, type GrpoSettings } from '../grpo/settings.ts';
import { MAX_REWARD, MAX_WORKFLOW_REWARD } from '../reward/reward.ts';
import { WORKFLOW } from '../tasks/task.ts';

/** Whether calls are functions of a workflow, which have a state and no variants, and not code. */
export const isWorkflow = (suite: string): boolean => suite === WORKFLOW;

/** What a run on the suite is made with unless it is said otherwise. */
export function grpoOf(suite: string): GrpoSettings {
  return isWorkflow(suite) ? WORKFLOW_GRPO : DEFAULT_GRPO;
}

/** The largest reward on the suite. */
export function mostReward(suite: string): number {
  return isWorkflow(suite) ? MAX_WORKFLOW_REWARD : MAX_REWARD;
}
