/**
 * The two engines against each other: one is hand-written WGSL, the other jax-js with its own autodiff. What they
 * agree on, within float error, is the transformer, its gradients and the sampling law.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parameterLayout, parseConfig, type PolicyConfig } from './config.ts';
import type { AdamW, Checkpoint, PolicyEngine, UpdateRequest, UpdateRow } from './engine.ts';
import { initialWeights } from './initialise.ts';
import { Random } from './random.ts';
import { startEngine } from './start.node.ts';

const base = {
  model_type: 'llama', vocab_size: 112, rms_norm_eps: 1e-5, rope_theta: 10_000, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
};

const CONFIGS: readonly (readonly [string, PolicyConfig])[] = [
  ['the small policy', parseConfig({
    ...base, hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2, num_attention_heads: 2, num_key_value_heads: 2,
    max_position_embeddings: 160, tie_word_embeddings: true,
  })],
  ['grouped queries, untied embeddings', parseConfig({
    ...base, hidden_size: 48, intermediate_size: 80, num_hidden_layers: 1, num_attention_heads: 6, num_key_value_heads: 2,
    max_position_embeddings: 64, tie_word_embeddings: false,
  })],
  ['an odd vocabulary, wide heads, three layers', parseConfig({
    ...base, vocab_size: 53, hidden_size: 24, intermediate_size: 40, num_hidden_layers: 3, num_attention_heads: 2, num_key_value_heads: 1,
    head_dim: 20, max_position_embeddings: 48, tie_word_embeddings: true, rope_theta: 500,
  })],
];

const TEMPERATURE = 0.8;
const ADAMW: AdamW = { learningRate: 1e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 };

let wgsl: PolicyEngine;
let cpu: PolicyEngine;

beforeAll(async () => {
  [wgsl, cpu] = await Promise.all([startEngine('webgpu'), startEngine('cpu')]);
});

afterAll(() => {
  wgsl.dispose();
  cpu.dispose();
});

function checkpointOf(config: PolicyConfig): Checkpoint {
  return { config, weights: initialWeights(config, 3), suppressTokens: [0, config.vocab_size - 1] };
}

/** Rows of different lengths with everything the objective reads; every third token is context only. */
function updateOf(config: PolicyConfig): UpdateRequest {
  const random = new Random(5);
  const rows = [9, 17, 30, 5].map((length): UpdateRow => {
    const array = (value: (t: number) => number): Float32Array => Float32Array.from({ length }, (_, t) => value(t));
    return {
      tokens: Uint32Array.from({ length }, () => random.integer(1, config.vocab_size - 2)),
      weights: array((t) => (t < 2 || t % 3 === 0 ? 0 : 1 / 40)),
      advantages: array(() => random.normal()),
      // Near and far from the policy's own, so that the clip acts on some tokens and not on others.
      oldLogProbs: array((t) => (t % 3 === 0 ? NaN : -4.5 + random.normal())),
      referenceLogProbs: array((t) => (t % 3 === 0 ? NaN : -4.5 + random.normal())),
    };
  });
  return { rows, temperature: TEMPERATURE, objective: { kind: 'grpo', epsilonLow: 0.2, epsilonHigh: 0.3, beta: 0.05 } };
}

/** The greatest absolute difference; NaN in one and not in the other counts as infinite. */
function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let most = 0;
  for (let i = 0; i < a.length; i++) {
    const [x = NaN, y = NaN] = [a[i], b[i]];
    if (Number.isNaN(x) !== Number.isNaN(y)) return Infinity;
    if (!Number.isNaN(x)) most = Math.max(most, Math.abs(x - y));
  }
  return most;
}

const norm = (x: Float32Array): number => Math.sqrt(x.reduce((sum, value) => sum + value * value, 0));

