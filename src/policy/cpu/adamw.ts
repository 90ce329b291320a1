/** AdamW (Loshchilov and Hutter, "Decoupled weight decay regularization", 2019), on the host. */
import type { ParameterLayout } from '../config.ts';
import type { AdamW } from '../engine.ts';

/** Adam's moments in place; `step` counts the updates made. */
export interface Moments {
  step: number;
  readonly m: Float32Array;
  readonly v: Float32Array;
}

/** Euclidean norm of the whole gradient; not finite where an entry is not. */
export function globalNorm(gradient: Float32Array): number {
  let sum = 0;
  for (const g of gradient) sum += g * g;
  return Math.sqrt(sum);
}

/** One step in place. @param norm of the gradient, finite: it is scaled down to `maxGradNorm` where it is larger. */
export function adamW(
  layout: ParameterLayout,
  weights: Float32Array,
  gradient: Float32Array,
  moments: Moments,
  norm: number,
  { learningRate, beta1, beta2, epsilon, weightDecay, maxGradNorm }: AdamW,
): void {
  const { m, v } = moments;
  moments.step++;
  const scale = norm > maxGradNorm ? maxGradNorm / norm : 1;
  const rate = learningRate / (1 - beta1 ** moments.step);
  const correction = Math.sqrt(1 - beta2 ** moments.step);
  for (const { offset, size, decayed } of layout.slices) {
    const keep = decayed ? 1 - learningRate * weightDecay : 1;
    for (let i = offset; i < offset + size; i++) {
      const g = (gradient[i] ?? 0) * scale;
      const first = beta1 * (m[i] ?? 0) + (1 - beta1) * g;
      const second = beta2 * (v[i] ?? 0) + (1 - beta2) * g * g;
      m[i] = first;
      v[i] = second;
      weights[i] = (weights[i] ?? 0) * keep - (rate * first) / (Math.sqrt(second) / correction + epsilon);
    }
  }
}
