/** How an attempt is scored: the parts of a reward and the switches of the rule. The rules are in `math.ts` and `workflow.ts`. */

export interface RewardSettings {
  /**
   * What the execution part is worth to a rollout without a call: 0 as in the paper; left out, with the other
   * parts rescaled to the same maximum of 4; or full. With `excluded` and `full` the format asks only for think and
   * answer of such a rollout.
   */
  readonly noCall: 'paper' | 'excluded' | 'full';
  /** Taken off for each executed call. */
  readonly callCost: number;
}

export const PAPER_REWARD: RewardSettings = { noCall: 'paper', callCost: 0 };

/** Every part is kept, never only the sum. The ranges are those of the math rule; `partsOf` lists the parts of either. */
export interface RewardParts {
  /** 0 or 2; 0 for function calling, which has no answer. */
  readonly answer: number;
  /** 0 to 0.5: tag pairs present and balanced. Function calling: 0 to 0.1. */
  readonly formatRelaxed: number;
  /** 0 or 0.5: all in order. Function calling: 0 or 0.1. */
  readonly formatStrict: number;
  /** 0 to 1: calls that ran / calls; null where the rule leaves it out, as that of function calling does. */
  readonly execution: number | null;
  /** −cost × calls; 0 or below. */
  readonly callCost: number;
  /** The sum, rescaled to the maximum of 4 where the math rule leaves execution out. */
  readonly total: number;
  /** Whether the last closed answer is right; for function calling, whether the final state is the goal. */
  readonly correct: boolean;
  /** The parts that only function calling has. */
  readonly workflow?: WorkflowParts;
}

export interface WorkflowParts {
  /** 0 to 0.5: entries of the state as they should be / entries to be changed or changed wrongly. */
  readonly state: number;
  /** 0 to 0.5: needed calls that were made / needed calls. */
  readonly functions: number;
  readonly functionsMatched: number;
  readonly functionsNeeded: number;
}

/** The largest total of the math rule. */
export const MAX_REWARD = 4;

/** The largest total of the rule of function calling. */
export const MAX_WORKFLOW_REWARD = 1.2;
