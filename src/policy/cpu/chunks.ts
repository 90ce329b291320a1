/** How the rows of a batch are shared out among the workers. */
import type { PolicyConfig } from '../config.ts';
import type { Chunk } from './protocol.ts';
import { bucket } from './shapes.ts';

/** Rows of one worker, in chunks, and where each stood in the request. */
export interface Share<Row> {
  readonly chunks: readonly Chunk<Row>[];
  /** In the order of the chunks' rows. */
  readonly indices: readonly number[];
}

/**
 * Numbers that the backward pass of one chunk may keep, by a rough count. jax-js never gives memory back, not even
 * from one shape to another, so this bounds what a thread comes to hold: about 64 MB for each shape.
 */
const CHUNK_BUDGET = 8 * 2 ** 20;

/** How many rows of this length a chunk may have; at least one. */
export function rowLimit(config: PolicyConfig, length: number): number {
  const { num_hidden_layers, num_attention_heads, hidden_size, intermediate_size, vocab_size } = config;
  const T = bucket(length);
  const layer = 12 * hidden_size + 6 * intermediate_size + 3 * num_attention_heads * T;
  return Math.max(1, Math.floor(CHUNK_BUDGET / (T * (num_hidden_layers * layer + 6 * vocab_size))));
}

/**
 * Sorts rows by length, so that none pays for a longer one's padding, cuts them into chunks, and gives each chunk,
 * longest first, to the worker with the least to do. A chunk has up to 16 rows: within memory, and few enough that
 * every worker gets two chunks to balance with.
 */
export function share<Row>(config: PolicyConfig, rows: readonly Row[], lengthOf: (row: Row) => number, workers: number): Share<Row>[] {
  const order = rows.map((row, index) => ({ row, index, length: lengthOf(row) })).sort((a, b) => b.length - a.length || a.index - b.index);
  const shares = Array.from({ length: workers }, () => ({ chunks: [] as Chunk<Row>[], indices: [] as number[], load: 0 }));
  for (let at = 0; at < order.length; ) {
    const length = order[at]?.length ?? 0;
    const limit = Math.min(rows.length / (2 * workers), rowLimit(config, length));
    const size = [16, 8, 4, 2].find((n) => n <= limit) ?? 1;
    const members = order.slice(at, at + size);
    const least = shares.reduce((a, b) => (b.load < a.load ? b : a));
    least.chunks.push({ rows: members.map(({ row }) => row), size });
    least.indices.push(...members.map(({ index }) => index));
    least.load += size * bucket(length);
    at += size;
  }
  return shares.filter((s) => s.chunks.length > 0);
}

/** Puts results back into the order of the request. */
export function unshare<Row, Result>(shares: readonly Share<Row>[], results: readonly (readonly Result[])[]): Result[] {
  const out: Result[] = [];
  for (const [s, { indices }] of shares.entries()) {
    for (const [i, index] of indices.entries()) {
      const result = results[s]?.[i];
      if (result === undefined) throw new RangeError(`no result for row ${index}`);
      out[index] = result;
    }
  }
  return out;
}
