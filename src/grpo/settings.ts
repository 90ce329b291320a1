/** The switches of group-relative policy optimisation, and the named variants as sets of them. */
import type { AdamW } from '../policy/engine.ts';
import { PAPER_REWARD, type RewardSettings } from '../reward/reward.ts';

/**
 * How rewards of a group become advantages: (r − mean)/(std + 1e-4) with the n−1 or the n standard deviation, or
 * r − mean alone.
 */
export type AdvantageRule = 'sample-std' | 'population-std' | 'mean';

/**
 * How token losses are averaged: over each rollout's tokens and then over rollouts (verl: `seq-mean-token-mean`, TRL:
 * `loss_type="grpo"`); over all tokens of the batch (`token-mean`, TRL `bnpo` and `dapo`); or by a constant, the
 * number of rollouts times the token budget (TRL: `dr_grpo`).
 */
export type Aggregation = 'sequence-mean' | 'token-mean' | 'constant';

export interface GrpoSettings {
  /** Questions a step. */
  readonly questions: number;
  /** Rollouts of each question, G. */
  readonly group: number;
  readonly temperature: number;
  /** Executed calls a rollout at most; the next one ends it. */
  readonly maxCalls: number;
  /** Tokens of a rollout, prompt and observations included. */
  readonly maxLength: number;
  readonly advantage: AdvantageRule;
  readonly epsilonLow: number;
  readonly epsilonHigh: number;
  /** Weight of the k3 KL to the reference; 0 needs no reference. */
  readonly beta: number;
  readonly aggregation: Aggregation;
  /** Passes over the step's rollouts. */
  readonly innerEpochs: number;
  /** Updates a pass: rollouts are dealt out in order. */
  readonly minibatches: number;
  /** True: the loss covers only the policy's own tokens. False: observations too, and the denominator with them. */
  readonly mask: boolean;
  /** Drop groups of equal rewards and sample other questions in their place, in at most this many further passes. */
  readonly refills: number;
  readonly reward: RewardSettings;
  readonly optimizer: AdamW;
}

/** ARTIST's rule with the settings that train the toy (the paper does not publish ε, β or the batch). */
export const DEFAULT_GRPO: GrpoSettings = {
  questions: 16,
  group: 6,
  temperature: 1,
  maxCalls: 3,
  maxLength: 160,
  advantage: 'sample-std',
  epsilonLow: 0.2,
  epsilonHigh: 0.2,
  beta: 0,
  aggregation: 'sequence-mean',
  innerEpochs: 1,
  minibatches: 1,
  mask: true,
  refills: 0,
  reward: PAPER_REWARD,
  optimizer: { learningRate: 5e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0, maxGradNorm: 1 },
};

/**
 * ARTIST's groups of eight. A trip with every trouble and a car takes seven calls. The small cost of a call makes a
 * repeated look-up worth less once all rollouts of a group reach the goal; the paper's rule has none.
 */
export const WORKFLOW_GRPO: GrpoSettings = {
  ...DEFAULT_GRPO, questions: 16, group: 8, maxCalls: 7, maxLength: 160,
  reward: { ...PAPER_REWARD, callCost: 0.02 },
  optimizer: { ...DEFAULT_GRPO.optimizer, learningRate: 7e-4 },
};

export type VariantName = 'grpo' | 'dr-grpo' | 'dapo' | 'reinforce';

export interface Variant {
  readonly name: VariantName;
  /** Where the variant is from. */
  readonly source: string;
  readonly settings: Pick<
    GrpoSettings,
    'advantage' | 'epsilonLow' | 'epsilonHigh' | 'aggregation' | 'refills' | 'innerEpochs' | 'minibatches'
  >;
}

/** An ε at which the clip never acts; finite, since settings travel as JSON and as f32. */
export const NO_CLIP = 1e9;

/** Named variants: what each sets, and nothing else. */
export const VARIANTS: Readonly<Record<VariantName, Variant>> = {
  grpo: {
    name: 'grpo',
    source: 'DeepSeekMath, arXiv 2402.03300; as in ARTIST, arXiv 2505.01441',
    settings: {
      advantage: 'sample-std', epsilonLow: 0.2, epsilonHigh: 0.2, aggregation: 'sequence-mean', refills: 0,
      innerEpochs: 1, minibatches: 1,
    },
  },
  'dr-grpo': {
    name: 'dr-grpo',
    source: 'Understanding R1-Zero-Like Training, arXiv 2503.20783',
    settings: {
      advantage: 'mean', epsilonLow: 0.2, epsilonHigh: 0.2, aggregation: 'constant', refills: 0,
      innerEpochs: 1, minibatches: 1,
    },
  },
  dapo: {
    name: 'dapo',
    source: 'DAPO, arXiv 2503.14476',
    settings: {
      advantage: 'sample-std', epsilonLow: 0.2, epsilonHigh: 0.28, aggregation: 'token-mean', refills: 3,
      innerEpochs: 1, minibatches: 1,
    },
  },
  reinforce: {
    name: 'reinforce',
    source: 'Williams 1992, with the mean of the group as baseline',
    settings: {
      // One pass over fresh rollouts: the ratio is 1, and the clip cannot act.
      advantage: 'mean', epsilonLow: NO_CLIP, epsilonHigh: NO_CLIP, aggregation: 'sequence-mean', refills: 0,
      innerEpochs: 1, minibatches: 1,
    },
  },
};
