/** The page that measures: hands the rig to whoever drives it. */
import { FILE_NAMES, loadPolicy } from '../../src/policy/checkpoint.ts';
import { spawnInBrowser } from '../../src/policy/cpu/spawn.browser.ts';
import { shaders } from '../../src/policy/webgpu/shaders.browser.ts';
import { createBrowserPython } from '../../src/tools/python/python.browser.ts';
import { hook } from '../calls.ts';
import { createRig } from '../rig.ts';

const assets = new URL('/', document.baseURI).href;
const { gpu } = navigator as { readonly gpu?: GPU };

// Before anything makes a device.
if (gpu !== undefined) hook();
Object.assign(globalThis, {
  rig: createRig({
    gpu,
    shaders,
    spawn: spawnInBrowser,
    python: () => createBrowserPython(assets),
    model: () => loadPolicy(async (file: (typeof FILE_NAMES)[number]) => {
      const response = await fetch(`${assets}models/arithmetic-base/${file}`);
      return response.ok ? new Uint8Array(await response.arrayBuffer()) : undefined;
    }),
  }),
});
