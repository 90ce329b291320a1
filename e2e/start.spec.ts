/**
 * What `npm start` promises: the built page from its own origin, isolated, with every file under its right type,
 * and nothing beyond the folder that it serves.
 */
import { connect } from 'node:net';
import { expect, test, type Response } from '@playwright/test';

test.describe('the served page', { tag: '@start' }, () => {
  test('is cross-origin isolated', async ({ page }) => {
    await page.goto('./');
    expect(await page.evaluate(() => globalThis.crossOriginIsolated)).toBe(true);
    expect(await page.evaluate(() => typeof SharedArrayBuffer)).toBe('function');
  });

  test('is loaded with no request to another origin, and none fails', async ({ page, baseURL }) => {
    const responses: Response[] = [];
    const failures: string[] = [];
    page.on('response', (response) => responses.push(response));
    page.on('requestfailed', (request) => failures.push(request.url()));
    page.on('pageerror', (error) => failures.push(error.message));
    await page.goto('./');
    // By then page, workers, Python and its packages have been fetched.
    await expect(page.getByText(/Python 3\.\d+\.\d+ is running/)).toBeVisible({ timeout: 90_000 });
    expect(responses.length).toBeGreaterThan(1);
    const origins = new Set(
      responses.map((response) => new URL(response.url())).filter((url) => url.protocol.startsWith('http')).map((url) => url.origin),
    );
    expect([...origins]).toEqual([new URL(baseURL ?? '').origin]);
    expect(responses.filter((response) => response.status() >= 400).map((response) => response.url())).toEqual([]);
    expect(failures).toEqual([]);
  });

  test('cannot reach another origin, whoever asks', async ({ page, baseURL }) => {
    await page.goto('./');
    const refused = await page.evaluate(async (elsewhere) => {
      const violation = new Promise<string>((resolve) => {
        document.addEventListener('securitypolicyviolation', (event) => { resolve(`${event.effectiveDirective} ${event.blockedURI}`); });
      });
      await fetch(elsewhere, { mode: 'no-cors' }).catch(() => undefined);
      return violation;
    }, `http://127.0.0.1:${new URL(baseURL ?? '').port}/`);
    expect(refused).toMatch(/^connect-src http:\/\/127\.0\.0\.1/);
  });

  test('comes with the right types and caching', async ({ request }) => {
    const index = await request.get('./');
    expect(index.headers()).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-embedder-policy': 'require-corp',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    });
    const script = /src="\.\/(assets\/[^"]+\.js)"/.exec(await index.text())?.[1] ?? 'no script in index.html';
    const types = new Map([
      [script, 'text/javascript; charset=utf-8'],
      ['pyodide/pyodide.asm.wasm', 'application/wasm'],
    ]);
    for (const [path, type] of types) {
      const response = await request.get(path);
      expect(response.status(), path).toBe(200);
      expect(response.headers()['content-type'], path).toBe(type);
    }
    const asset = await request.get(script);
    expect(asset.headers()['cache-control']).toBe('public, max-age=31536000, immutable');
  });

  test('can be asked for with HEAD, and again without being sent again', async ({ request }) => {
    const head = await request.head('./');
    expect(head.status()).toBe(200);
    expect(await head.body()).toHaveLength(0);
    const again = await request.get('./', { headers: { 'If-None-Match': head.headers().etag ?? '' } });
    expect(again.status()).toBe(304);
    expect((await request.post('./')).status()).toBe(405);
    expect((await request.get('no-such-file.js')).status()).toBe(404);
  });

  test('is all there is: no path leads out of its folder', async ({ baseURL }) => {
    const { port } = new URL(baseURL ?? '');
    // Sent as they are: a browser would tidy these paths up before it asks.
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/assets/..%2f..%2fpackage.json', '/..%5cpackage.json', '/.sources', '/%00', '/%zz']) {
      expect(await statusOf(Number(port), path), path).toBe(403);
    }
    expect(await statusOf(Number(port), '/')).toBe(200);
  });
});

/** The status of a GET for a request target that is not normalised. */
async function statusOf(port: number, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    });
    socket.setEncoding('utf8');
    socket.once('data', (text: string) => {
      resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
