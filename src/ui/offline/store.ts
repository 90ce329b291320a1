/** What the page knows of its offline pack, and what a person can do with it. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { bytesOf } from './manifest.ts';
import { cacheName, WORKER, type Manifest } from './names.ts';
import { loadPack, PackFault, presentFiles, servedManifest, storedPack, tidyPack, verifyPack, type PackFaultCode, type PackPlace, type Progress, type StoredPack } from './pack.ts';

export interface Size {
  readonly files: number;
  readonly bytes: number;
}

export type OfflineStatus =
  | { readonly state: 'unknown' }
  /** Of the page itself, or of the browser. */
  | { readonly state: 'impossible'; readonly reason: 'insecure-context' | 'no-worker' | 'no-pack' }
  /** `here`: what an earlier download left; `whole`: undefined without a server. */
  | { readonly state: 'none'; readonly here: Size; readonly whole: Size | undefined }
  | { readonly state: 'loading' | 'verifying'; readonly done: Size; readonly whole: Size }
  /** `here` of the pack's files are in order. */
  | { readonly state: 'broken'; readonly broken: readonly string[] }
  /** `renewed`: an update has come during this visit, and this page is still of the build before. */
  | { readonly state: 'complete'; readonly whole: Size; readonly verified: number; readonly renewed: boolean };

export interface OfflineFault {
  readonly code: PackFaultCode | 'other';
  readonly file: string;
  /** The browser's own words. */
  readonly detail: string;
}

interface OfflineState {
  readonly status: OfflineStatus;
  /** What the server has and the pack in use is not: another build. */
  readonly newer: Size | undefined;
  /** The pack in use goes on working meanwhile. */
  readonly fault: OfflineFault | undefined;
}

const offlineStore = createStore<OfflineState>(() => ({ status: { state: 'unknown' }, newer: undefined, fault: undefined }));

export function useOffline<T>(selector: (state: OfflineState) => T): T {
  return useStore(offlineStore, selector);
}

const sizeOf = ({ files }: Manifest): Size => ({ files: files.length, bytes: bytesOf(files) });

let place: PackPlace | undefined;
let going: AbortController | undefined;

function faultOf(error: unknown): OfflineFault {
  const detail = error instanceof Error ? (error.cause instanceof Error ? error.cause.message : error instanceof PackFault ? '' : error.message) : String(error);
  return error instanceof PackFault ? { code: error.code, file: error.path, detail } : { code: 'other', file: '', detail };
}

function whole(pack: StoredPack, renewed: boolean): OfflineStatus {
  return { state: 'complete', whole: sizeOf(pack.manifest), verified: pack.verified, renewed };
}

async function statusOf(at: PackPlace, pack: StoredPack | undefined, served: Manifest | undefined): Promise<OfflineStatus> {
  if (pack !== undefined) {
    const present = await presentFiles(at, pack.manifest);
    if (present.length === pack.manifest.files.length) return whole(pack, false);
    return { state: 'broken', broken: pack.manifest.files.filter((file) => !present.includes(file)).map(({ path }) => path) };
  }
  const present = served === undefined ? [] : await presentFiles(at, served);
  return { state: 'none', here: { files: present.length, bytes: bytesOf(present) }, whole: served && sizeOf(served) };
}

/** Looks at what is stored, then at what the server has. */
async function look(at: PackPlace): Promise<void> {
  const pack = await storedPack(at);
  // Known without a server.
  if (pack !== undefined) offlineStore.setState({ status: await statusOf(at, pack, undefined) });
  // A question that cannot be answered would stand in the console as a fault.
  if (pack !== undefined && !navigator.onLine) return;
  const served = await servedManifest(at).catch((error: unknown) => (error instanceof PackFault ? error : Promise.reject(error as Error)));
  if (served instanceof PackFault) {
    // The network is cut, or the server has no list: with a pack that is nothing to speak of.
    if (pack === undefined) offlineStore.setState({ status: served.code === 'server' ? { state: 'impossible', reason: 'no-pack' } : await statusOf(at, undefined, undefined) });
    return;
  }
  if (pack === undefined) offlineStore.setState({ status: await statusOf(at, undefined, served) });
  else if (served.version !== pack.manifest.version) offlineStore.setState({ newer: sizeOf(served) });
  // What an update that was stopped has left is wanted still.
  await tidyPack(at, pack === undefined ? [served] : [pack.manifest, served]);
}

