/** Which rule scores an attempt, and how its parts are listed. */
import type { Tokenizer } from '../policy/tokenizer.ts';
import { tagsOf, type Trajectory } from '../rollout/trajectory.ts';
import type { Suite } from '../tasks/task.ts';
import { scoreMath } from './math.ts';
import { MAX_REWARD, MAX_WORKFLOW_REWARD, type RewardParts, type RewardSettings } from './reward.ts';
import { scoreWorkflow } from './workflow.ts';

/** The rule that belongs to the tags of a vocabulary: of function calling where there is no answer tag, else of math. */
export function scorerOf(suite: Suite, tokenizer: Tokenizer, settings: RewardSettings): (trajectory: Trajectory) => RewardParts {
  return tagsOf(tokenizer).answer === undefined
    ? (trajectory) => scoreWorkflow(trajectory, tokenizer, settings)
    : (trajectory) => scoreMath(trajectory, suite, tokenizer, settings);
}

export type RewardPartName = 'answer' | 'state' | 'functions' | 'formatRelaxed' | 'formatStrict' | 'execution' | 'callCost';

export interface RewardPart {
  readonly name: RewardPartName;
  /** What it gives to the total; below 0 for a cost. */
  readonly value: number;
  /** The most it can give. */
  readonly most: number;
}

/** The largest total of the rule by which an attempt was scored. */
export function mostOf({ workflow }: Pick<RewardParts, 'workflow'>): number {
  return workflow === undefined ? MAX_REWARD : MAX_WORKFLOW_REWARD;
}

/**
 * The parts of a reward in the order of the paper. Their values add up to the total, and what they can give to
 * `mostOf`: where execution is left out, the others are stretched.
 */
export function partsOf(reward: RewardParts): RewardPart[] {
  const { answer, formatRelaxed, formatStrict, execution, callCost, workflow } = reward;
  const cost: RewardPart[] = callCost === 0 ? [] : [{ name: 'callCost', value: callCost, most: 0 }];
  if (workflow !== undefined) {
    return [
      { name: 'state', value: workflow.state, most: 0.5 },
      { name: 'functions', value: workflow.functions, most: 0.5 },
      { name: 'formatRelaxed', value: formatRelaxed, most: 0.1 },
      { name: 'formatStrict', value: formatStrict, most: 0.1 },
      ...cost,
    ];
  }
  const stretch = execution === null ? MAX_REWARD / 3 : 1;
  return [
    { name: 'answer', value: answer * stretch, most: 2 * stretch },
    { name: 'formatRelaxed', value: formatRelaxed * stretch, most: 0.5 * stretch },
    { name: 'formatStrict', value: formatStrict * stretch, most: 0.5 * stretch },
    ...(execution === null ? [] : [{ name: 'execution', value: execution, most: 1 } as const]),
    ...cost,
  ];
}
