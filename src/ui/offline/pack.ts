/**
 * The offline pack: every file of a build, loaded one by one into the browser's cache storage and checked against its
 * hash. The list itself is stored last: a pack without it is not used yet, and going on takes up where it stopped.
 */
import { parseManifest } from './manifest.ts';
import { keyOf, MANIFEST, PAST_THE_PACK, type Manifest, type PackFile } from './names.ts';

export interface PackPlace {
  /** The folder of the page, with a slash at its end. */
  readonly base: string;
  readonly cache: Pick<Cache, 'match' | 'put' | 'delete' | 'keys'>;
  readonly fetch: (address: string, init: RequestInit) => Promise<Response>;
}

export interface StoredPack {
  readonly manifest: Manifest;
  /** When all of it was last found right, in milliseconds since 1970. */
  readonly verified: number;
}

/** What stopped a download. */
export type PackFaultCode = 'network' | 'server' | 'mismatch' | 'storage' | 'worker';

export class PackFault extends Error {
  override readonly name = 'PackFault';
  /** @param path of the file at fault */
  constructor(readonly code: PackFaultCode, readonly path: string, options?: ErrorOptions) {
    super(`${path}: ${code}`, options);
  }
}

export interface Progress {
  readonly files: number;
  /** Those that were here before included. */
  readonly bytes: number;
}

/** Few enough for a classroom's network, enough not to wait for each answer. */
const AT_ONCE = 4;

async function hash(content: Uint8Array<ArrayBuffer>): Promise<string> {
  return Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', content)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Asks the server, not the pack. @throws PackFault, or AbortError */
async function ask({ base, fetch }: PackPlace, path: string, cache: RequestCache, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(base + path, { cache, headers: { [PAST_THE_PACK]: '1' }, ...(signal === undefined ? {} : { signal }) })
    .catch((error: unknown) => {
      throw signal?.aborted === true ? error : new PackFault('network', path, { cause: error });
    });
  if (!response.ok) throw new PackFault('server', path);
  return response;
}

/** What the server has now. @throws PackFault */
export async function servedManifest(place: PackPlace, signal?: AbortSignal): Promise<Manifest> {
  const response = await ask(place, MANIFEST, 'no-store', signal);
  try {
    return parseManifest(await response.json());
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new PackFault('server', MANIFEST, { cause: error });
  }
}

/** The pack in use; undefined where there is none, or none that is complete. */
export async function storedPack({ base, cache }: PackPlace): Promise<StoredPack | undefined> {
  const response = await cache.match(base + MANIFEST);
  if (response === undefined) return undefined;
  try {
    const json = (await response.json()) as Manifest & { readonly verified?: unknown };
    return { manifest: parseManifest(json), verified: Number(json.verified) };
  } catch {
    // Of another version of this page: as if there were none.
    return undefined;
  }
}

async function storeIndex({ base, cache }: PackPlace, { manifest, verified }: StoredPack): Promise<void> {
  await cache.put(base + MANIFEST, new Response(JSON.stringify({ ...manifest, verified })));
}

/** Which files of a list lie here, unchecked. */
export async function presentFiles({ base, cache }: PackPlace, { files }: Manifest): Promise<readonly PackFile[]> {
  const keys = new Set((await cache.keys()).map(({ url }) => url));
  return files.filter((file) => keys.has(new URL(keyOf(base, file)).href));
}

/** Reads a body to its end. @param onBytes how many more have come */
async function read(response: Response, path: string, signal: AbortSignal, onBytes: (more: number) => void): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const reader = response.body?.getReader();
  try {
    while (reader !== undefined) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      onBytes(value.length);
    }
  } catch (error) {
    throw signal.aborted ? error : new PackFault('network', path, { cause: error });
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

async function loadFile(place: PackPlace, file: PackFile, signal: AbortSignal, onBytes: (more: number) => void): Promise<void> {
  const { path, sha256 } = file;
  for (const mode of ['no-cache', 'reload'] as const) {
    let come = 0;
    const response = await ask(place, path, mode, signal);
    const content = await read(response, path, signal, (more) => {
      come += more;
      onBytes(more);
    });
    if (await hash(content) !== sha256) {
      onBytes(-come);
      // A cache on the way may hold an older file: once more, past it.
      continue;
    }
    const headers = new Headers(response.headers);
    // The content is stored unpacked.
    for (const name of ['content-encoding', 'content-length', 'vary']) headers.delete(name);
    await place.cache.put(keyOf(place.base, file), new Response(content, { headers })).catch((error: unknown) => {
      throw new PackFault('storage', path, { cause: error });
    });
    return;
  }
  throw new PackFault('mismatch', path);
}

/**
 * Loads what of `manifest` is not here yet, then takes it into use in one stroke.
 * @throws PackFault, or AbortError; what came until then stays.
 */
export async function loadPack(place: PackPlace, manifest: Manifest, signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<StoredPack> {
  const present = new Set(await presentFiles(place, manifest));
  let files = present.size;
  let bytes = [...present].reduce((sum, file) => sum + file.bytes, 0);
  onProgress({ files, bytes });
  const missing = manifest.files.filter((file) => !present.has(file)).values();
  // The first fault stops the other lanes too.
  const lanes = new AbortController();
  const either = AbortSignal.any([signal, lanes.signal]);
  let fault: unknown;
  await Promise.allSettled(Array.from({ length: AT_ONCE }, async () => {
    try {
      for (const file of missing) {
        await loadFile(place, file, either, (more) => {
          bytes += more;
          onProgress({ files, bytes });
        });
        files++;
        onProgress({ files, bytes });
        either.throwIfAborted();
      }
    } catch (error) {
      fault ??= error;
      lanes.abort();
    }
  }));
  signal.throwIfAborted();
  if (fault !== undefined) throw fault as Error;
  const pack = { manifest, verified: Date.now() };
  await storeIndex(place, pack).catch((error: unknown) => {
    throw new PackFault('storage', MANIFEST, { cause: error });
  });
  return pack;
}

/** Hashes every stored file once more. Broken ones are thrown away, so that they come from the server until they are loaded again. */
export async function verifyPack(place: PackPlace, { manifest }: StoredPack, signal: AbortSignal, onProgress: (progress: Progress) => void): Promise<readonly PackFile[]> {
  const broken: PackFile[] = [];
  let bytes = 0;
  for (const [i, file] of manifest.files.entries()) {
    signal.throwIfAborted();
    const key = keyOf(place.base, file);
    const content = await (await place.cache.match(key))?.arrayBuffer();
    if (content === undefined || await hash(new Uint8Array(content)) !== file.sha256) {
      broken.push(file);
      await place.cache.delete(key);
    }
    bytes += file.bytes;
    onProgress({ files: i + 1, bytes });
  }
  if (broken.length === 0) await storeIndex(place, { manifest, verified: Date.now() });
  return broken;
}

/** Throws away what belongs to none of these builds. */
export async function tidyPack({ base, cache }: PackPlace, builds: readonly Manifest[]): Promise<void> {
  const kept = new Set([base + MANIFEST, ...builds.flatMap(({ files }) => files.map((file) => keyOf(base, file)))].map((key) => new URL(key).href));
  for (const { url } of await cache.keys()) if (!kept.has(url)) await cache.delete(url);
}
