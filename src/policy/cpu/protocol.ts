/** What the front and its workers say to each other. */
import type { PolicyConfig } from '../config.ts';
import type { EngineError, Objective, SampledRow, SampleRequest, TokenScores, UpdateRow, UpdateTokens } from '../engine.ts';

/** Rows that are computed together, padded to `size` rows and to the bucket of the longest. */
export interface Chunk<Row> {
  readonly rows: readonly Row[];
  readonly size: number;
}

export type WeightsName = 'policy' | 'reference';

export interface Commands {
  /** A new policy: everything known of the old one is dropped. */
  load: { readonly config: PolicyConfig; readonly suppressTokens: readonly number[] };
  weights: { readonly name: WeightsName; readonly weights: Float32Array };
  continue: { readonly request: Omit<SampleRequest, 'signal'> };
  score: { readonly name: WeightsName; readonly chunks: readonly Chunk<Uint32Array>[]; readonly temperature: number; readonly alternatives: number };
  backward: { readonly chunks: readonly Chunk<UpdateRow>[]; readonly objective: Objective; readonly temperature: number };
}

export interface Results {
  load: undefined;
  weights: undefined;
  /** `undefined` where the call was cancelled. */
  continue: readonly SampledRow[] | undefined;
  score: readonly TokenScores[];
  backward: Backward;
}

export interface Backward {
  /** Σ w · loss over the rows. */
  readonly loss: number;
  /** Laid out like the weights. */
  readonly gradient: Float32Array;
  /** In the order of the chunks' rows. */
  readonly rows: readonly UpdateTokens[];
}

export type Kind = keyof Commands;

export type ToWorker =
  | { [K in Kind]: { readonly kind: K; readonly id: number } & Commands[K] }[Kind]
  /** Ends the `continue` of that id between two tokens. */
  | { readonly kind: 'cancel'; readonly id: number };

export type FromWorker =
  | { readonly kind: 'done'; readonly id: number; readonly result: Results[Kind] }
  | { readonly kind: 'failed'; readonly id: number; readonly message: string; readonly code: EngineError['code'] };

/** A thread, whatever it runs on. */
export interface WorkerHandle {
  post(message: ToWorker): void;
  /** Called once, before the first `post`. `fail` is for the end of the thread itself, not for `failed` messages. */
  listen(receive: (message: FromWorker) => void, fail: (error: Error) => void): void;
  terminate(): void;
}

export type Spawn = () => WorkerHandle;
