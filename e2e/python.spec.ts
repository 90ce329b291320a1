/**
 * Python in a real page: in a worker of a worker, from the page's own origin, with and without the headers that let
 * memory be shared; what it cannot reach, no page of the lab has to be trusted for.
 */
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import type { RequestListener, Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, type Page } from '@playwright/test';
import { build, createServer } from 'vite';
import { ISOLATION, listen, staticFiles } from '../scripts/serve.mjs';
import { TOY_LIMITS, type PythonLimits } from '../src/tools/python/python.ts';
import type { Harness } from './harness/python.ts';

declare const harness: Harness;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HARNESS = join(ROOT, 'e2e', 'harness');
const SHORT: PythonLimits = { ...TOY_LIMITS, seconds: 0.5 };
const LONG: PythonLimits = { ...TOY_LIMITS, seconds: 60 };

const requests: string[] = [];
const servers: Server[] = [];
let folder: string;

/** @returns the origin of a server on a port of its own. */
async function serve(handler: RequestListener): Promise<string> {
  const recorded: RequestListener = (request, response) => {
    requests.push(request.url ?? '');
    handler(request, response);
  };
  const [server] = (await listen(recorded, ['127.0.0.1'], 0)) ?? [];
  const address = server?.address();
  if (server === undefined || address === null || typeof address !== 'object') throw new Error('no port is free');
  servers.push(server);
  return `http://127.0.0.1:${address.port}`;
}

test.beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'atelier-harness-'));
  await build({
    root: HARNESS,
    configFile: false,
    logLevel: 'warn',
    base: './',
    worker: { format: 'es' },
    build: { outDir: folder, emptyOutDir: true, target: 'es2023', rolldownOptions: { input: join(HARNESS, 'python.html') } },
  });
  for (const name of ['pyodide', 'wheels']) await symlink(join(ROOT, 'public', name), join(folder, name));
});
test.afterAll(async () => {
  for (const server of servers) server.close();
  await rm(folder, { recursive: true, force: true });
});

async function open(page: Page, origin: string) {
  await page.goto(`${origin}/python.html`);
  return page.evaluate(() => harness.ready());
}

async function outputs(page: Page, calls: readonly string[], limits: PythonLimits): Promise<string[]> {
  const { results } = await page.evaluate(([calls, limits]) => harness.run(calls, limits), [calls, limits] as const);
  return results.map(({ output }) => output);
}

/** What holds wherever the page comes from. */
async function promises(page: Page, sympy: string | undefined): Promise<void> {
  expect(await outputs(page, ['print(12*34)', 'show(1)', 'x = 1', 'import math; math.pi = 3', 'import math; print(math.pi)'], LONG)).toEqual([
    '408', "NameError: name 'show' is not defined", 'no output: use print()', 'no output: use print()', '3.141592653589793',
  ]);
  expect(await outputs(page, ['print(1)', 'while True: pass', 'print(2)'], SHORT)).toEqual(['1', 'TimeoutError: stopped after 0.5 s', '2']);
  const stubborn = 'while True:\n  try:\n    while True: pass\n  except BaseException: pass';
  expect(await outputs(page, ['print(1)', stubborn, 'print(2)'], SHORT)).toEqual(['1', 'TimeoutError: stopped after 0.5 s', '2']);
  const integral = 'from sympy import *; x = symbols("x"); print(integrate(x**2*exp(x), (x, 0, 1)))';
  expect(await outputs(page, [integral], LONG)).toEqual([sympy === undefined ? "ModuleNotFoundError: No module named" : '-2 + E']);
}

test.describe('Python in a page', { tag: '@python' }, () => {
  test('runs isolated, and a runaway call is interrupted', async ({ page }) => {
    const origin = await serve(staticFiles(folder));
    const info = await open(page, origin);
    expect(info).toMatchObject({ interruptible: true });
    await promises(page, info.sympy);
    // A batch the size of a training step's.
    const calls = Array.from({ length: 48 }, (_, i) => `print(${i}*34)`);
    const times: number[] = [];
    for (let i = 0; i < 8; i++) times.push((await page.evaluate(([calls, limits]) => harness.run(calls, limits), [calls, LONG] as const)).milliseconds);
    test.info().annotations.push({ type: '48 calls, ms', description: times.map((time) => time.toFixed(1)).join(' ') });
  });

  test('runs without shared memory, from a server that sends no headers', async ({ page }) => {
    const files = staticFiles(folder);
    const plain = await serve((request, response) => {
      const writeHead = response.writeHead.bind(response) as (status: number, headers: object) => typeof response;
      response.writeHead = ((status: number, headers: Record<string, string>) =>
        writeHead(status, Object.fromEntries(Object.entries(headers).filter(([name]) => !(name in ISOLATION) && name !== 'Content-Security-Policy')))) as never;
      files(request, response);
    });
    const info = await open(page, plain);
    expect(info).toMatchObject({ interruptible: false });
    await promises(page, info.sympy);
  });

  test('runs from the development server', async ({ page }) => {
    const server = await createServer({ root: HARNESS, configFile: false, logLevel: 'warn', publicDir: join(ROOT, 'public'), cacheDir: join(folder, '.vite'), server: { port: 0, host: '127.0.0.1', fs: { allow: [ROOT] } } });
    try {
      await server.listen();
      const origin = server.resolvedUrls?.local[0]?.replace(/\/$/, '') ?? '';
      await open(page, origin);
      expect(await outputs(page, ['print(12*34)'], LONG)).toEqual(['408']);
    } finally {
      await server.close();
    }
  });

  test('reaches nothing outside its worker', async ({ page }) => {
    const origin = await serve(staticFiles(folder));
    await open(page, origin);
    const { before, after, attempts } = await page.evaluate(() => harness.probe());
    const means = [
      'fetch', 'XMLHttpRequest', 'WebSocket', 'WebTransport', 'EventSource', 'indexedDB', 'caches', 'importScripts', 'Worker', 'BroadcastChannel',
      'MessageChannel', 'navigator', 'postMessage', 'addEventListener', 'eval', 'setTimeout', 'self', 'location', 'FontFace', 'Request', 'Notification',
    ];
    expect(before).toEqual(expect.arrayContaining(means.filter((name) => name !== 'WebTransport' && name !== 'Notification')));
    expect(means.filter((name) => after.includes(name))).toEqual([]);
    expect(after.length).toBeLessThan(80);
    expect(attempts).toEqual({
      Function: 'EvalError', AsyncFunction: 'EvalError', GeneratorFunction: 'EvalError', AsyncGeneratorFunction: 'EvalError',
      eval: 'TypeError', fetch: 'ReferenceError', Worker: 'ReferenceError', scope: '',
    });

    requests.length = 0;
    const tries = [
      'import js', 'from pyodide.code import run_js', 'import pyodide.http', 'import urllib.request; urllib.request.urlopen("http://127.0.0.1/leak")',
      'import socket; socket.create_connection(("127.0.0.1", 80))', 'import importlib; importlib.import_module("_pyodide_core")',
    ];
    for (const output of await outputs(page, tries, LONG)) expect(output).toMatch(/^[\w.]+Error: /);
    expect(requests).toEqual([]);
  });
});
