/**
 * From scored groups to the arrays of an update. Mask and aggregation become one weight for each token, so that
 * loss, denominator and every count come from the same array.
 */
import type { UpdateRow } from '../policy/engine.ts';
import { PROMPT, policyMask, type Trajectory } from '../rollout/trajectory.ts';
import type { Aggregation, GrpoSettings } from './settings.ts';

/** 1 for each token that the loss covers: the policy's own, or with the mask off everything after the prompt. */
export function lossMask(trajectory: Pick<Trajectory, 'owner'>, mask: boolean): Uint8Array {
  return mask ? policyMask(trajectory) : trajectory.owner.map((owner) => (owner === PROMPT ? 0 : 1));
}

/**
 * Each token's share in the loss, for one update over these rollouts. A rollout without a token in the loss gets
 * nothing, and still counts as a rollout.
 * @param maxLength the constant of `constant`: the token budget of a rollout.
 */
export function tokenWeights(masks: readonly Uint8Array[], aggregation: Aggregation, maxLength: number): Float32Array[] {
  const lengths = masks.map((mask) => mask.reduce((a, b) => a + b, 0));
  const all = lengths.reduce((a, b) => a + b, 0);
  return masks.map((mask, i) => {
    const denominator = denominatorOf(aggregation, lengths[i] ?? 0, all, masks.length, maxLength);
    return Float32Array.from(mask, (inLoss) => (inLoss === 1 ? 1 / denominator : 0));
  });
}

function denominatorOf(aggregation: Aggregation, length: number, all: number, rollouts: number, maxLength: number): number {
  switch (aggregation) {
    case 'sequence-mean':
      return rollouts * length;
    case 'token-mean':
      return all;
    case 'constant':
      return rollouts * maxLength;
  }
}

export interface BatchItem {
  readonly trajectory: Trajectory;
  readonly advantage: number;
  /** Log-probabilities under the policy that sampled: those of the rollout, filled up for observations where they count. */
  readonly oldLogProbs: Float32Array;
  readonly referenceLogProbs: Float32Array | undefined;
}

/** The rows of one update. */
export function updateRows(items: readonly BatchItem[], settings: Pick<GrpoSettings, 'mask' | 'aggregation' | 'maxLength'>): UpdateRow[] {
  const masks = items.map(({ trajectory }) => lossMask(trajectory, settings.mask));
  const weights = tokenWeights(masks, settings.aggregation, settings.maxLength);
  return items.map(({ trajectory, advantage, oldLogProbs, referenceLogProbs }, i) => ({
    tokens: trajectory.tokens,
    weights: weights[i] ?? new Float32Array(trajectory.tokens.length),
    advantages: new Float32Array(trajectory.tokens.length).fill(advantage),
    oldLogProbs,
    ...(referenceLogProbs === undefined ? {} : { referenceLogProbs }),
  }));
}
