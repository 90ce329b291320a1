/** The paper's three conditions, which tell access to a tool from a strategy for it, and the policies that stand for them. */
import type { Tokenizer } from '../policy/tokenizer.ts';
import { tagsOf } from '../rollout/trajectory.ts';

/** The warm start that cannot call; the warm start as it is; and what GRPO made of it. */
export const CONDITIONS = ['base', 'prompted', 'trained'] as const;
export type Condition = (typeof CONDITIONS)[number];

/** The shipped policies of each suite, by folder under `models/`. */
export const SHIPPED: Readonly<Record<string, { readonly warmStart: string; readonly trained: string }>> = {
  arithmetic: { warmStart: 'arithmetic-base', trained: 'arithmetic-trained' },
  'arithmetic-steps': { warmStart: 'steps-base', trained: 'steps-trained' },
  workflow: { warmStart: 'workflow-base', trained: 'workflow-trained' },
};

/** @throws RangeError for a suite without shipped policies. */
export function modelOf(suite: string, condition: Condition): string {
  const shipped = SHIPPED[suite];
  if (shipped === undefined) throw new RangeError(`no policies are shipped for the suite ${suite}`);
  return condition === 'trained' ? shipped.trained : shipped.warmStart;
}

/** Ids that the condition never samples: of `base` both call tags. */
export function bannedTokens(condition: Condition, tokenizer: Tokenizer): number[] {
  return condition === 'base' ? callTags(tokenizer) : [];
}

/** What a policy without access to its tool cannot write. */
export function callTags(tokenizer: Tokenizer): number[] {
  const { call } = tagsOf(tokenizer);
  return [call.open, call.close];
}
