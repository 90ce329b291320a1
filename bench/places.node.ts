/** Where figures are taken: headless Chromium, driven from outside, or this process on Dawn. */
import { mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium, type Browser, type Page } from '@playwright/test';
import { build } from 'vite';
import { findChromium } from '../scripts/browser.mjs';
import { listen, staticFiles } from '../scripts/serve.mjs';
import { ROOT } from '../scripts/setup.mjs';
import { loadPolicy } from '../src/policy/checkpoint.ts';
import { spawnInNode } from '../src/policy/cpu/spawn.node.ts';
import { createNodeGpu } from '../src/policy/webgpu/node.node.ts';
import { shaders } from '../src/policy/webgpu/shaders.node.ts';
import { createNodePython } from '../src/tools/python/python.node.ts';
import { hook } from './calls.ts';
import { pretendBrowser } from './peers/node.node.ts';
import { createRig, type Rig } from './rig.ts';

export interface Place {
  readonly where: 'browser' | 'node';
  readonly rig: Rig;
  /** Processor seconds so far, of everything that computes here. */
  cpuSeconds(): number;
  /** Frees what earlier figures have left behind. */
  fresh(): Promise<void>;
  close(): Promise<void>;
}

export const CACHE = join(ROOT, '.cache', 'bench');

/** This process: Dawn's threads are its own, and so are those of the workers. */
export function inNode(): Place {
  const gpu = createNodeGpu();
  pretendBrowser(gpu);
  hook();
  const rig = createRig({
    gpu, shaders, spawn: spawnInNode, python: () => createNodePython(),
    model: () => loadPolicy((file) => readFile(join(ROOT, 'public/models/arithmetic-base', file))),
  });
  return {
    where: 'node', rig,
    cpuSeconds: () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
    fresh: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** Chromium's flags for an adapter; headless Chromium has none by itself. */
export function flagsOf(adapter: 'swiftshader' | 'hardware'): string[] {
  const gpu = adapter === 'swiftshader'
    ? ['--use-webgpu-adapter=swiftshader']
    : ['--enable-features=Vulkan', '--use-angle=vulkan', '--ignore-gpu-blocklist', '--disable-vulkan-surface'];
  return ['--enable-unsafe-webgpu', ...gpu, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'];
}

/** A Chromium of our own, whose processes can be told from others. */
export async function launch(adapter: 'swiftshader' | 'hardware'): Promise<{ browser: Browser; pid: number; close: () => Promise<void> }> {
  const executablePath = findChromium();
  const server = await chromium.launchServer({ ...(executablePath === undefined ? {} : { executablePath }), args: flagsOf(adapter) });
  const browser = await chromium.connect(server.wsEndpoint());
  return { browser, pid: server.process().pid ?? 0, close: () => server.close() };
}

export async function serve(folder: string): Promise<{ base: string; close: () => void }> {
  const servers = (await listen(staticFiles(folder), ['127.0.0.1'], 0)) ?? [];
  const address = servers[0]?.address();
  if (address === null || address === undefined || typeof address === 'string') throw new Error('no port');
  return {
    base: `http://127.0.0.1:${address.port}/`,
    close: () => {
      for (const server of servers) server.close();
    },
  };
}

export async function inBrowser(adapter: 'swiftshader' | 'hardware'): Promise<Place> {
  const folder = await builtPage();
  const { base, close } = await serve(folder);
  const chrome = await launch(adapter);
  // The peers start workers from blobs, which the page's own policy of content forbids.
  const context = await chrome.browser.newContext({ bypassCSP: true });
  let page: Page | undefined;
  const fresh = async (): Promise<void> => {
    await page?.close();
    page = await context.newPage();
    page.on('console', (message) => {
      if (message.type() === 'error') console.error(`page: ${message.text()}`);
    });
    await page.goto(`${base}bench/page/index.html`);
    await page.waitForFunction(() => 'rig' in globalThis);
  };
  await fresh();
  const rig = new Proxy({} as Rig, {
    get: (_, name: string) => (...args: unknown[]): Promise<unknown> => {
      if (page === undefined) throw new Error('no page');
      return page.evaluate(([method, given]) => (globalThis as unknown as { rig: Record<string, (...args: unknown[]) => Promise<unknown>> }).rig[method]?.(...given), [name, args] as const);
    },
  });
  return {
    where: 'browser', rig, fresh,
    cpuSeconds: () => treeSeconds(chrome.pid),
    async close() {
      await chrome.close();
      close();
    },
  };
}

/** The bench's page, built as the product is, beside the assets that it asks for. */
async function builtPage(): Promise<string> {
  const outDir = join(CACHE, 'page');
  await rm(outDir, { recursive: true, force: true });
  await mkdir(outDir, { recursive: true });
  await build({
    root: ROOT, configFile: false, base: '/', publicDir: false, logLevel: 'error', worker: { format: 'es' },
    build: { outDir, target: 'es2023', chunkSizeWarningLimit: 8000, rolldownOptions: { input: join(ROOT, 'bench/page/index.html') } },
  });
  for (const name of await readdir(join(ROOT, 'public'))) await symlink(join(ROOT, 'public', name), join(outDir, name));
  return outDir;
}

/** The product itself, built aside so that no other build comes between. */
export async function builtProduct(): Promise<string> {
  const outDir = join(CACHE, 'product');
  await build({ root: ROOT, logLevel: 'error', build: { outDir, emptyOutDir: true } });
  return outDir;
}

/** Processor seconds of a process and all below it, those that have ended included. Linux only: NaN elsewhere. */
function treeSeconds(root: number): number {
  const TICKS = 100;
  interface Process { readonly parent: number; readonly ticks: number }
  const all = new Map<number, Process>();
  try {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const fields = statOf(name);
      if (fields === undefined) continue;
      const [parent = 0, ...times] = [fields[1], ...fields.slice(11, 15)].map(Number);
      all.set(Number(name), { parent, ticks: times.reduce((sum, t) => sum + t, 0) });
    }
  } catch {
    return NaN;
  }
  const within = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 0; at = all.get(at)?.parent) if (at === root) return true;
    return false;
  };
  let ticks = 0;
  for (const [pid, process] of all) if (within(pid)) ticks += process.ticks;
  return ticks / TICKS;
}

/** The fields of /proc/PID/stat after the name in brackets. */
function statOf(pid: string): string[] | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    // It ended meanwhile.
    return undefined;
  }
}