describe.each(CONFIGS)('%s', (_, config) => {
  const checkpoint = checkpointOf(config);
  const request = updateOf(config);

  beforeAll(async () => {
    await Promise.all([wgsl.load(checkpoint), cpu.load(checkpoint)]);
  });

  it('gives every token the same log-probs, the whole law included', async () => {
    const score = { rows: request.rows.map((row) => row.tokens), temperature: 1, alternatives: config.vocab_size - 2 };
    const [a, b] = await Promise.all([wgsl.score(score), cpu.score(score)]);
    for (const [i, scores] of a.entries()) {
      expect(distance(scores.logProbs, b[i]?.logProbs ?? [])).toBeLessThan(1e-4);
      expect(distance(scores.entropy, b[i]?.entropy ?? [])).toBeLessThan(1e-4);
      const byId = (s: typeof scores | undefined): number[] => {
        const k = score.alternatives;
        const { ids = new Uint32Array(), logProbs = new Float32Array() } = s?.alternatives ?? {};
        const out: number[] = [];
        // Position 0 has no law.
        for (let at = k; at < ids.length; at++) out[Math.floor(at / k) * config.vocab_size + (ids[at] ?? 0)] = logProbs[at] ?? NaN;
        return Array.from(out, (x: number | undefined) => x ?? NaN);
      };
      expect(distance(byId(scores), byId(b[i]))).toBeLessThan(1e-4);
    }
  });

  it('has the same gradient of the GRPO loss, tensor by tensor', async () => {
    const [a, b] = await Promise.all([wgsl.gradients(request), cpu.gradients(request)]);
    expect(a.loss).toBeCloseTo(b.loss, 5);
    for (const { name, offset, size } of parameterLayout(config).slices) {
      const [x, y] = [a.gradient.subarray(offset, offset + size), b.gradient.subarray(offset, offset + size)];
      const difference = x.map((value, i) => value - (y[i] ?? NaN));
      expect(norm(y), name).toBeGreaterThan(0);
      expect(norm(difference) / norm(y), name).toBeLessThan(1e-3);
    }
    for (const [i, row] of a.rows.entries()) {
      const other = b.rows[i];
      if (other === undefined) throw new Error('rows are missing');
      for (const key of ['logProbs', 'entropy', 'ratio', 'kl', 'dLogProb', 'gradient'] as const) {
        expect(distance(row[key], other[key]), key).toBeLessThan(1e-3);
      }
      expect([...row.clipped]).toEqual([...other.clipped]);
      for (const [t, weight] of (request.rows[i]?.weights ?? []).entries()) {
        if (weight === 0) expect([row.dLogProb[t], row.gradient[t], other.dLogProb[t], other.gradient[t]]).toEqual([0, 0, 0, 0]);
      }
    }
  });

  it('samples the same tokens, and scores them as it sampled them', async () => {
    const sample = {
      rows: [0, 1, 2, 3, 4].map((stream) => ({ tokens: Uint32Array.from([1, 5 + stream, 9]), stream })),
      seed: 11, step: 2, temperature: TEMPERATURE, stopTokens: [2], maxLength: 40,
    };
    const [a, b] = await Promise.all([wgsl.continue(sample), cpu.continue(sample)]);
    expect(a.rows.map((row) => [...row.tokens])).toEqual(b.rows.map((row) => [...row.tokens]));
    for (const engine of [wgsl, cpu]) {
      const sampled = engine === wgsl ? a : b;
      const whole = sampled.rows.map((row, i) => Uint32Array.from([...(sample.rows[i]?.tokens ?? []), ...row.tokens]));
      const scores = await engine.score({ rows: whole, temperature: TEMPERATURE });
      for (const [i, row] of sampled.rows.entries()) {
        expect(distance(row.logProbs, scores[i]?.logProbs.subarray(3) ?? [])).toBeLessThan(1e-4);
      }
      // The first ratio of an update on what was just sampled.
      const report = await engine.gradients({
        rows: whole.map((tokens, i) => ({
          tokens,
          weights: Float32Array.from(tokens, (_t, t) => (t < 3 ? 0 : 0.01)),
          advantages: new Float32Array(tokens.length).fill(1),
          oldLogProbs: Float32Array.from([NaN, NaN, NaN, ...(sampled.rows[i]?.logProbs ?? [])]),
        })),
        temperature: TEMPERATURE, objective: { kind: 'grpo', epsilonLow: 0.2, epsilonHigh: 0.2, beta: 0 },
      });
      for (const { ratio } of report.rows) for (const r of ratio.subarray(3)) expect(Math.abs(r - 1)).toBeLessThan(1e-4);
    }
  });

  it('scores with a reference that is handed over', async () => {
    const other = initialWeights(config, 8);
    const rows = request.rows.map((row) => row.tokens);
    for (const engine of [wgsl, cpu]) {
      await engine.load({ ...checkpoint, weights: other });
      const expected = await engine.score({ rows, temperature: 1 });
      await engine.load(checkpoint);
      await engine.holdReference(other);
      expect(await engine.score({ rows, temperature: 1, weights: 'reference' })).toEqual(expected);
      await expect(engine.holdReference(other.slice(1))).rejects.toThrow('the reference has');
    }
  });

  it('has the same weights after three updates', async () => {
    for (let i = 0; i < 3; i++) await Promise.all([wgsl.update(request, ADAMW), cpu.update(request, ADAMW)]);
    const [a, b] = await Promise.all([wgsl.snapshot(), cpu.snapshot()]);
    expect(a.optimizer.step).toBe(3);
    expect(distance(a.weights, checkpoint.weights)).toBeGreaterThan(1e-3);
    const difference = a.weights.map((w, i) => w - (b.weights[i] ?? NaN));
    expect(norm(difference) / norm(b.weights)).toBeLessThan(1e-4);
  });
});