/** At most as often as a frame: a fast network would draw for every packet. */
function throttled(state: 'loading' | 'verifying', size: Size): (progress: Progress) => void {
  let next = 0;
  return (done) => {
    const now = performance.now();
    if (now < next && done.files < size.files) return;
    next = now + 60;
    offlineStore.setState({ status: { state, done, whole: size } });
  };
}

async function during(work: (signal: AbortSignal, at: PackPlace) => Promise<void>): Promise<void> {
  if (going !== undefined || place === undefined) return;
  going = new AbortController();
  offlineStore.setState({ fault: undefined });
  try {
    await work(going.signal, place);
  } catch (error) {
    if (!going.signal.aborted) offlineStore.setState({ fault: faultOf(error) });
    const at = place;
    // What is here now, whatever happened.
    const pack = await storedPack(at).catch(() => undefined);
    const served = pack === undefined ? await servedManifest(at).catch(() => undefined) : undefined;
    offlineStore.setState({ status: await statusOf(at, pack, served).catch((): OfflineStatus => ({ state: 'none', here: { files: 0, bytes: 0 }, whole: undefined })) });
  } finally {
    going = undefined;
  }
}

async function openPlace(base: string): Promise<PackPlace> {
  place = { base, cache: await caches.open(cacheName(base)), fetch: (address, init) => fetch(address, init) };
  return place;
}

async function startWorker(base: string): Promise<void> {
  await navigator.serviceWorker.register(base + WORKER, { scope: base, updateViaCache: 'none' }).catch((error: unknown) => {
    throw new PackFault('worker', WORKER, { cause: error });
  });
  await navigator.serviceWorker.ready;
}

export const offline = {
  /** Loads what is missing: the first time, after a stop, for a newer build, and to mend. */
  download: (): Promise<void> => during(async (signal, at) => {
    const inUse = await storedPack(at);
    const served = await servedManifest(at, signal);
    const size = sizeOf(served);
    offlineStore.setState({ status: { state: 'loading', done: { files: 0, bytes: 0 }, whole: size } });
    // Asks the browser not to throw the pack away when room gets short. Some ask the person, who need not answer.
    void navigator.storage.persist().catch(() => false);
    await startWorker(at.base);
    const pack = await loadPack(at, served, signal, throttled('loading', size));
    const renewed = inUse !== undefined && inUse.manifest.version !== served.version;
    offlineStore.setState({ status: whole(pack, renewed), newer: undefined });
  }),
  verify: (): Promise<void> => during(async (signal, at) => {
    const pack = await storedPack(at);
    if (pack === undefined) return look(at);
    const broken = await verifyPack(at, pack, signal, throttled('verifying', sizeOf(pack.manifest)));
    offlineStore.setState({
      status: broken.length === 0 ? whole({ ...pack, verified: Date.now() }, false) : { state: 'broken', broken: broken.map(({ path }) => path) },
    });
  }),
  cancel: (): void => {
    going?.abort();
  },
  remove: (): Promise<void> => during(async (_, { base }) => {
    await caches.delete(cacheName(base));
    await (await navigator.serviceWorker.getRegistration(base))?.unregister();
    offlineStore.setState({ newer: undefined });
    await look(await openPlace(base));
  }),
};

/** What keeps this page from being stored; undefined where nothing does. */
function obstacle(): Extract<OfflineStatus, { state: 'impossible' }>['reason'] | undefined {
  // Vite's own server has no built files.
  if (import.meta.env.DEV) return 'no-pack';
  if (!isSecureContext) return 'insecure-context';
  return 'serviceWorker' in navigator && 'caches' in globalThis ? undefined : 'no-worker';
}

/** Called once, by the page's entry. Reads what is stored and asks the server for its list; loads nothing. */
export async function startOffline(base: string): Promise<void> {
  let reason = obstacle();
  if (reason === undefined) {
    try {
      await look(await openPlace(base));
    } catch {
      // Private windows and blocked storage refuse caches.
      reason = 'no-worker';
    }
  }
  if (reason !== undefined) offlineStore.setState({ status: { state: 'impossible', reason } });
}
