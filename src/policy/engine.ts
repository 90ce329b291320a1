/**
 * What a policy engine does, whatever it runs on: load weights, continue rollouts, score tokens, take gradient
 * steps. Two engines implement it: `webgpu/` (hand-written WGSL) and `cpu/` (jax-js). An engine knows tokens,
 * not text: tags, tools, rewards and advantages are the layers above it.
 *
 * Calls are carried out in the order in which they were made: `update` need not be awaited before the next
 * `continue`, which then samples from the updated weights.
 */
import type { PolicyConfig } from './config.ts';

/** Weights of a policy with what is needed to go on: the state of Adam, and the ids that are never sampled. */
export interface Checkpoint {
  readonly config: PolicyConfig;
  /** All weights, float32, laid out as `parameterLayout(config)` says. */
  readonly weights: Float32Array;
  readonly optimizer?: OptimizerState;
  /** Ids without probability mass, in sampling and in the loss: padding ids (`generation_config.json`). */
  readonly suppressTokens: readonly number[];
}

/** Adam's moments, laid out like the weights, and the number of updates that made them. */
export interface OptimizerState {
  readonly step: number;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

/** A checkpoint taken from a running engine: optimiser state included. */
export type Snapshot = Checkpoint & { readonly optimizer: OptimizerState };

export interface EngineInfo {
  readonly kind: 'webgpu' | 'cpu';
  /** A line for people: the adapter's name, or "CPU (WebAssembly), 2 workers". */
  readonly adapter: string;
  /** True where a WebGPU adapter is emulated on the processor (SwiftShader, lavapipe, WARP). */
  readonly software: boolean;
}

/** One unfinished rollout. */
export interface SampleRow {
  /** The context so far, observations included. At least one token. */
  readonly tokens: Uint32Array;
  /** The rollout's number within the step: with seed, step and position it keys the random numbers. */
  readonly stream: number;
}

export interface SampleRequest {
  readonly rows: readonly SampleRow[];
  readonly seed: number;
  readonly step: number;
  /** 1 samples from the policy as it is; 0 takes the most probable token (the lowest id on a tie). */
  readonly temperature: number;
  /** Keep ids with fewer than `topK` ids of larger logit. For looking, never for training. */
  readonly topK?: number;
  /** After top-k: keep ids for which the mass of strictly more probable ids is below `topP`. */
  readonly topP?: number;
  /** A row stops once it has written one of these; the stop token is part of the result. */
  readonly stopTokens: readonly number[];
  /** Further ids that get no mass in this request (e.g. the call tag, for a policy without tools). */
  readonly bannedTokens?: readonly number[];
  /** A row stops when context and new tokens together reach this length; at most max_position_embeddings. */
  readonly maxLength: number;
  /** Stops the work between tokens; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface SampledRow {
  /** The new tokens only. Empty where the context had already reached `maxLength`. */
  readonly tokens: Uint32Array;
  /** Log-probability of each new token under the law that sampled it (temperature, bans, top-k, top-p). */
  readonly logProbs: Float32Array;
  readonly stop: 'token' | 'length';
}

export interface SampleResult {
  /** In the order of the request's rows. */
  readonly rows: readonly SampledRow[];
}

export interface ScoreRequest {
  /** Token rows of any lengths, each from position 0. */
  readonly rows: readonly Uint32Array[];
  /** Log-probabilities are those of the law at this temperature; above 0. */
  readonly temperature: number;
  /** The weights that score: the policy's, or those held by the last `holdReference`. Default: the policy's. */
  readonly weights?: 'policy' | 'reference';
  /** How many of the most probable ids to return for each position. Default: none. */
  readonly alternatives?: number;
}

/** Scores of one row of n tokens. Index t describes token t given the tokens before it; index 0 is NaN. */
export interface TokenScores {
  readonly logProbs: Float32Array;
  /** Entropy of the whole law, in nats. */
  readonly entropy: Float32Array;
  /** n × k, most probable first, ties by id; position 0 is filled with 0 and NaN. */
  readonly alternatives?: { readonly ids: Uint32Array; readonly logProbs: Float32Array };
}

/** What is minimised, for each token t of weight w_t: Σ w_t · loss_t. */
export type Objective =
  /** loss_t = −log π(t). */
  | { readonly kind: 'supervised' }
  /**
   * loss_t = −min(ρA, clip(ρ, 1 − epsilonLow, 1 + epsilonHigh)·A) + β·k3, with ρ = exp(clamp(lp − lp_old, ±20))
   * and k3 = exp(δ) − δ − 1, δ = clamp(lp_ref − lp, ±20). Where the clip is active for the sign of A, or a clamp
   * acts, that term has no gradient.
   */
  | { readonly kind: 'grpo'; readonly epsilonLow: number; readonly epsilonHigh: number; readonly beta: number };

/** One token row of an update; all arrays have the row's length n. Index 0 is never predicted and never counts. */
export interface UpdateRow {
  readonly tokens: Uint32Array;
  /**
   * The token's share in the loss: mask and aggregation in one (1/(rows·length), 1/all tokens, …). A weight
   * of 0 means "context only": the token gets exactly no gradient, whatever the other arrays hold there.
   */
  readonly weights: Float32Array;
  /** For `grpo`: the advantage of each token. */
  readonly advantages?: Float32Array;
  /** For `grpo`: log-probability under the policy that sampled. Ignored (NaN allowed) where the weight is 0. */
  readonly oldLogProbs?: Float32Array;
  /** For `grpo` with β > 0: log-probability under the reference. */
  readonly referenceLogProbs?: Float32Array;
}

export interface AdamW {
  readonly learningRate: number;
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Decoupled; on matrices only (`ParameterSlice.decayed`). */
  readonly weightDecay: number;
  /** The gradient is scaled down to this global norm; Infinity for none. */
  readonly maxGradNorm: number;
}

export interface UpdateRequest {
  readonly rows: readonly UpdateRow[];
  readonly objective: Objective;
  /** The law whose log-probabilities the loss is of: the sampling temperature. */
  readonly temperature: number;
}

/** Per-token quantities of one row, from the kernels that made the update. Length n; NaN where weight is 0 or t = 0. */
export interface UpdateTokens {
  readonly logProbs: Float32Array;
  readonly entropy: Float32Array;
  /** ρ; `grpo` only, else NaN. */
  readonly ratio: Float32Array;
  /** k3 estimate of KL to the reference, in nats; NaN without a reference. */
  readonly kl: Float32Array;
  /** 1 where the clip is active for the sign of the advantage (no gradient through the ratio), else 0. */
  readonly clipped: Uint8Array;
  /** d loss / d log π(t), weight included: its sign says which way the update pushes the token. 0 where masked. */
  readonly dLogProb: Float32Array;
  /** Euclidean norm of the row of d loss / d logits. 0 where masked. */
  readonly gradient: Float32Array;
}

export interface UpdateReport {
  /** Σ w_t · loss_t over the batch. */
  readonly loss: number;
  /** Global norm of the gradient before clipping. */
  readonly gradNorm: number;
  /** Whether weights changed. */
  readonly applied: boolean;
  /** Why nothing was applied. */
  readonly skipped?: 'non-finite' | 'no-trainable-token' | 'not-requested';
  readonly rows: readonly UpdateTokens[];
}

export interface GradientReport extends UpdateReport {
  /** The whole gradient, unclipped, laid out like the weights. */
  readonly gradient: Float32Array;
}

/** @see the module's comment for the order of calls. */
export interface PolicyEngine {
  readonly info: EngineInfo;
  /** The configuration of the loaded policy; undefined before the first `load`. */
  readonly config: PolicyConfig | undefined;
  /**
   * Takes over a checkpoint; Adam starts afresh where it holds no optimiser state.
   * @throws EngineError where the adapter cannot hold the configuration.
   */
  load(checkpoint: Checkpoint): Promise<void>;
  /** Weights and optimiser state, copied out: to save, to step back, to resume after the device was lost. */
  snapshot(): Promise<Snapshot>;
  /** Continues every row to its next stop token or to `maxLength`. */
  continue(request: SampleRequest): Promise<SampleResult>;
  score(request: ScoreRequest): Promise<readonly TokenScores[]>;
  /**
   * Keeps a copy of these weights (default: the current ones) as the reference policy, for the KL term. A `load`
   * forgets it.
   */
  holdReference(weights?: Float32Array): Promise<void>;
  /** The same computation as `update`, with nothing applied and the gradient copied out. */
  gradients(request: UpdateRequest): Promise<GradientReport>;
  /**
   * One step of AdamW. A gradient that is not finite, or a batch in which no token has a weight, leaves weights
   * and moments untouched and says so in the report.
   */
  update(request: UpdateRequest, optimizer: AdamW): Promise<UpdateReport>;
  /** Frees everything; later calls reject with EngineError. */
  dispose(): void;
}

/** A fault of an engine. `lost` marks a lost device: make a new engine and load the last snapshot. */
export class EngineError extends Error {
  override readonly name = 'EngineError';
  constructor(
    message: string,
    readonly code: 'lost' | 'unsupported' | 'disposed' | 'invalid' | 'internal',
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** @throws EngineError `invalid` where a row is empty, too long, or holds an id outside the vocabulary. */
export function checkTokens(config: PolicyConfig, rows: readonly Uint32Array[]): void {
  for (const [i, row] of rows.entries()) {
    if (row.length === 0) throw new EngineError(`row ${i} is empty`, 'invalid');
    if (row.length > config.max_position_embeddings) {
      throw new EngineError(
        `row ${i} has ${row.length} tokens; the policy has ${config.max_position_embeddings} positions`,
        'invalid',
      );
    }
    for (const id of row) {
      if (id >= config.vocab_size) throw new EngineError(`row ${i} holds id ${id}, outside the vocabulary`, 'invalid');
    }
  }
}
