/** Which variant of the matrix product an adapter runs faster. */
import type { Gpu, Tuning } from './gpu.ts';
import { forwardProduct, type MatmulVariant } from './kernels.ts';

/** Tokens and width of the measured product; small first, so that a slow adapter is not kept busy. */
const SIZES = [[512, 64], [2048, 256], [4096, 512]] as const;
/** Milliseconds above which a measurement is more than latency. */
const CLEAR = 3;

/**
 * GPUs are measured. Software adapters are not: there the tiled variant takes seconds to compile, only to run several
 * times slower (`npx tsx src/policy/webgpu/measure-matmul.node.ts` prints both). Nor do they share rows between threads.
 */
export async function chooseTuning(gpu: Gpu, software: boolean): Promise<Tuning> {
  if (software) return { matmul: 'registers', lanes: 1 };
  for (const [tokens, width] of SIZES) {
    const [tiled, registers] = [await measureMatmul(gpu, 'tiled', tokens, width), await measureMatmul(gpu, 'registers', tokens, width)];
    if (Math.max(tiled, registers) >= CLEAR) return { matmul: tiled <= registers ? 'tiled' : 'registers', lanes: 32 };
  }
  return { matmul: 'tiled', lanes: 32 };
}

/** Milliseconds of Y = X Wᵀ with X [tokens, width] and W [width, width]: the faster of two, after one that warms up. */
export async function measureMatmul(gpu: Gpu, variant: MatmulVariant, tokens: number, width: number): Promise<number> {
  const batch = gpu.uniform('measure', [tokens]);
  const [a, b, y] = [gpu.storage('a', 4 * tokens * width), gpu.storage('b', 4 * width * width), gpu.storage('y', 4 * tokens * width)];
  const product = await forwardProduct(gpu, variant, width, { batch, a, b, y });
  let best = Infinity;
  for (let i = 0; i < 3; i++) {
    const start = performance.now();
    const encoder = gpu.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    gpu.encode(pass, [product], tokens);
    pass.end();
    gpu.submit(encoder);
    await Promise.race([gpu.device.queue.onSubmittedWorkDone(), gpu.lost]);
    if (i > 0) best = Math.min(best, performance.now() - start);
  }
  for (const buffer of [batch, a, b, y]) buffer.destroy();
  return best;
}
