/**
 * The policy in plain float64 loops: what both engines are tested against. Slow on purpose, and short enough to be
 * checked by eye against Hugging Face's `modeling_llama.py`.
 */
import type { PolicyConfig } from './config.ts';
import { parameterLayout } from './config.ts';
import type { Checkpoint } from './engine.ts';

/** Weights in any float array, so that finite differences can be taken in float64. */
export interface ReferencePolicy {
  readonly config: PolicyConfig;
  readonly weights: Float32Array | Float64Array;
}

/** Logits [n, vocab_size] of a row of n tokens: row t predicts token t + 1. */
export function referenceLogits(policy: ReferencePolicy, tokens: ArrayLike<number>): Float64Array {
  const { config, weights } = policy;
  const {
    hidden_size: d, head_dim: hd, num_attention_heads: heads, num_key_value_heads: keyHeads, intermediate_size: f,
    rms_norm_eps: epsilon,
  } = config;
  const n = tokens.length;
  const slices = new Map(parameterLayout(config).slices.map((slice) => [slice.name, slice]));
  const parameter = (name: string): Float32Array | Float64Array => {
    const slice = slices.get(name);
    if (slice === undefined) throw new RangeError(`no parameter ${name}`);
    return weights.subarray(slice.offset, slice.offset + slice.size);
  };
  const norm = (x: Float64Array, name: string): Float64Array => {
    const gain = parameter(name);
    const y = new Float64Array(x.length);
    for (let t = 0; t < n; t++) {
      let squares = 0;
      for (let i = 0; i < d; i++) squares += at(x, t * d + i) ** 2;
      const r = 1 / Math.sqrt(squares / d + epsilon);
      for (let i = 0; i < d; i++) y[t * d + i] = at(x, t * d + i) * r * at(gain, i);
    }
    return y;
  };
  const linear = (x: Float64Array, columns: number, name: string, rows: number): Float64Array => {
    const w = parameter(name);
    const y = new Float64Array(n * rows);
    for (let t = 0; t < n; t++) {
      for (let o = 0; o < rows; o++) {
        let sum = 0;
        for (let i = 0; i < columns; i++) sum += at(x, t * columns + i) * at(w, o * columns + i);
        y[t * rows + o] = sum;
      }
    }
    return y;
  };
  const rotate = (x: Float64Array, count: number): void => {
    const half = hd / 2;
    for (let t = 0; t < n; t++) {
      for (let h = 0; h < count; h++) {
        for (let i = 0; i < half; i++) {
          const angle = t * config.rope_theta ** (-i / half);
          const u = (t * count + h) * hd + i;
          const [a, b] = [at(x, u), at(x, u + half)];
          x[u] = a * Math.cos(angle) - b * Math.sin(angle);
          x[u + half] = b * Math.cos(angle) + a * Math.sin(angle);
        }
      }
    }
  };

  const embedding = parameter('model.embed_tokens.weight');
  const x = new Float64Array(n * d);
  for (let t = 0; t < n; t++) for (let i = 0; i < d; i++) x[t * d + i] = at(embedding, (tokens[t] ?? 0) * d + i);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const prefix = `model.layers.${layer}`;
    const normed = norm(x, `${prefix}.input_layernorm.weight`);
    const q = linear(normed, d, `${prefix}.self_attn.q_proj.weight`, heads * hd);
    const k = linear(normed, d, `${prefix}.self_attn.k_proj.weight`, keyHeads * hd);
    const v = linear(normed, d, `${prefix}.self_attn.v_proj.weight`, keyHeads * hd);
    rotate(q, heads);
    rotate(k, keyHeads);
    const attended = new Float64Array(n * heads * hd);
    for (let t = 0; t < n; t++) {
      for (let h = 0; h < heads; h++) {
        const key = Math.floor(h / (heads / keyHeads));
        const scores = Array.from({ length: t + 1 }, (_, s) => {
          let sum = 0;
          for (let i = 0; i < hd; i++) sum += at(q, (t * heads + h) * hd + i) * at(k, (s * keyHeads + key) * hd + i);
          return sum / Math.sqrt(hd);
        });
        const p = softmax(scores);
        for (let s = 0; s <= t; s++) {
          for (let i = 0; i < hd; i++) {
            const to = (t * heads + h) * hd + i;
            attended[to] = at(attended, to) + at(p, s) * at(v, (s * keyHeads + key) * hd + i);
          }
        }
      }
    }
    add(x, linear(attended, heads * hd, `${prefix}.self_attn.o_proj.weight`, d));
    const after = norm(x, `${prefix}.post_attention_layernorm.weight`);
    const gate = linear(after, d, `${prefix}.mlp.gate_proj.weight`, f);
    const up = linear(after, d, `${prefix}.mlp.up_proj.weight`, f);
    const act = gate.map((g, i) => (g / (1 + Math.exp(-g))) * at(up, i));
    add(x, linear(act, f, `${prefix}.mlp.down_proj.weight`, d));
  }
  const head = config.tie_word_embeddings ? 'model.embed_tokens.weight' : 'lm_head.weight';
  return linear(norm(x, 'model.norm.weight'), d, head, config.vocab_size);
}

