/**
 * The transformer in jax-js: weights on the device, and the forward pass that training and scoring share.
 * Shapes: R rows of T positions are M = R·T vectors of d = hidden_size; H heads read from K key-value heads in
 * groups of G = H/K; D = head_dim. The embedding is gathered on the host, so the input here is [M, d].
 */
import './runtime.ts';
import { lax, numpy as np } from '@jax-js/jax';
import { parameterLayout, type ParameterSlice, type PolicyConfig } from '../config.ts';

export type Tensor = np.Array;

/** What never gets attention or probability. Finite: a softmax over −∞ alone would be NaN. */
export const MASKED = -1e9;

/** An uploaded array; the data is copied. */
export function tensor(data: Float32Array, shape: readonly number[]): Tensor {
  return np.array(data, { shape: [...shape] });
}

/** The values of an array, which is consumed. Runs whatever is pending, in this thread. */
export function download(array: Tensor): Float32Array {
  return array.dataSync() as Float32Array;
}

/**
 * The parameters that live on the device, in order: the nine of each layer, the final norm, the output head. Matrices
 * lie transposed, [in, out], which is what the kernels of jax-js read fastest. The embedding stays on the host; a
 * tied head is a copy of it.
 */
export function deviceSlices(config: PolicyConfig): readonly ParameterSlice[] {
  const [embedding, ...rest] = parameterLayout(config).slices;
  return config.tie_word_embeddings && embedding !== undefined ? [...rest, embedding] : rest;
}

/** One set of weights in a thread: flat on the host, and by parameter on the device, where programs take references. */
export interface Resident {
  readonly host: Float32Array;
  readonly device: readonly Tensor[];
}

export function uploadWeights(config: PolicyConfig, weights: Float32Array): Tensor[] {
  return deviceSlices(config).map(({ shape, offset, size }) => {
    const flat = weights.subarray(offset, offset + size);
    const [rows, cols] = shape;
    return cols === undefined ? tensor(flat, [rows]) : tensor(transposed(flat, rows, cols), [cols, rows]);
  });
}

/** Adds gradients that lie like `uploadWeights` to a flat gradient. */
export function addGradients(config: PolicyConfig, gradients: readonly Float32Array[], into: Float32Array): void {
  for (const [i, { shape, offset, size }] of deviceSlices(config).entries()) {
    const [rows, cols] = shape;
    const part = gradients[i];
    if (part === undefined) throw new RangeError(`no gradient ${i}`);
    const flat = cols === undefined ? part : transposed(part, cols, rows);
    for (let j = 0; j < size; j++) into[offset + j] = (into[offset + j] ?? 0) + (flat[j] ?? 0);
  }
}

function transposed(matrix: Float32Array, rows: number, cols: number): Float32Array {
  const out = new Float32Array(matrix.length);
  for (let r = 0; r < rows; r++) for (let c = 0; c < cols; c++) out[c * rows + r] = matrix[r * cols + c] ?? 0;
  return out;
}

/** The rows of a table with `width` columns at these indices: embeddings of tokens, rotations of positions. */
export function gather(table: Float32Array, width: number, indices: ArrayLike<number>): Float32Array {
  const out = new Float32Array(indices.length * width);
  for (let i = 0; i < indices.length; i++) {
    const at = (indices[i] ?? 0) * width;
    out.set(table.subarray(at, at + width), i * width);
  }
  return out;
}

/** Cosines, and sines with the sign that the rotation of halves needs, for each position: [positions, 2, D/2]. */
export interface Rotation {
  readonly cos: Float32Array;
  readonly sin: Float32Array;
}

export function rotation({ head_dim, rope_theta }: PolicyConfig, positions: number): Rotation {
  const half = head_dim / 2;
  const cos = new Float32Array(positions * head_dim);
  const sin = new Float32Array(cos.length);
  for (let position = 0; position < positions; position++) {
    for (let j = 0; j < half; j++) {
      const angle = position * rope_theta ** (-j / half);
      const first = position * head_dim + j;
      cos[first] = cos[first + half] = Math.cos(angle);
      sin[first + half] = Math.sin(angle);
      sin[first] = -Math.sin(angle);
    }
  }
  return { cos, sin };
}

/** 0 where a query may look, MASKED at later positions: [T, T]. */
export function causalMask(length: number): Float32Array {
  const mask = new Float32Array(length * length);
  for (let i = 0; i < length; i++) mask.fill(MASKED, i * length + i + 1, (i + 1) * length);
  return mask;
}

