/**
 * The objective of one token, step by step, for people who read along: float64, on plain numbers. What an engine
 * reports is never computed here for a number that is shown as the engine's; this gives the steps between, and the
 * whole walk of an example.
 */
import type { Aggregation } from './settings.ts';

/** As in the engines: larger log-ratios are cut before `exp`, and then have no gradient. */
const CLAMP = 20;

export interface TokenNumbers {
  /** Under the policy that sampled. NaN where the weight is 0 and nobody scored it. */
  readonly oldLogProb: number;
  readonly logProb: number;
  /** NaN or left out without a reference. */
  readonly referenceLogProb?: number;
  readonly advantage: number;
  /** The token's share in the loss; 0 is "context only". */
  readonly weight: number;
}

export interface TokenRule {
  readonly epsilonLow: number;
  readonly epsilonHigh: number;
  readonly beta: number;
}

export interface TokenWalk {
  /** ρ = exp(log π − log π_old). */
  readonly ratio: number;
  /** ρ brought into 1 − ε to 1 + ε. */
  readonly inside: number;
  /** ρA, and the same with the ratio brought inside. */
  readonly plain: number;
  readonly bounded: number;
  /** The smaller of the two. */
  readonly gain: number;
  /** Outside of the band on the side to which the advantage pushes: no gradient through the ratio. */
  readonly clipped: boolean;
  /** k3 estimate of KL to the reference, in nats; 0 without one. */
  readonly kl: number;
  /** −gain + β·k3. */
  readonly loss: number;
  /** w·loss: what the token adds to the sum. Exactly 0 where the weight is. */
  readonly weighted: number;
  /** d (w·loss) / d log π. Exactly 0 where the weight is. */
  readonly dLogProb: number;
}

/**
 * @param reported a ratio that an engine computed in float32: the walk then goes on from it, so that the steps after
 * it fit what is shown.
 */
export function walkToken(numbers: TokenNumbers, rule: TokenRule, reported?: number): TokenWalk {
  const { oldLogProb, logProb, referenceLogProb = NaN, advantage, weight } = numbers;
  const change = logProb - oldLogProb;
  const ratio = reported ?? Math.exp(clamp(change, -CLAMP, CLAMP));
  const inside = clamp(ratio, 1 - rule.epsilonLow, 1 + rule.epsilonHigh);
  const plain = ratio * advantage;
  const bounded = inside * advantage;
  const clipped = (advantage > 0 && ratio > 1 + rule.epsilonHigh) || (advantage < 0 && ratio < 1 - rule.epsilonLow);
  const drift = clamp(referenceLogProb - logProb, -CLAMP, CLAMP);
  const pulled = rule.beta !== 0 && !Number.isNaN(drift);
  const kl = pulled ? Math.expm1(drift) - drift : 0;
  const gain = Math.min(plain, bounded);
  const loss = -gain + rule.beta * kl;
  const push = clipped || Math.abs(change) >= CLAMP ? 0 : -plain;
  const pull = pulled && Math.abs(referenceLogProb - logProb) < CLAMP ? -rule.beta * Math.expm1(drift) : 0;
  return {
    ratio, inside, plain, bounded, gain, clipped, kl, loss,
    weighted: weight === 0 ? 0 : weight * loss,
    // Adding 0 turns −0 into 0.
    dLogProb: weight === 0 ? 0 : weight * (push + pull) + 0,
  };
}

function clamp(x: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, x));
}

/** What a token's share in the loss is made of: 1 over the product of these. @see tokenWeights */
export function weightParts(
  aggregation: Aggregation,
  batch: { readonly rollouts: number; readonly tokensInLoss: number; readonly maxLength: number },
  tokensOfRollout: number,
): readonly number[] {
  switch (aggregation) {
    case 'sequence-mean':
      return [batch.rollouts, tokensOfRollout];
    case 'token-mean':
      return [batch.tokensInLoss];
    case 'constant':
      return [batch.rollouts, batch.maxLength];
  }
}

export interface AdamNumbers {
  /** After clipping to the global norm. */
  readonly gradient: number;
  readonly m: number;
  readonly v: number;
  readonly before: number;
  readonly after: number;
}

export interface AdamWalk {
  /** m and v without the bias towards their start at 0. */
  readonly mHat: number;
  readonly vHat: number;
  /** −η · m̂ / (√v̂ + ε): the step without weight decay. */
  readonly step: number;
  /** What weight decay takes off, where it acts on this parameter. */
  readonly decay: number;
}

/**
 * The steps between the moments that an engine holds and the change of the weight.
 * @param decayed weight decay acts on matrices only.
 */
export function walkAdam(
  { m, v, before }: Pick<AdamNumbers, 'm' | 'v' | 'before'>,
  optimizer: { readonly learningRate: number; readonly beta1: number; readonly beta2: number; readonly epsilon: number; readonly weightDecay: number },
  t: number,
  decayed: boolean,
): AdamWalk {
  const mHat = m / (1 - optimizer.beta1 ** t);
  const vHat = v / (1 - optimizer.beta2 ** t);
  return {
    mHat,
    vHat,
    step: (-optimizer.learningRate * mHat) / (Math.sqrt(vHat) + optimizer.epsilon),
    decay: decayed ? -optimizer.learningRate * optimizer.weightDecay * before : 0,
  };
}

/** Situations worth seeing once. */
export const CASES = ['up-clipped', 'up-free', 'down-clipped', 'down-free', 'masked', 'equal', 'one'] as const;
export type CaseName = (typeof CASES)[number];

export interface Example extends TokenNumbers {
  readonly advantage: number;
}

const example = (ratio: number, advantage: number, weight = 0.001): Example => {
  const oldLogProb = Math.log(0.4);
  return { oldLogProb, logProb: oldLogProb + Math.log(ratio), advantage, weight };
};

/** Numbers of an example for each case, at ε of 0.2; made up, and to be said so. */
export const EXAMPLES: Readonly<Record<CaseName, Example>> = {
  'up-clipped': example(1.5, 1),
  'up-free': example(0.6, 1),
  'down-clipped': example(0.6, -1),
  'down-free': example(1.5, -1),
  masked: { oldLogProb: NaN, logProb: NaN, advantage: 1, weight: 0 },
  equal: example(1.1, 0),
  one: example(1, 1),
};

/** Ratios that differ from 1 by less are rounding: log-probabilities are float32. */
export const RATIO_ROUNDING = 1e-5;

/** Which cases a token of a real update is. Undefined numbers fit none but `masked`. */
export function casesOf({ advantage, weight }: Pick<TokenNumbers, 'advantage' | 'weight'>, rule: TokenRule, ratio: number): readonly CaseName[] {
  if (weight === 0) return ['masked'];
  if (Number.isNaN(ratio)) return [];
  const cases: CaseName[] = [];
  const above = ratio > 1 + rule.epsilonHigh;
  const below = ratio < 1 - rule.epsilonLow;
  if (advantage > 0 && above) cases.push('up-clipped');
  if (advantage > 0 && below) cases.push('up-free');
  if (advantage < 0 && below) cases.push('down-clipped');
  if (advantage < 0 && above) cases.push('down-free');
  if (advantage === 0) cases.push('equal');
  if (Math.abs(ratio - 1) < RATIO_ROUNDING) cases.push('one');
  return cases;
}
