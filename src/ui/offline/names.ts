/** What the page, its service worker and the build must call the same. */

export interface PackFile {
  /** Relative to the folder of the page, without a leading slash. */
  readonly path: string;
  readonly bytes: number;
  /** Of the content, in hexadecimal. */
  readonly sha256: string;
}

/** Every file of a build. */
export interface Manifest {
  /** SHA-256 of the list: two builds of equal files have the same. */
  readonly version: string;
  readonly files: readonly PackFile[];
}

/** The manifest, beside `index.html`. The worker never answers it from the pack: it tells whether a newer build is served. */
export const MANIFEST = 'offline.json';
export const WORKER = 'offline-worker.js';

/** Header that marks a request of the loader, which must reach the server though an older pack is in use. */
export const PAST_THE_PACK = 'x-past-the-pack';

/** The cache of the page in this folder; another folder of the same server has its own. @param base with a slash at its end. */
export const cacheName = (base: string): string => `atelier-offline-1 ${base}`;

/** Where a file lies in the cache: changed content has another address, so an old pack stays whole while a new one comes. */
export const keyOf = (base: string, { path, sha256 }: PackFile): string => `${base}${path}?${sha256}`;