export interface LayerWeights {
  readonly inputNorm: Tensor;
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly o: Tensor;
  readonly postNorm: Tensor;
  readonly gate: Tensor;
  readonly up: Tensor;
  readonly down: Tensor;
}

const PER_LAYER = 9;

/** Splits the list of `uploadWeights`. */
export function byLayer(weights: readonly Tensor[]): { layers: LayerWeights[]; norm: Tensor; head: Tensor } {
  const layers: LayerWeights[] = [];
  for (let at = 0; at + PER_LAYER < weights.length; at += PER_LAYER) {
    const [inputNorm, q, k, v, o, postNorm, gate, up, down] = weights.slice(at, at + PER_LAYER) as Tuple9<Tensor>;
    layers.push({ inputNorm, q, k, v, o, postNorm, gate, up, down });
  }
  const [norm, head] = weights.slice(-2) as [Tensor, Tensor];
  return { layers, norm, head };
}

type Tuple9<T> = [T, T, T, T, T, T, T, T, T];

/** x / √(mean x² + ε) · gain, over the last axis. */
export function rmsNorm(config: PolicyConfig, x: Tensor, gain: Tensor): Tensor {
  const meanSquare = np.sum(x.ref.mul(x.ref), -1, { keepdims: true }).mul(1 / config.hidden_size);
  return x.mul(np.reciprocal(np.sqrt(meanSquare.add(config.rms_norm_eps)))).mul(gain);
}

/** Rotates halves: x is [..., 2, D/2], the tables broadcast against it. */
export function rotate(x: Tensor, cos: Tensor, sin: Tensor): Tensor {
  return x.ref.mul(cos).add(np.flip(x, -2).mul(sin));
}

/** SwiGLU: down(silu(gate(x)) · up(x)). */
export function feedForward(x: Tensor, layer: LayerWeights): Tensor {
  const gate = np.matmul(x.ref, layer.gate);
  const up = np.matmul(x, layer.up);
  const silu = gate.ref.mul(np.reciprocal(np.exp(gate.mul(-1)).add(1)));
  return np.matmul(silu.mul(up), layer.down);
}

/** Everything that a forward pass of one length needs besides weights and input. */
export interface Tables {
  readonly cos: Tensor;
  readonly sin: Tensor;
  readonly mask: Tensor;
}

/** Tables for rows of `length` positions from 0. */
export function tables(config: PolicyConfig, length: number): Tables {
  const { cos, sin } = rotation(config, length);
  const shape = [length, 2, config.head_dim / 2];
  return { cos: tensor(cos, shape), sin: tensor(sin, shape), mask: tensor(causalMask(length), [length, length]) };
}

/** Logits [M, vocab] of R = M/T rows, every position attending to itself and what came before. Consumes all. */
export function forward(config: PolicyConfig, length: number, weights: readonly Tensor[], x: Tensor, { cos, sin, mask }: Tables): Tensor {
  const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = config;
  const T = length;
  const R = (x.shape[0] ?? 0) / T;
  const G = H / K;
  const { layers, norm, head } = byLayer(weights);
  const heads = (projected: Tensor, count: number): Tensor =>
    rotate(projected.reshape([R, T, count, 2, D / 2]).transpose([0, 2, 1, 3, 4]), cos.ref, sin.ref);

  let h = x;
  for (const layer of layers) {
    const n = rmsNorm(config, h.ref, layer.inputNorm);
    const q = heads(np.matmul(n.ref, layer.q), H).reshape([R, K, G * T, D]);
    const k = heads(np.matmul(n.ref, layer.k), K).reshape([R, K, T, D]);
    const v = np.matmul(n, layer.v).reshape([R, T, K, D]).transpose([0, 2, 1, 3]);
    const scores = np.matmul(q, k.transpose([0, 1, 3, 2])).mul(D ** -0.5).reshape([R, K, G, T, T]).add(mask.ref);
    const top = lax.stopGradient(np.max(scores.ref, -1, { keepdims: true }));
    const mass = np.exp(scores.sub(top));
    const total = np.sum(mass.ref, -1, { keepdims: true }).reshape([R, K, G * T, 1]);
    const mixed = np.matmul(mass.reshape([R, K, G * T, T]), v).mul(np.reciprocal(total));
    const joined = mixed.reshape([R, K, G, T, D]).transpose([0, 3, 1, 2, 4]).reshape([R * T, H * D]);
    h = h.add(np.matmul(joined, layer.o));
    h = h.ref.add(feedForward(rmsNorm(config, h, layer.postNorm), layer));
  }
  for (const table of [cos, sin, mask]) table.dispose();
  return np.matmul(rmsNorm(config, h, norm), head);
}
