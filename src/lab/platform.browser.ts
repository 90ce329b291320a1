/** Where the lab runs in a browser: which engine a visitor gets and why, models by fetch, runs in IndexedDB. */
import { FILE_NAMES, loadPolicy, type PolicyFiles } from '../policy/checkpoint.ts';
import { createCpuEngine } from '../policy/cpu/engine.ts';
import { spawnInBrowser } from '../policy/cpu/spawn.browser.ts';
import { EngineError } from '../policy/engine.ts';
import { acquireDevice, type NoDeviceReason } from '../policy/webgpu/device.ts';
import { createWebGpuEngine } from '../policy/webgpu/engine.ts';
import { shaders } from '../policy/webgpu/shaders.browser.ts';
import { CheckpointError } from '../policy/safetensors.ts';
import { createBrowserPython } from '../tools/python/python.browser.ts';
import type { Platform, StartedEngine } from './lab.ts';
import type { EngineChoice, EngineReason } from './protocol.ts';
import { openRunStore } from './store.ts';

const REASONS: Readonly<Record<NoDeviceReason, EngineReason>> = {
  'insecure-context': 'insecure-context',
  'no-webgpu': 'no-webgpu',
  'no-adapter': 'no-adapter',
  'request-failed': 'adapter-error',
};

function cpu(reason: EngineReason, detail?: string): StartedEngine {
  return { engine: createCpuEngine({ spawn: spawnInBrowser }), reason, ...(detail === undefined ? {} : { detail }) };
}

/** While the page is visible, one submission holds the GPU no longer than a frame: the compositor waits for it. */
const FRAME_MILLISECONDS = 16;

/** A GPU that passes the start-up test gets the WGSL engine; an emulated one only where the visitor asks for it. */
async function startEngine(choice: EngineChoice): Promise<StartedEngine> {
  if (choice === 'cpu') return cpu('chosen');
  // Firefox and older browsers have no `gpu` in workers, or none at all.
  const acquired = await acquireDevice((navigator as { readonly gpu?: GPU }).gpu);
  if (!acquired.ok) {
    if (choice === 'webgpu') throw new EngineError(acquired.message, 'unsupported');
    return cpu(REASONS[acquired.reason], acquired.message);
  }
  const { device, adapter, software } = acquired;
  if (choice === 'auto' && software) {
    device.destroy();
    return cpu('software-adapter', adapter);
  }
  try {
    const engine = await createWebGpuEngine({ device, adapterInfo: acquired.info, shaders });
    // The engine's device is nobody else's: it goes with it.
    const dispose = engine.dispose.bind(engine);
    engine.dispose = () => {
      dispose();
      device.destroy();
    };
    return {
      engine,
      reason: choice === 'auto' ? 'gpu' : 'chosen',
      setVisible: (visible) => { engine.frameBudget = visible ? FRAME_MILLISECONDS : undefined; },
    };
  } catch (error) {
    device.destroy();
    if (choice === 'webgpu') throw error;
    return cpu('self-test-failed', error instanceof Error ? error.message : String(error));
  }
}

async function loadModel(assets: string, name: string): Promise<PolicyFiles> {
  return loadPolicy(async (file) => {
    const response = await fetch(new URL(`models/${name}/${file}`, assets));
    if (response.status === 404) return undefined;
    if (!response.ok) throw new CheckpointError(`${name}/${file} could not be loaded (${response.status} ${response.statusText})`);
    return new Uint8Array(await response.arrayBuffer());
  }).catch((error: unknown) => {
    // A cut network rejects with a TypeError that names nothing.
    if (error instanceof TypeError) throw new CheckpointError(`the files of ${name} (${FILE_NAMES.join(', ')}) could not be loaded: is the server still there?`, { cause: error });
    throw error;
  });
}

/** A Web Lock for each run: held by a tab's worker, and given back by the browser when that tab goes. */
async function claim(id: string): Promise<(() => void) | undefined> {
  // Pages that are not secure contexts have no locks; there two tabs must keep out of each other's way by themselves.
  const { locks } = navigator as { readonly locks?: LockManager };
  if (locks === undefined) return () => undefined;
  return new Promise((resolve, reject) => {
    locks.request(`atelier-run-${id}`, { ifAvailable: true }, (lock) => {
      if (lock === null) {
        resolve(undefined);
        return undefined;
      }
      return new Promise<void>((release) => { resolve(release); });
    }).catch(reject);
  });
}

export const browserPlatform: Platform = {
  claim,
  startEngine,
  createPython: createBrowserPython,
  openStore: () => openRunStore(),
  loadModel,
  now: () => Date.now(),
  // `randomUUID` is missing where the page is not a secure context; these bytes are not.
  newId: () => Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, '0')).join(''),
};
