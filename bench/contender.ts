/** What is measured: something that trains the bench's policy, and something that decodes with it. */

export interface Trainer {
  readonly adapter: string;
  /** Makes a step for each batch, queued one after the other, and gives their losses once all are done. */
  train(batches: readonly (readonly Uint32Array[])[]): Promise<number[]>;
  dispose(): void;
}

export interface Decoder {
  readonly adapter: string;
  /** The most probable continuation of each row, the row included, to `length` tokens. */
  decode(rows: readonly Uint32Array[], length: number): Promise<number[][]>;
  dispose(): void;
}