/**
 * Log-probabilities [n, vocab_size] of the law softmax(logits / temperature) over the ids that are not suppressed;
 * −Infinity for those.
 */
export function referenceLogProbs(
  policy: ReferencePolicy & Pick<Checkpoint, 'suppressTokens'>, tokens: ArrayLike<number>, temperature: number,
): Float64Array {
  const vocab = policy.config.vocab_size;
  const law = referenceLogits(policy, tokens).map((z) => z / temperature);
  for (let t = 0; t < tokens.length; t++) {
    const row = law.subarray(t * vocab, (t + 1) * vocab);
    for (const id of policy.suppressTokens) row[id] = -Infinity;
    const most = Math.max(...row);
    const norm = most + Math.log(row.reduce((sum, z) => sum + Math.exp(z - most), 0));
    for (let i = 0; i < vocab; i++) row[i] = at(row, i) - norm;
  }
  return law;
}

function softmax(scores: readonly number[]): number[] {
  const most = Math.max(...scores);
  const e = scores.map((s) => Math.exp(s - most));
  const total = e.reduce((a, b) => a + b, 0);
  return e.map((p) => p / total);
}

function add(x: Float64Array, y: Float64Array): void {
  for (let i = 0; i < x.length; i++) x[i] = at(x, i) + at(y, i);
}

function at(x: ArrayLike<number>, i: number): number {
  return x[i] ?? NaN;
}

/**
 * The sampling law of `SampleRequest` as probabilities, from one row of logits: temperature above 0, bans, top-k, top-p
 * (the most probable id always stays).
 */
export function referenceLaw(
  logits: ArrayLike<number>,
  { temperature, banned, topK, topP }: {
    readonly temperature: number; readonly banned: readonly number[]; readonly topK?: number; readonly topP?: number;
  },
): number[] {
  const z = Array.from(logits, (logit, id) => (banned.includes(id) ? -Infinity : logit));
  const larger = z.map((own) => z.filter((other) => other > own).length);
  const topped = z.map((own, id) => (at(larger, id) < (topK ?? Infinity) ? own / temperature : -Infinity));
  const p = softmax(topped);
  const above = topped.map((own) => p.reduce((sum, mass, id) => (at(topped, id) > own ? sum + mass : sum), 0));
  const kept = p.map((mass, id) => (topP === undefined || at(above, id) < topP || at(above, id) === 0 ? mass : 0));
  const total = kept.reduce((a, b) => a + b, 0);
  return kept.map((mass) => mass / total);
}

/** The smallest id whose cumulative probability exceeds u; the last id with any, where rounding leaves none. */
export function referenceDraw(law: readonly number[], u: number): number {
  let reached = 0;
  for (const [id, p] of law.entries()) {
    reached += p;
    if (reached > u) return id;
  }
  return law.findLastIndex((p) => p > 0);
}
