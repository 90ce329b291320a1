import { describe, expect, it } from 'vitest';
import { parameterLayout, parseConfig, type PolicyConfig } from './config.ts';
import { Random } from './random.ts';
import { referenceDraw, referenceLaw, referenceLogits, referenceLogProbs } from './reference.ts';

function config(changes: Partial<Record<keyof PolicyConfig, unknown>> = {}): PolicyConfig {
  return parseConfig({
    model_type: 'llama', vocab_size: 7, hidden_size: 6, intermediate_size: 5, num_hidden_layers: 2, num_attention_heads: 4,
    num_key_value_heads: 2, head_dim: 4, max_position_embeddings: 12, rms_norm_eps: 1e-6, rope_theta: 100,
    tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0, ...changes,
  });
}

function weights(of: PolicyConfig): Float64Array {
  const random = new Random(3);
  return Float64Array.from({ length: parameterLayout(of).size }, () => random.normal());
}

describe('the float64 forward', () => {
  it('is the embedding times its own norm where every layer writes nothing', () => {
    const c = config({ num_hidden_layers: 1 });
    const w = weights(c);
    for (const { name, offset, size } of parameterLayout(c).slices) {
      if (/o_proj|down_proj/.test(name)) w.fill(0, offset, offset + size);
      if (name === 'model.norm.weight') w.fill(2, offset, offset + size);
    }
    const logits = referenceLogits({ config: c, weights: w }, [3]);
    const embedding = (id: number): number[] => [...w.slice(6 * id, 6 * id + 6)];
    const r = 1 / Math.sqrt(embedding(3).reduce((sum, x) => sum + x * x, 0) / 6 + 1e-6);
    for (let id = 0; id < 7; id++) {
      expect(logits[id]).toBeCloseTo(embedding(id).reduce((sum, x, i) => sum + 2 * r * x * (embedding(3)[i] ?? NaN), 0), 10);
    }
  });

  it('is causal: a later token changes no earlier row', () => {
    const policy = { config: config(), weights: weights(config()) };
    const [a, b] = [referenceLogits(policy, [1, 5, 3, 4]), referenceLogits(policy, [1, 5, 3, 6])];
    expect([...a.slice(0, 21)]).toEqual([...b.slice(0, 21)]);
    expect([...a.slice(21)]).not.toEqual([...b.slice(21)]);
  });

  it('shares a key head among query heads as if it were repeated', () => {
    const [shared, full] = [config(), config({ num_key_value_heads: 4 })];
    const w = weights(shared);
    const repeated = new Float64Array(parameterLayout(full).size);
    const from = new Map(parameterLayout(shared).slices.map((slice) => [slice.name, slice]));
    for (const slice of parameterLayout(full).slices) {
      const source = from.get(slice.name);
      const own = w.subarray(source?.offset, (source?.offset ?? 0) + (source?.size ?? 0));
      if (own.length === slice.size) repeated.set(own, slice.offset);
      else for (let head = 0; head < 4; head++) repeated.set(own.subarray(24 * Math.floor(head / 2), 24 * Math.floor(head / 2) + 24), slice.offset + 24 * head);
    }
    const tokens = [1, 4, 2, 6, 6];
    const [a, b] = [referenceLogits({ config: shared, weights: w }, tokens), referenceLogits({ config: full, weights: repeated }, tokens)];
    for (const [i, logit] of a.entries()) expect(b[i]).toBeCloseTo(logit, 10);
  });

  it('attends by distance: equal tokens see the same from anywhere', () => {
    // One layer and one repeated token: every attention score depends on the distance alone, values are all equal.
    const policy = { config: config({ num_hidden_layers: 1 }), weights: weights(config({ num_hidden_layers: 1 })) };
    const logits = referenceLogits(policy, [5, 5, 5]);
    for (let id = 0; id < 7; id++) expect(logits[14 + id]).toBeCloseTo(logits[id] ?? NaN, 10);
    // A different first token makes order matter.
    const [a, b] = [referenceLogits(policy, [3, 5, 6, 5]), referenceLogits(policy, [3, 6, 5, 5])];
    expect(a[21]).not.toBeCloseTo(b[21] ?? NaN, 6);
  });

  it('gives suppressed ids no mass, and the rest all of it', () => {
    const c = config();
    const law = referenceLogProbs({ config: c, weights: weights(c), suppressTokens: [0, 6] }, [1, 2], 0.5);
    expect(law[0]).toBe(-Infinity);
    expect(law[13]).toBe(-Infinity);
    expect(law.slice(7).reduce((sum, logProb) => sum + Math.exp(logProb), 0)).toBeCloseTo(1, 12);
  });
});

describe('the sampling law', () => {
  const logits = [0, 1, 3, 1, 2].map((x) => Math.log(x + 1));
  const law = (options: Omit<Parameters<typeof referenceLaw>[1], 'temperature'>): number[] =>
    referenceLaw(logits, { temperature: 1, ...options }).map((p) => Number(p.toFixed(6)));

  it('keeps ids with fewer than topK larger ones, ties and all', () => {
    expect(law({ banned: [], topK: 3 })).toEqual([0, 2, 4, 2, 3].map((x) => Number((x / 11).toFixed(6))));
    expect(law({ banned: [2], topK: 1 })).toEqual([0, 0, 0, 0, 1]);
  });

  it('keeps ids below whose more probable ones less than topP of the mass lies', () => {
    // Masses 1 2 4 2 3 of 12: above the threes lie 4/12, above the twos 7/12, above the one 11/12.
    expect(law({ banned: [], topP: 0.34 })).toEqual([0, 0, 4, 0, 3].map((x) => Number((x / 7).toFixed(6))));
    expect(law({ banned: [], topP: 0.3 })).toEqual([0, 0, 1, 0, 0]);
    expect(law({ banned: [], topP: 0 })).toEqual([0, 0, 1, 0, 0]);
  });

  it('draws the smallest id whose cumulative probability exceeds u', () => {
    expect([0, 0.24, 0.25, 0.74, 0.76].map((u) => referenceDraw([0, 0.25, 0, 0.5, 0.25, 0], u))).toEqual([1, 1, 3, 3, 4]);
    expect(referenceDraw([0.5, 0.499, 0], 0.9999)).toBe(1);
  });
});
