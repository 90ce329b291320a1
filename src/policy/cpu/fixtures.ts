/** What the tests of this folder share: small policies, rows, and threads in the test's own process. */
import { parameterLayout, parseConfig, type PolicyConfig } from '../config.ts';
import type { Checkpoint, UpdateRow } from '../engine.ts';
import { initialWeights } from '../initialise.ts';
import { Random } from '../random.ts';
import { referenceLogProbs } from '../reference.ts';
import type { Spawn } from './protocol.ts';
import { EngineWorker } from './worker.ts';

const BASE = {
  model_type: 'llama', vocab_size: 48, hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2,
  num_attention_heads: 2, num_key_value_heads: 2, max_position_embeddings: 64, rms_norm_eps: 1e-5,
  rope_theta: 10000, tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
};

export const TINY = parseConfig(BASE);

/** Grouped queries, an untied head, a head_dim that is not hidden_size / heads, and no size a power of two. */
export const GROUPED = parseConfig({
  ...BASE, vocab_size: 37, hidden_size: 20, intermediate_size: 28, num_hidden_layers: 3, num_attention_heads: 6,
  num_key_value_heads: 2, head_dim: 6, tie_word_embeddings: false, rope_theta: 500,
});

export const SUPPRESSED = [0, 35, 36];

export function checkpoint(config: PolicyConfig, seed = 1): Checkpoint {
  const weights = initialWeights(config, seed);
  // Gains of exactly 1 would hide a gain that is never applied.
  const random = new Random(seed, 99);
  for (const { shape, offset, size } of parameterLayout(config).slices) {
    if (shape.length === 1) for (let i = offset; i < offset + size; i++) weights[i] = 1 + 0.2 * random.normal();
  }
  return { config, weights, suppressTokens: SUPPRESSED };
}

/** Rows of tokens that may be sampled, of these lengths. */
export function tokenRows(config: PolicyConfig, lengths: readonly number[], seed = 5): Uint32Array[] {
  const random = new Random(seed);
  return lengths.map((n) => Uint32Array.from({ length: n }, () => random.integer(1, Math.min(config.vocab_size, 35) - 1)));
}

/** Rows of an update with random masks and advantages of both signs; old log-probabilities around `near`. */
export function updateRows(tokens: readonly Uint32Array[], near: readonly Float32Array[], seed = 9): UpdateRow[] {
  const random = new Random(seed);
  return tokens.map((row, r) => ({
    tokens: row,
    weights: Float32Array.from(row, () => (random.next() < 0.3 ? 0 : random.next() / row.length)),
    advantages: Float32Array.from(row, () => random.normal()),
    oldLogProbs: Float32Array.from(row, (_, t) => (near[r]?.[t] ?? 0) + 0.3 * random.normal()),
    referenceLogProbs: Float32Array.from(row, (_, t) => (near[r]?.[t] ?? 0) + 0.3 * random.normal()),
  }));
}

/** Threads in the test's own process; messages are cloned as between real ones. */
export function inProcess(): { spawn: Spawn; workers: EngineWorker[] } {
  const workers: EngineWorker[] = [];
  const spawn: Spawn = () => {
    let receive: Parameters<ReturnType<Spawn>['listen']>[0] = () => undefined;
    const worker = new EngineWorker((message) => { receive(structuredClone(message)); });
    workers.push(worker);
    return {
      post: (message) => { worker.receive(structuredClone(message)); },
      listen: (listener) => { receive = listener; },
      terminate: () => { receive = () => undefined; },
    };
  };
  return { spawn, workers };
}

/** Log-probabilities of every id at every position of one row, in float64. */
export function lawOf(config: PolicyConfig, weights: Float32Array | Float64Array, tokens: Uint32Array, temperature = 1): number[][] {
  const flat = referenceLogProbs({ config, weights, suppressTokens: SUPPRESSED }, tokens, temperature);
  const vocab = config.vocab_size;
  return Array.from(tokens, (_, t) => [...flat.subarray(t * vocab, (t + 1) * vocab)]);
}
