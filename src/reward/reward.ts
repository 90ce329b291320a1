/** How an attempt is scored: the parts of a reward and the switches of the rule. The rule itself is in `math.ts`. */

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

/** Every part is kept, never only the sum. */
export interface RewardParts {
  /** 0 or 2. */
  readonly answer: number;
  /** 0 to 0.5: tag pairs present and balanced. */
  readonly formatRelaxed: number;
  /** 0 or 0.5: all in order. */
  readonly formatStrict: number;
  /** 0 to 1: calls that ran / calls; null where the rule leaves it out. */
  readonly execution: number | null;
  /** −cost × calls; 0 or below. */
  readonly callCost: number;
  /** The sum, rescaled to the maximum of 4 where execution is left out. */
  readonly total: number;
  /** Whether the last closed answer is right. */
  readonly correct: boolean;
}

/** The largest total of the math rule. */
export const MAX_REWARD = 4;
