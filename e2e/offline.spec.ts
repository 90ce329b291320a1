/**
 * The promise of the offline pack: after one press, and after the page said that it is verified, everything works with
 * the network cut and the server gone; and whatever goes wrong on the way is said, and mended.
 */
import { createHash } from 'node:crypto';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import { flakyServer, type FlakyServer } from './harness/flaky-server.ts';

test.describe.configure({ timeout: 420_000 });

let server: FlakyServer;

test.beforeEach(async ({ baseURL }) => {
  server = await flakyServer(baseURL ?? '');
});

test.afterEach(async () => {
  await server.stop();
});

const card = (page: Page): Locator => page.getByRole('region', { name: 'This machine' });
const press = (page: Page, name: RegExp | string): Promise<void> => card(page).getByRole('button', { name }).click();
const complete = (page: Page): Promise<void> => expect(card(page).getByText(/^Complete: \d+ files, \d+\.\d MB, verified$/)).toBeVisible({ timeout: 120_000 });
const cached = (page: Page): Promise<number> => page.evaluate(async () => {
  const names = await caches.keys();
  return (await Promise.all(names.map(async (name) => (await (await caches.open(name)).keys()).length))).reduce((a, b) => a + b, 0);
});

/** Goes on in a new page, of which nothing was loaded before. */
async function cutTheNetwork(page: Page): Promise<void> {
  await server.stop();
  await page.context().setOffline(true);
  await page.goto('about:blank');
  await page.goto(server.address);
}

test('@lesson after “download for offline” the lab works with the network cut and the server gone', async ({ page }) => {
  await page.goto(server.address);
  await expect(card(page).getByRole('button', { name: /^Download for offline/ })).toBeVisible();
  expect(await cached(page)).toBe(0);
  await press(page, /^Download for offline \(\d+\.\d MB\)$/);
  await complete(page);
  expect(await serious(page)).toEqual([]);

  await cutTheNetwork(page);
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
  expect(await page.evaluate(() => [crossOriginIsolated, navigator.serviceWorker.controller?.state])).toEqual([true, 'activated']);
  await complete(page);
  await expect(card(page)).toContainText(/SymPy \d/, { timeout: 120_000 });

  // A training run, with Python answering its calls.
  await page.goto(`${server.address}#/train`);
  await page.getByRole('radio', { name: /^Quick/ }).click();
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  const run = page.getByRole('region', { name: 'Run', exact: true });
  await expect(run.getByText(/^Step [3-9] of 40$/)).toBeVisible({ timeout: 240_000 });
  await run.getByRole('button', { name: 'Pause' }).click();
  await expect(run.getByRole('button', { name: 'Resume' })).toBeVisible({ timeout: 120_000 });

  // A rollout of it, token by token.
  await page.getByRole('navigation').getByRole('link', { name: 'Rollout', exact: true }).click();
  await expect(page.getByRole('grid').first()).toContainText('<think>');

  // The integral of the lesson, in real SymPy.
  const code = 'import sympy; x = sympy.symbols("x"); print(sympy.integrate(x**2*sympy.exp(x), (x, 0, 1)))';
  await page.goto(`${server.address}#/tools?code=${encodeURIComponent(code)}`);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(page.getByRole('main')).toContainText('-2 + E', { timeout: 120_000 });
});

test('@lesson a damaged file is found by verifying, and loaded again', async ({ page }) => {
  await page.goto(server.address);
  await press(page, /^Download for offline/);
  await complete(page);
  await page.evaluate(async () => {
    const cache = await caches.open((await caches.keys())[0] ?? '');
    const key = (await cache.keys()).find(({ url }) => url.includes('pyodide.asm.wasm'));
    if (key === undefined) throw new Error('Python is not in the pack');
    await cache.put(key, new Response('broken'));
  });
  await press(page, 'Verify');
  await expect(card(page).getByRole('alert')).toContainText('1 stored file is damaged or missing: pyodide/pyodide.asm.wasm');
  server.asked.length = 0;
  await press(page, 'Load again');
  await complete(page);
  expect(server.asked.filter((path) => path.startsWith('pyodide/'))).toEqual(['pyodide/pyodide.asm.wasm']);
  await press(page, 'Verify');
  await complete(page);
  await press(page, 'Remove');
  await expect(card(page).getByRole('button', { name: /^Download for offline/ })).toBeVisible();
  expect(await cached(page)).toBe(0);
});

test('@lesson a connection lost half way, and a file that is not what it should be, are said; pressing again goes on', async ({ page }) => {
  const lost = 'wheels/index.json';
  server.changes.set(lost, () => undefined);
  await page.goto(server.address);
  await press(page, /^Download for offline/);
  await expect(card(page).getByRole('alert')).toContainText(`The network was lost at ${lost}`, { timeout: 60_000 });
  server.changes.set(lost, (content) => Buffer.from(content.toString().replace('1', '2')));
  await press(page, 'Go on');
  await expect(card(page).getByRole('alert')).toContainText(`${lost} did not come as the server’s list says`, { timeout: 60_000 });
  server.changes.clear();
  server.asked.length = 0;
  await press(page, 'Go on');
  await complete(page);
  await expect(card(page).getByRole('alert')).toBeHidden();
  expect(server.asked).not.toContain('pyodide/pyodide.asm.wasm');
});

test('@lesson a newer build is announced, and takes over as a whole', async ({ page }) => {
  await page.goto(server.address);
  await press(page, /^Download for offline/);
  await complete(page);
  const changed = 'models/arithmetic-base/README.md';
  const renew: (content: Buffer) => Buffer = (content) => Buffer.concat([content, Buffer.from('\nAnother build.\n')]);
  server.changes.set(changed, renew);
  const content = await (await page.request.get(`${server.address}${changed}`)).body();
  server.changes.set('offline.json', (list) => {
    const { files } = JSON.parse(list.toString()) as { files: { path: string; bytes: number; sha256: string }[] };
    const sha256 = createHash('sha256').update(content).digest('hex');
    const next = files.map((file) => (file.path === changed ? { ...file, bytes: content.length, sha256 } : file));
    return Buffer.from(JSON.stringify({ version: createHash('sha256').update(JSON.stringify(next)).digest('hex'), files: next }));
  });
  await page.reload();
  await complete(page);
  await expect(card(page)).toContainText('A newer version of the page is there');
  const read = (): Promise<string> => page.evaluate(async (path) => (await fetch(path)).text(), changed);
  expect(await read()).not.toContain('Another build');
  server.asked.length = 0;
  await press(page, 'Update');
  await expect(card(page)).toContainText('The newer version is stored');
  expect(server.asked.filter((path) => !/^offline/.test(path))).toEqual([changed]);
  await press(page, 'Reload');
  await complete(page);
  await expect(card(page)).not.toContainText('A newer version');
  expect(await read()).toContain('Another build');
});

test('@lesson a page that is not a secure context says why it cannot be stored', async ({ page, baseURL }) => {
  const address = new URL(baseURL ?? '');
  address.hostname = 'classroom.test';
  await page.goto(address.href);
  await expect(card(page)).toContainText('browsers store pages only when they come over https or from localhost');
  await expect(card(page).getByRole('button', { name: /offline/ })).toHaveCount(0);
});
