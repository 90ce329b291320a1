/** What every contender is given: the shape of the policy, its first weights, the batches and AdamW. Nothing here computes. */
import { parameterLayout, parseConfig, type PolicyConfig } from '../src/policy/config.ts';
import type { AdamW } from '../src/policy/engine.ts';
import { initialWeights } from '../src/policy/initialise.ts';
import { Random } from '../src/policy/random.ts';

/** A training step: `rows` rows of `length` tokens. */
export interface Work {
  readonly layers: number;
  readonly width: number;
  readonly intermediate: number;
  readonly heads: number;
  readonly vocab: number;
  readonly rows: number;
  readonly length: number;
}

/** 32 rows of 128 tokens: the step for which figures of other engines were published. */
export const BENCH: Work = { layers: 4, width: 128, intermediate: 384, heads: 4, vocab: 128, rows: 32, length: 128 };
/** The shipped policies, and a step of 16 questions with 6 rollouts each. */
export const TOY: Work = { layers: 2, width: 64, intermediate: 128, heads: 4, vocab: 112, rows: 96, length: 64 };
/** Small enough for tests. */
export const TINY: Work = { layers: 2, width: 16, intermediate: 24, heads: 2, vocab: 32, rows: 4, length: 12 };

export const ADAMW: AdamW = { learningRate: 2e-3, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 };

export function configOf({ layers, width, intermediate, heads, vocab, length }: Work): PolicyConfig {
  return parseConfig({
    model_type: 'llama', vocab_size: vocab, hidden_size: width, intermediate_size: intermediate, num_hidden_layers: layers,
    num_attention_heads: heads, num_key_value_heads: heads, max_position_embeddings: length, rms_norm_eps: 1e-5, rope_theta: 10_000,
    tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
  });
}

export function weightsOf(work: Work): Float32Array {
  return initialWeights(configOf(work), 1);
}

/** The rows of step number `step`: arithmetic progressions, so that there is something to learn. */
export function batchOf({ rows, length, vocab }: Work, step: number): Uint32Array[] {
  const random = new Random(step, 0xbe);
  return Array.from({ length: rows }, () => {
    const [start, stride] = [random.integer(0, vocab - 1), random.integer(1, 3)];
    return Uint32Array.from({ length }, (_, t) => (start + stride * t) % vocab);
  });
}

/** The first token of each rollout that is decoded. */
export function beginningsOf({ vocab }: Work, rows: number): Uint32Array[] {
  return Array.from({ length: rows }, (_, row) => Uint32Array.of((5 * row) % vocab));
}

/** Floating-point operations of a training step: a product forward and two backward, causal attention by its half. */
export function trainingFlops({ layers, width, intermediate, vocab, rows, length }: Work): number {
  const products = layers * (4 * width * width + 3 * width * intermediate) + width * vocab;
  const attention = layers * width * length;
  return 6 * rows * length * (products + attention);
}

export function wordsOf({ layers, width, intermediate, rows, length }: Work): string {
  return `${layers} layers, d ${width}, SwiGLU ${intermediate}, ${rows} rows × ${length} tokens`;
}

/** A parameter for a peer: matrices lie [in, out], which both peers multiply by fastest; the embedding [vocab, hidden]. */
export interface PeerParameter {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Float32Array;
  readonly decayed: boolean;
}

export function peerParameters(work: Work): PeerParameter[] {
  const weights = weightsOf(work);
  return parameterLayout(configOf(work)).slices.map(({ name, shape, offset, size, decayed }) => {
    const own = weights.slice(offset, offset + size);
    const [rows, columns] = shape;
    if (columns === undefined || name.includes('embed')) return { name, shape, data: own, decayed };
    return { name, shape: [columns, rows], data: own.map((_, i) => own[(i % rows) * columns + Math.floor(i / rows)] ?? 0), decayed };
  });
}

/** Rotary cosines and sines of each position, [length, head / 2] each. */
export function rotaryTables({ width, heads, length }: Work): { readonly cos: Float32Array; readonly sin: Float32Array } {
  const half = width / heads / 2;
  const angle = (i: number): number => Math.floor(i / half) * 10_000 ** (-(i % half) / half);
  return {
    cos: Float32Array.from({ length: length * half }, (_, i) => Math.cos(angle(i))),
    sin: Float32Array.from({ length: length * half }, (_, i) => Math.sin(angle(i))),
  };
}
