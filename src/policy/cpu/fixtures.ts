/** What the tests of this folder share: small policies, and the transformer written out once more in float64. */
import { parameterLayout, parseConfig, type PolicyConfig } from '../config.ts';
import type { Checkpoint, UpdateRow } from '../engine.ts';
import { initialWeights } from '../initialise.ts';
import { Random } from '../random.ts';
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

/** Log-probabilities of every id at every position of one row, in float64, straight from the definition. */
export function lawOf(config: PolicyConfig, weights: ArrayLike<number>, tokens: Uint32Array, temperature = 1, suppressed = SUPPRESSED): number[][] {
  const { hidden_size: d, intermediate_size: f, num_attention_heads: H, num_key_value_heads: K, head_dim: D, vocab_size: vocab } = config;
  const slices = new Map(parameterLayout(config).slices.map((slice) => [slice.name, slice]));
  const at = (name: string, i: number): number => weights[(slices.get(name)?.offset ?? NaN) + i] ?? NaN;
  const times = (name: string, x: readonly number[], rows: number): number[] =>
    Array.from({ length: rows }, (_, r) => x.reduce((sum, value, c) => sum + at(name, r * x.length + c) * value, 0));
  const norm = (name: string, x: readonly number[]): number[] => {
    const scale = 1 / Math.sqrt(x.reduce((sum, value) => sum + value * value, 0) / d + config.rms_norm_eps);
    return x.map((value, i) => value * scale * at(name, i));
  };
  /** One head's D numbers, rotated by halves. */
  const rotate = (x: readonly number[], position: number): number[] =>
    x.map((value, i) => {
      const half = D / 2;
      const angle = position * config.rope_theta ** (-(i % half) / half);
      const other = i < half ? -(x[i + half] ?? NaN) : (x[i - half] ?? NaN);
      return value * Math.cos(angle) + other * Math.sin(angle);
    });
  const heads = (x: readonly number[], count: number): number[][] => Array.from({ length: count }, (_, h) => x.slice(h * D, (h + 1) * D));
  const dot = (a: readonly number[], b: readonly number[]): number => a.reduce((sum, value, i) => sum + value * (b[i] ?? NaN), 0);

  let hidden = Array.from(tokens, (token) => Array.from({ length: d }, (_, i) => at('model.embed_tokens.weight', token * d + i)));
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const name = (part: string): string => `model.layers.${layer}.${part}.weight`;
    const normed = hidden.map((x) => norm(name('input_layernorm'), x));
    const q = normed.map((x, t) => heads(times(name('self_attn.q_proj'), x, H * D), H).map((head) => rotate(head, t)));
    const k = normed.map((x, t) => heads(times(name('self_attn.k_proj'), x, K * D), K).map((head) => rotate(head, t)));
    const v = normed.map((x) => heads(times(name('self_attn.v_proj'), x, K * D), K));
    hidden = hidden.map((x, t) => {
      const mixed = (q[t] ?? []).flatMap((query, h) => {
        const group = Math.floor(h / (H / K));
        const mass = Array.from({ length: t + 1 }, (_, s) => Math.exp(dot(query, k[s]?.[group] ?? []) / Math.sqrt(D)));
        const total = mass.reduce((a, b) => a + b);
        return query.map((_, i) => mass.reduce((sum, m, s) => sum + (m / total) * (v[s]?.[group]?.[i] ?? NaN), 0));
      });
      const attended = times(name('self_attn.o_proj'), mixed, d).map((value, i) => value + (x[i] ?? NaN));
      const n = norm(name('post_attention_layernorm'), attended);
      const up = times(name('mlp.up_proj'), n, f);
      const inner = times(name('mlp.gate_proj'), n, f).map((g, i) => (g / (1 + Math.exp(-g))) * (up[i] ?? NaN));
      return times(name('mlp.down_proj'), inner, d).map((value, i) => value + (attended[i] ?? NaN));
    });
  }
  const head = config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  return hidden.map((x) => {
    const scaled = times(head, norm('model.norm.weight', x), vocab).map((l, id) => (suppressed.includes(id) ? -Infinity : l / temperature));
    const top = Math.max(...scaled);
    const logTotal = top + Math.log(scaled.reduce((sum, l) => sum + Math.exp(l - top), 0));
    return scaled.map((l) => l - logTotal);
  });
}
