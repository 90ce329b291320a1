/**
 * What the page may ask about a step that was made: questions and answers of the microscope. Every number in an answer
 * comes from an engine of the run's kind on the weights of that step, never from a second implementation.
 */
import type { EngineInfo, TokenScores, UpdateTokens } from '../policy/engine.ts';
import type { ScoredTrajectory } from '../grpo/record.ts';
import type { AdvantageRule, Aggregation } from '../grpo/settings.ts';
import type { EvaluationResult } from '../evaluation/evaluate.ts';
import type { Drift } from '../evaluation/masking.ts';
import type { ToolName } from '../rollout/environments.ts';
import type { Task } from '../tasks/task.ts';
import type { PythonResult } from '../tools/python/python.ts';

export interface StepRef {
  readonly run: string;
  /** From 1. */
  readonly step: number;
}

export interface GroupRef extends StepRef {
  /** Place among the step's groups, from 0. */
  readonly group: number;
}

export interface RolloutRef extends GroupRef {
  /** Place among the group's members, from 0. */
  readonly rollout: number;
}

/**
 * Weights to look with: those that sampled the step, those after its update, those the run started from, those of the
 * run's newest snapshot, or a policy that ships with the page.
 */
export type PolicyRef = 'before' | 'after' | 'start' | 'latest' | { readonly model: string };

/** The switches of an update that can be turned without sampling again. What is left out is as in the run. */
export interface UpdateChange {
  readonly mask?: boolean;
  readonly advantage?: AdvantageRule;
  readonly aggregation?: Aggregation;
  readonly epsilonLow?: number;
  readonly epsilonHigh?: number;
  readonly beta?: number;
}

export type Inspection =
  /**
   * Log-probabilities and entropies of token rows under a policy at the run's temperature; with `alternatives` also
   * the most probable ids of each position, its distribution as far as it can be shown.
   */
  | {
      readonly kind: 'scores';
      readonly at: StepRef;
      readonly policy: PolicyRef;
      readonly rows: readonly Uint32Array[];
      readonly alternatives?: number;
    }
  /**
   * The arrays of one update of the step, as the trainer built and the engine computed them, for the members of one
   * group: first with the run's own switches, then once for each change.
   */
  | {
      readonly kind: 'update';
      readonly at: GroupRef;
      readonly changes: readonly UpdateChange[];
      /** Which update of the step, from 0, where inner epochs or minibatches make several. Default 0. */
      readonly update?: number;
    }
  /** The step of AdamW of that update, parameter by parameter. Its gradient is that of the whole batch. */
  | { readonly kind: 'adam'; readonly at: StepRef; readonly update?: number }
  /**
   * Goes on from inside a rollout: the first `keep` tokens stay, something is put in, and the policy runs on. A call
   * is run by real Python.
   */
  | {
      readonly kind: 'branch';
      readonly at: RolloutRef;
      /** The tokens to start from, where this branches from a branch. Default: those of the rollout. */
      readonly from?: ScoredTrajectory;
      readonly policy: PolicyRef;
      readonly keep: number;
      readonly insert:
        /** Code between the call's tags; `keep` ends behind the opening tag. */
        | { readonly kind: 'call'; readonly code: string }
        /** An observation in the place of the environment's; `keep` ends before its opening tag. */
        | { readonly kind: 'observation'; readonly text: string }
        /** Another token in the place of the one that was drawn. */
        | { readonly kind: 'token'; readonly id: number }
        /** Nothing: other random numbers from here on. */
        | { readonly kind: 'nothing' };
      readonly seed: number;
    }
  /** Held-out questions of a suite, answered by one policy. The same request gives the same figures on the same engine. */
  | {
      readonly kind: 'evaluate';
      readonly policy: PolicySource;
      readonly suite: string;
      /** Without a tool the call's tags are never sampled. */
      readonly access: 'tools' | 'none';
      readonly tool: ToolName;
      /** The first call of each rollout fails. */
      readonly probe: boolean;
      readonly questionsPerTier: number;
      readonly samples: number;
      /** 0 takes the most probable token. */
      readonly temperature: number;
      readonly seed: number;
    }
  /** One question, answered once. */
  | {
      readonly kind: 'answer';
      readonly policy: PolicySource;
      readonly access: 'tools' | 'none';
      readonly task: Task;
      readonly temperature: number;
      readonly seed: number;
    }
  /** Token rows scored by a policy, whatever run they are from. */
  | { readonly kind: 'read'; readonly policy: PolicySource; readonly rows: readonly Uint32Array[] }
  /** How far the rollouts of a step have gone from the policy that the run started from, and what they forge. */
  | { readonly kind: 'drift'; readonly at: StepRef }
  /** A call by hand. */
  | { readonly kind: 'python'; readonly code: string; readonly limits: 'rollout' | 'person' }
  /** Scores a group by a rule that the person wrote: Python with the signature of a reward function of TRL. */
  | { readonly kind: 'rule'; readonly at: GroupRef; readonly code: string };

