/** While building: bundles the service worker, and writes the list of all files that the build is made of. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'vite';
import { MANIFEST, WORKER, type Manifest } from './names.ts';

const sha256 = (content: Uint8Array | string): string => createHash('sha256').update(content).digest('hex');

/** Whether a visitor without a network needs this file: neither maps nor hidden files, nor what reaches the pack from outside. */
export function belongs(path: string): boolean {
  return !/(^|\/)\./.test(path) && !path.endsWith('.map') && path !== MANIFEST && path !== WORKER;
}

/** @param folder of the finished build */
export function manifestOf(folder: string): Manifest {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1).replaceAll('\\', '/'))
    .filter(belongs)
    .sort()
    .map((path) => {
      const content = readFileSync(join(folder, path));
      return { path, bytes: content.length, sha256: sha256(content) };
    });
  return { version: sha256(JSON.stringify(files)), files };
}

/** One script without imports: not every browser has service workers that are modules. */
async function bundleWorker(): Promise<string> {
  const entry = fileURLToPath(new URL('worker.ts', import.meta.url));
  const made = await build({ configFile: false, publicDir: false, logLevel: 'warn', build: { write: false, lib: { entry, formats: ['iife'], name: 'worker' } } });
  const chunk = (Array.isArray(made) ? made : [made]).flatMap((output) => ('output' in output ? output.output : [])).find((file) => file.type === 'chunk');
  if (chunk === undefined) throw new Error('the service worker was not bundled');
  return chunk.code;
}

export function offlinePack(): Plugin {
  return {
    name: 'offline-pack',
    apply: 'build',
    async generateBundle() {
      this.emitFile({ type: 'asset', fileName: WORKER, source: await bundleWorker() });
    },
    // When everything lies in its place, what comes from `public/` too.
    writeBundle: {
      order: 'post',
      handler({ dir }) {
        if (dir !== undefined) writeFileSync(join(dir, MANIFEST), JSON.stringify(manifestOf(dir)));
      },
    },
  };
}
