import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen, resolvePath, staticFiles } from './serve.mjs';

const SCRIPT = 'console.log("atelier");\n'.repeat(200);
let root;
let servers;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'atelier-serve-'));
  mkdirSync(join(root, 'assets'));
  writeFileSync(join(root, 'index.html'), '<title>Atelier</title>');
  writeFileSync(join(root, 'assets', 'main-abc.js'), SCRIPT);
  for (const name of ['model.safetensors', 'kernel.wgsl', 'python.wasm', 'config.json', '.secret']) {
    writeFileSync(join(root, name), '{}');
  }
  servers = await listen(staticFiles(root), ['127.0.0.1'], 0);
});

afterAll(() => {
  for (const server of servers) server.close();
  rmSync(root, { recursive: true, force: true });
});

function request(path, headers = {}, method = 'GET') {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port: servers[0].address().port, path, headers, method }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts) }));
    }).on('error', reject);
  });
}

test.each([
  ['/', 'index.html'],
  ['/?view=lab#x', 'index.html'],
  ['/assets/main-abc.js', 'assets/main-abc.js'],
  ['/a%20b.txt', 'a b.txt'],
])('the path %s names %s', (target, file) => {
  expect(resolvePath('/srv', target)).toBe(join('/srv', file));
});

test.each(['/../x', '/%2e%2e/x', '/a/..%2f..%2fx', '/..%5cx', '/a\\..\\x', '/.git/config', '/x%00', '/%zz', 'http://a/x', '*'])(
  'the path %s is refused',
  (target) => {
    expect(resolvePath('/srv', target)).toBeUndefined();
  },
);

test.each([
  ['/', 'text/html; charset=utf-8', 'no-cache'],
  ['/assets/main-abc.js', 'text/javascript; charset=utf-8', 'public, max-age=31536000, immutable'],
  ['/model.safetensors', 'application/octet-stream', 'no-cache'],
  ['/kernel.wgsl', 'text/wgsl; charset=utf-8', 'no-cache'],
  ['/python.wasm', 'application/wasm', 'no-cache'],
  ['/config.json', 'application/json', 'no-cache'],
])('%s is served as %s, cached as %s, isolated', async (path, type, caching) => {
  const { status, headers } = await request(path);
  expect(status).toBe(200);
  expect(headers).toMatchObject({
    'content-type': type,
    'cache-control': caching,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-embedder-policy': 'require-corp',
    'content-security-policy': expect.stringMatching(/^default-src 'self'; script-src 'self' 'wasm-unsafe-eval';/),
  });
});

test('large text is compressed as the client takes it', async () => {
  const path = '/assets/main-abc.js';
  const plain = await request(path);
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(plain.body.toString()).toBe(SCRIPT);
  for (const [accepted, encoding, decode] of [
    ['gzip, deflate, br', 'br', brotliDecompressSync],
    ['gzip, br;q=0', 'gzip', gunzipSync],
  ]) {
    const { headers, body } = await request(path, { 'Accept-Encoding': accepted });
    expect(headers['content-encoding']).toBe(encoding);
    expect(headers.vary).toBe('Accept-Encoding');
    expect(body.length).toBeLessThan(SCRIPT.length / 4);
    expect(decode(body).toString()).toBe(SCRIPT);
  }
});

test('a file that the client has is not sent again', async () => {
  const { headers } = await request('/');
  expect((await request('/', { 'If-None-Match': headers.etag })).status).toBe(304);
  writeFileSync(join(root, 'index.html'), '<title>Atelier, changed</title>');
  expect((await request('/', { 'If-None-Match': headers.etag })).status).toBe(200);
});

test('HEAD sends no body; other methods, missing and hidden files are refused', async () => {
  const head = await request('/assets/main-abc.js', {}, 'HEAD');
  expect([head.status, Number(head.headers['content-length']), head.body.length]).toEqual([200, SCRIPT.length, 0]);
  expect((await request('/', {}, 'DELETE')).status).toBe(405);
  expect((await request('/nothing.js')).status).toBe(404);
  expect((await request('/assets')).status).toBe(404);
  expect((await request('/.secret')).status).toBe(403);
});

test('a port that is taken is reported, not an error', async () => {
  expect(await listen(staticFiles(root), ['127.0.0.1'], servers[0].address().port)).toBeUndefined();
});