/** A policy: one that ships with the page, or a run's, after a step or as it is now. */
export type PolicySource = { readonly model: string } | { readonly run: string; readonly step?: number };

export type InspectionKind = Inspection['kind'];

/** Where the weights came from, and whether they are those that sampled. */
export interface Provenance {
  readonly engine: EngineInfo;
  /** The step after which the nearest snapshot was taken; 0 is the model that the run started from. */
  readonly snapshot: number;
  /** Updates that were made again from there. */
  readonly replayed: number;
  /**
   * The sampled tokens of the step scored again with these weights: how many, and the largest difference to the
   * log-probability that was stored when they were drawn. Undefined where no such weights were needed.
   */
  readonly check: { readonly tokens: number; readonly maxDifference: number } | undefined;
}

/** One member of the group in one update. All arrays have the member's length. */
export interface UpdateMember {
  /** Each token's share in the loss; 0 is "context only". */
  readonly weights: Float32Array;
  readonly advantage: number;
  readonly oldLogProbs: Float32Array;
  /** Undefined where β is 0. */
  readonly referenceLogProbs: Float32Array | undefined;
  /** Undefined where the member is in another minibatch, or was dropped. */
  readonly tokens: UpdateTokens | undefined;
}

export interface UpdateView {
  /** The switches this was computed with, all of them. */
  readonly settings: Required<UpdateChange> & { readonly temperature: number; readonly maxLength: number };
  readonly members: readonly UpdateMember[];
  /** Σ w·loss over the batch. */
  readonly loss: number;
  /** Global norm of the gradient before clipping. */
  readonly gradNorm: number;
  /** Of the batch: rollouts in it, tokens in the loss, and how many of those the environment wrote. */
  readonly rollouts: number;
  readonly tokensInLoss: number;
  readonly observationTokensInLoss: number;
  /** Against the run's own switches: norm of the difference of the gradients, and the cosine between them. */
  readonly difference: { readonly norm: number; readonly cosine: number };
}

/** One parameter in one step of AdamW. */
export interface AdamParameter {
  readonly tensor: string;
  /** Index within the tensor, row-major. */
  readonly index: number;
  readonly gradient: number;
  /** After clipping to the global norm. */
  readonly clipped: number;
  readonly mBefore: number;
  readonly m: number;
  readonly vBefore: number;
  readonly v: number;
  readonly before: number;
  readonly after: number;
}

export interface AdamTensor {
  readonly name: string;
  readonly size: number;
  /** Euclidean norms. */
  readonly weights: number;
  readonly gradient: number;
  readonly change: number;
}

export interface InspectionResults {
  readonly scores: { readonly rows: readonly TokenScores[]; readonly provenance: Provenance };
  readonly update: {
    readonly views: readonly UpdateView[];
    /** How many updates the step made, and which one this is, from 0. */
    readonly updates: number;
    readonly update: number;
    readonly provenance: Provenance;
  };
  readonly adam: {
    /** The number of this update since Adam began, from 1: t in the bias correction. */
    readonly t: number;
    readonly optimizer: { readonly learningRate: number; readonly beta1: number; readonly beta2: number; readonly epsilon: number; readonly weightDecay: number; readonly maxGradNorm: number };
    readonly gradNorm: number;
    /** What the gradient is multiplied with: 1, or maxGradNorm / gradNorm. */
    readonly scale: number;
    readonly tensors: readonly AdamTensor[];
    /** The parameters with the largest gradients, one or more a tensor. */
    readonly parameters: readonly AdamParameter[];
    /** Whether the weights moved: an update without signal leaves them. */
    readonly applied: boolean;
    readonly provenance: Provenance;
  };
  readonly branch: {
    /** Scored by the run's rule; its advantage is 0: it belongs to no group. Put-in tokens have no log-probability. */
    readonly trajectory: ScoredTrajectory;
    /** Tokens that the branch shares with what it left. */
    readonly keep: number;
    /** The range that the person put in, [start, end). */
    readonly inserted: readonly [number, number];
    readonly provenance: Provenance;
  };
  readonly evaluate: { readonly result: EvaluationResult; readonly engine: EngineInfo };
  readonly answer: { readonly trajectory: ScoredTrajectory; readonly engine: EngineInfo };
  readonly read: { readonly rows: readonly TokenScores[]; readonly engine: EngineInfo };
  readonly drift: { readonly drift: Drift; readonly provenance: Provenance };
  readonly python: { readonly result: PythonResult };
  /** In the order of the group; null where the rule says that it does not apply. */
  readonly rule: { readonly rewards: readonly (number | null)[] };
}

/** How far an answer is. */
export type InspectionPhase = 'engine' | 'replaying' | 'computing' | 'python' | 'answering';
