import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { manifestOf } from './build.node.ts';
import { parseManifest } from './manifest.ts';
import { MANIFEST, PAST_THE_PACK, WORKER, type Manifest } from './names.ts';
import { loadPack, servedManifest, storedPack, tidyPack, verifyPack, type PackPlace } from './pack.ts';

const BASE = 'https://lab.test/here/';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const manifest = (content: Readonly<Record<string, string>>): Manifest => {
  const files = Object.entries(content).map(([path, text]) => ({ path, bytes: text.length, sha256: sha256(text) }));
  return { version: sha256(JSON.stringify(files)), files };
};

/** A cache in memory, and a server of texts. What is asked for is noted. */
function world(content: Record<string, string>) {
  const kept = new Map<string, Response>();
  const asked: string[] = [];
  const cache: PackPlace['cache'] = {
    match: (key) => Promise.resolve(kept.get(key as string)?.clone()),
    put: (key, response) => {
      if (kept.size >= room.files) return Promise.reject(new DOMException('full', 'QuotaExceededError'));
      kept.set(key as string, response);
      return Promise.resolve();
    },
    delete: (key) => Promise.resolve(kept.delete(key as string)),
    keys: () => Promise.resolve([...kept.keys()].map((url) => new Request(url))),
  };
  const room = { files: Infinity };
  const place: PackPlace = {
    base: BASE, cache,
    fetch: (address, init) => {
      const path = address.slice(BASE.length);
      expect(new Headers(init.headers).has(PAST_THE_PACK)).toBe(true);
      asked.push(path);
      if (path === MANIFEST) return Promise.resolve(Response.json(manifest(content)));
      const text = content[path];
      if (text === 'cut') return Promise.reject(new TypeError('Failed to fetch'));
      return Promise.resolve(text === undefined ? new Response('', { status: 404 }) : new Response(text, { headers: { 'content-type': 'text/x', 'cross-origin-embedder-policy': 'require-corp', 'content-encoding': 'br' } }));
    },
  };
  return { kept, asked, place, room, content };
}

const FILES = { 'index.html': '<title>', 'assets/a-1.js': 'a', 'models/m/model.safetensors': 'weights', 'wheels/x.whl': 'wheel', 'b.css': 'b' };
const never = new AbortController().signal;
const ignore = (): void => undefined;

describe('the offline pack', () => {
  it('is complete only when every file has come and is right', async () => {
    const { place, kept } = world(FILES);
    expect(await storedPack(place)).toBeUndefined();
    const progress: number[] = [];
    await loadPack(place, await servedManifest(place), never, ({ bytes }) => progress.push(bytes));
    expect((await storedPack(place))?.manifest).toEqual(manifest(FILES));
    expect(progress.at(-1)).toBe(Object.values(FILES).join('').length);
    const stored = kept.get(`${BASE}index.html?${sha256('<title>')}`);
    expect([stored?.headers.get('cross-origin-embedder-policy'), stored?.headers.get('content-encoding')]).toEqual(['require-corp', null]);
  });

  it('goes on where the network was lost', async () => {
    const { place, asked, content } = world({ ...FILES, 'b.css': 'cut' });
    const whole = manifest(FILES);
    await expect(loadPack(place, whole, never, ignore)).rejects.toMatchObject({ code: 'network', path: 'b.css' });
    expect(await storedPack(place)).toBeUndefined();
    content['b.css'] = 'b';
    asked.length = 0;
    await loadPack(place, whole, never, ignore);
    expect(asked).toEqual(['b.css']);
    expect(await storedPack(place)).toBeDefined();
  });

  it('stops where it is told to, and keeps what came', async () => {
    const { place, kept } = world(FILES);
    const stop = new AbortController();
    await expect(loadPack(place, manifest(FILES), stop.signal, ({ files }) => {
      if (files === 2) stop.abort();
    })).rejects.toThrow('aborted');
    expect(kept.size).toBeGreaterThanOrEqual(2);
    expect(await storedPack(place)).toBeUndefined();
  });

  it.each([
    ['mismatch', { ...FILES, 'b.css': 'another' }, Infinity, 'b.css'],
    ['server', Object.fromEntries(Object.entries(FILES).filter(([path]) => path !== 'b.css')), Infinity, 'b.css'],
    ['storage', FILES, 0, 'index.html'],
  ] as const)('says what stopped it: %s', async (code, served, files, path) => {
    const { place, room } = world(served);
    room.files = files;
    await expect(loadPack(place, manifest(FILES), never, ignore)).rejects.toMatchObject({ code, path });
  });

  it('finds a broken file and loads that one again', async () => {
    const { place, kept, asked } = world(FILES);
    const pack = await loadPack(place, manifest(FILES), never, ignore);
    expect(await verifyPack(place, pack, never, ignore)).toEqual([]);
    kept.set(`${BASE}b.css?${sha256('b')}`, new Response('c'));
    const broken = await verifyPack(place, pack, never, ignore);
    expect(broken.map(({ path }) => path)).toEqual(['b.css']);
    asked.length = 0;
    await loadPack(place, pack.manifest, never, ignore);
    expect(asked).toEqual(['b.css']);
    expect(await verifyPack(place, pack, never, ignore)).toEqual([]);
  });

  it('takes a newer build into use as a whole, loads only what changed, and tidies up afterwards', async () => {
    const { place, kept, asked, content } = world(FILES);
    const old = await loadPack(place, manifest(FILES), never, ignore);
    delete content['assets/a-1.js'];
    Object.assign(content, { 'index.html': '<title>2', 'assets/a-2.js': 'cut' });
    const next = manifest({ ...content, 'assets/a-2.js': 'a2' });
    asked.length = 0;
    await expect(loadPack(place, next, never, ignore)).rejects.toMatchObject({ code: 'network' });
    expect(await storedPack(place)).toEqual(old);
    expect(await verifyPack(place, old, never, ignore)).toEqual([]);
    content['assets/a-2.js'] = 'a2';
    const pack = await loadPack(place, next, never, ignore);
    expect(new Set(asked)).toEqual(new Set(['index.html', 'assets/a-2.js']));
    await tidyPack(place, [pack.manifest]);
    expect(kept.size).toBe(next.files.length + 1);
    expect(kept.has(`${BASE}assets/a-1.js?${sha256('a')}`)).toBe(false);
  });
});

describe('the list of files', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'atelier-pack-'));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it('holds every file of a build but maps, hidden files, itself and the worker', () => {
    mkdirSync(join(folder, 'assets'));
    for (const name of ['index.html', 'assets/a.js', 'assets/a.js.map', '.sources', MANIFEST, WORKER]) writeFileSync(join(folder, name), name);
    const made = manifestOf(folder);
    expect(made.files).toEqual([
      { path: 'assets/a.js', bytes: 11, sha256: sha256('assets/a.js') },
      { path: 'index.html', bytes: 10, sha256: sha256('index.html') },
    ]);
    expect(parseManifest(JSON.parse(JSON.stringify(made)))).toEqual(made);
  });

  it.each(['../x', '/x', 'a/../../x', 'a?b', '.secret', 'a\\b', 'https://a#'])('is refused with the path %s', (path) => {
    expect(() => parseManifest({ version: sha256(''), files: [{ path, bytes: 1, sha256: sha256('') }] })).toThrow();
  });
});
