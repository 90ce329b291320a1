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

/** Numbers that one chunk may hold in a thread's memory: 256 MB. A small policy never comes near. */
const CHUNK_BUDGET = 64 * 2 ** 20;

/** How many rows of this length a chunk may have: what the backward pass keeps of each decides. */
export function rowLimit(config: PolicyConfig, length: number): number {
  const { num_hidden_layers, num_attention_heads, hidden_size, intermediate_size, vocab_size } = config;
  const T = bucket(length);
  const layer = 12 * hidden_size + 6 * intermediate_size + 3 * num_attention_heads * T;
  return Math.floor(CHUNK_BUDGET / (T * (num_hidden_layers * layer + 6 * vocab_size)));
}

/** Rows in one chunk: as many as 16, but few enough that every worker gets two chunks to balance with. */
function chunkSize(rows: number, workers: number, limit: number): number {
  return [16, 8, 4, 2].find((size) => size <= limit && rows / size >= 2 * workers) ?? 1;
}

/**
 * Sorts rows by length, so that none pays for a longer one's padding, cuts them into chunks of one size, and gives each
 * chunk, longest first, to the worker with the least to do.
 */
export function share<Row>(config: PolicyConfig, rows: readonly Row[], lengthOf: (row: Row) => number, workers: number): Share<Row>[] {
  const longest = rows.reduce((max, row) => Math.max(max, lengthOf(row)), 0);
  const size = chunkSize(rows.length, workers, rowLimit(config, longest));
  const order = rows.map((row, index) => ({ row, index, length: lengthOf(row) })).sort((a, b) => b.length - a.length || a.index - b.index);
  const shares = Array.from({ length: workers }, () => ({ chunks: [] as Chunk<Row>[], indices: [] as number[], load: 0 }));
  for (let at = 0; at < order.length; at += size) {
    const members = order.slice(at, at + size);
    const least = shares.reduce((a, b) => (b.load < a.load ? b : a));
    least.chunks.push({ rows: members.map(({ row }) => row), size });
    least.indices.push(...members.map(({ index }) => index));
    least.load += bucket(members[0]?.length ?? 0);
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
