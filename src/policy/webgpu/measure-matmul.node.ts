/** Prints what both variants of the matrix product reach on this machine's adapter, in GFLOP/s. */
import { softwareVulkan } from '../../../scripts/browser.mjs';
import { describeAdapter } from './device.ts';
import { Gpu } from './gpu.ts';
import { createNodeGpu } from './node.node.ts';
import { shaders } from './shaders.node.ts';
import { measureMatmul } from './tuning.ts';

const adapter = await createNodeGpu().requestAdapter();
if (adapter === null) {
  console.error(`No adapter. For SwiftShader start with ${JSON.stringify(softwareVulkan())} in the environment.`);
  process.exit(1);
}
const device = await adapter.requestDevice();
const gpu = new Gpu(device, shaders);
console.log(describeAdapter(adapter.info).adapter);
for (const [tokens, width] of [[2048, 64], [2048, 256]] as const) {
  for (const variant of ['tiled', 'registers'] as const) {
    const ms = await measureMatmul(gpu, variant, tokens, width);
    console.log(`${tokens} × ${width} × ${width} ${variant}: ${((2 * tokens * width * width) / ms / 1e6).toFixed(2)} GFLOP/s`);
  }
}
device.destroy();
