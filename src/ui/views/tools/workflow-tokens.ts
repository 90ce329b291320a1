/** The tokenizer of the workflow policies, and its tags. */
import { tagsOf } from '../../../rollout/trajectory.ts';
import { workflowTokenizer } from '../../../warmstart/workflow.ts';

export const workflowTokens = workflowTokenizer();
export const WORKFLOW_TAGS = tagsOf(workflowTokens);
