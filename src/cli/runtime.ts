/** Engines and Python in Node. */
import { createCpuEngine } from '../policy/cpu/engine.ts';
import { spawnInNode } from '../policy/cpu/spawn.node.ts';
import { EngineError, type PolicyEngine } from '../policy/engine.ts';
import { acquireDevice } from '../policy/webgpu/device.ts';
import { createWebGpuEngine } from '../policy/webgpu/engine.ts';
import { createNodeGpu } from '../policy/webgpu/node.node.ts';
import { shaders } from '../policy/webgpu/shaders.node.ts';
import type { Python } from '../tools/python/python.ts';
import { createNodePython } from '../tools/python/python.node.ts';

export const ENGINES = ['cpu', 'webgpu'] as const;

/** @throws EngineError that says why there is no such engine here. */
export async function startEngine(kind: string): Promise<PolicyEngine> {
  if (kind === 'cpu') return createCpuEngine({ spawn: spawnInNode });
  const acquired = await acquireDevice(createNodeGpu(), true);
  if (!acquired.ok) {
    throw new EngineError(`${acquired.message} In Node, WebGPU needs a Vulkan driver, or a Chromium that brings SwiftShader (npm run setup -- --browser).`, 'unsupported');
  }
  return createWebGpuEngine({ device: acquired.device, adapterInfo: acquired.info, shaders });
}

/** @throws PythonUnavailable with the reason. */
export async function startPython(): Promise<Python> {
  const python = createNodePython();
  await python.ready();
  return python;
}
