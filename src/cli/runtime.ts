/** Engines and Python in Node. */
import { createCpuEngine } from '../policy/cpu/engine.ts';
import { spawnInNode } from '../policy/cpu/spawn.node.ts';
import type { PolicyEngine } from '../policy/engine.ts';

export const ENGINES = ['cpu', 'webgpu'] as const;

/** @throws EngineError or an Error that says why there is no such engine here. */
export async function startEngine(kind: string): Promise<PolicyEngine> {
  if (kind === 'cpu') return createCpuEngine({ spawn: spawnInNode });
  throw new Error('todo');
}
