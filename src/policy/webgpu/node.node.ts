/** WebGPU in plain Node, through Dawn (the npm package `webgpu`): for tests, headless runs and GPU servers. */
import { create } from 'webgpu';

// Dawn's instance must outlive its devices, and nothing else holds on to it.
const instances: GPU[] = [];

/** Like `navigator.gpu`. Destroy the devices at the end, or the process may not exit. */
export function createNodeGpu(): GPU {
  const gpu = create([]);
  instances.push(gpu);
  return gpu;
}
