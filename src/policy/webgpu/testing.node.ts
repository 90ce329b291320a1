/** What the tests of this folder share: a device, small policies, and the losses in float64. */
import type { PolicyConfig } from '../config.ts';
import { parameterLayout, parseConfig } from '../config.ts';
import type { Checkpoint, Objective, UpdateRow } from '../engine.ts';
import { Random } from '../random.ts';
import { referenceLogProbs } from '../reference.ts';
import type { AcquiredDevice } from './device.ts';
import { createNodeGpu } from './node.node.ts';

/** A device with default limits. @throws where this machine has no adapter. */
export async function testDevice(): Promise<AcquiredDevice & { readonly info: GPUAdapterInfo }> {
  const adapter = await createNodeGpu().requestAdapter();
  if (adapter === null) throw new Error('no WebGPU adapter: see scripts/browser.mjs for the one that the tests use');
  const device = await adapter.requestDevice();
  return { device, adapter: 'test', software: true, info: adapter.info };
}

/** A small policy whose sizes are odd wherever a Llama's may be. */
export function oddConfig(changes: Partial<Record<keyof PolicyConfig, unknown>> = {}): PolicyConfig {
  return parseConfig({
    model_type: 'llama', vocab_size: 23, hidden_size: 10, intermediate_size: 13, num_hidden_layers: 2, num_attention_heads: 4,
    num_key_value_heads: 2, head_dim: 6, max_position_embeddings: 40, rms_norm_eps: 1e-5, rope_theta: 10_000,
    tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0, ...changes,
  });
}

/** Random weights, large enough that every part of the network matters. */
export function randomCheckpoint(config: PolicyConfig, seed = 1, suppressTokens: readonly number[] = [0, 21]): Checkpoint {
  const random = new Random(seed);
  const { slices, size } = parameterLayout(config);
  const weights = new Float32Array(size);
  for (const slice of slices) {
    const columns = slice.shape[1] ?? 0;
    for (let i = 0; i < slice.size; i++) {
      weights[slice.offset + i] = columns === 0 ? 1 + 0.3 * random.normal() : (random.normal() * 1.5) / Math.sqrt(columns);
    }
  }
  return { config, weights, suppressTokens };
}

/** Rows of random ids that are not suppressed. */
export function randomRows(checkpoint: Checkpoint, lengths: readonly number[], seed = 7): Uint32Array[] {
  const random = new Random(seed);
  const ids = Array.from({ length: checkpoint.config.vocab_size }, (_, id) => id).filter((id) => !checkpoint.suppressTokens.includes(id));
  return lengths.map((length) => Uint32Array.from({ length }, () => random.pick(ids)));
}

/** Σ w_t · loss_t in float64, as `Objective` words it. */
export function referenceLoss(
  policy: { readonly config: PolicyConfig; readonly weights: Float32Array | Float64Array; readonly suppressTokens: readonly number[] },
  rows: readonly UpdateRow[], objective: Objective, temperature: number,
): number {
  const clamp = (x: number, low: number, high: number): number => Math.min(Math.max(x, low), high);
  let loss = 0;
  for (const row of rows) {
    const law = referenceLogProbs(policy, row.tokens, temperature);
    for (let t = 1; t < row.tokens.length; t++) {
      const weight = row.weights[t] ?? 0;
      if (weight === 0) continue;
      const logProb = law[(t - 1) * policy.config.vocab_size + (row.tokens[t] ?? 0)] ?? NaN;
      if (objective.kind === 'supervised') {
        loss -= weight * logProb;
        continue;
      }
      const advantage = row.advantages?.[t] ?? NaN;
      const ratio = Math.exp(clamp(logProb - (row.oldLogProbs?.[t] ?? NaN), -20, 20));
      const inside = clamp(ratio, 1 - objective.epsilonLow, 1 + objective.epsilonHigh);
      loss -= weight * Math.min(ratio * advantage, inside * advantage);
      if (objective.beta > 0) {
        const drift = clamp((row.referenceLogProbs?.[t] ?? NaN) - logProb, -20, 20);
        loss += weight * objective.beta * (Math.exp(drift) - drift - 1);
      }
    }
  }
  return loss;
}

/** The largest difference, relative to the largest number of the reference. */
export function relativeError(actual: ArrayLike<number>, expected: ArrayLike<number>): number {
  let [worst, scale] = [actual.length === expected.length ? 0 : Infinity, 0];
  for (let i = 0; i < expected.length; i++) {
    const difference = Math.abs((actual[i] ?? NaN) - (expected[i] ?? NaN));
    // A NaN is the worst difference, not none.
    worst = Number.isNaN(difference) ? Infinity : Math.max(worst, difference);
    scale = Math.max(scale, Math.abs(expected[i] ?? NaN));
  }
  return worst / Math.max(scale, 1e-30);
}
