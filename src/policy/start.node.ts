/** Either engine in Node: for the command line and for tests that hold the two together. */
import { createCpuEngine } from './cpu/engine.ts';
import { spawnInNode } from './cpu/spawn.node.ts';
import { EngineError, type PolicyEngine } from './engine.ts';
import { acquireDevice } from './webgpu/device.ts';
import { createWebGpuEngine } from './webgpu/engine.ts';
import { createNodeGpu } from './webgpu/node.node.ts';
import { shaders } from './webgpu/shaders.node.ts';

export const ENGINES = ['cpu', 'webgpu'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Must be disposed of, or the process does not exit. @throws EngineError that says why there is no such engine here. */
export async function startEngine(name: EngineName): Promise<PolicyEngine> {
  if (name === 'cpu') return createCpuEngine({ spawn: spawnInNode });
  const acquired = await acquireDevice(createNodeGpu(), true);
  if (!acquired.ok) {
    throw new EngineError(`${acquired.message} In Node, WebGPU needs a Vulkan driver, or a Chromium that brings SwiftShader (npm run setup -- --browser).`, 'unsupported');
  }
  const { device, info } = acquired;
  const engine = await createWebGpuEngine({ device, adapterInfo: info, shaders });
  // The device is nobody else's: it goes with the engine.
  const dispose = engine.dispose.bind(engine);
  engine.dispose = () => {
    dispose();
    device.destroy();
  };
  return engine;
}
