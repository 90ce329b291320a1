/**
 * The service worker. Once a pack is complete, it is the page: every file comes from it, and all of one build. Until then,
 * and for what the pack does not hold, requests go to the server as if there were no worker. It stores nothing by itself.
 */
import { cacheName, keyOf, MANIFEST, PAST_THE_PACK, WORKER, type Manifest } from './names.ts';

declare const self: ServiceWorkerGlobalScope;

const base = new URL('./', self.location.href).href;

async function answer(request: Request, path: string): Promise<Response> {
  const cache = await caches.open(cacheName(base));
  const index = await cache.match(base + MANIFEST);
  if (index === undefined) return fetch(request);
  const file = ((await index.json()) as Manifest).files.find((each) => each.path === path);
  // A page of the build before may still be open just after an update: its files lie here until the next start.
  const stored = file === undefined ? await cache.match(base + path, { ignoreSearch: true }) : await cache.match(keyOf(base, file));
  // Without a server, what is not in the pack does not exist.
  return stored ?? fetch(request).catch(() => new Response('', { status: 404, statusText: 'Not in the pack' }));
}

self.addEventListener('install', () => {
  void self.skipWaiting();
});
self.addEventListener('activate', (event) => {
  event.waitUntil(self.clients.claim());
});
self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(base) || request.headers.has(PAST_THE_PACK)) return;
  const path = decodeURIComponent(request.url.slice(base.length).split(/[?#]/, 1)[0] ?? '');
  if (path === MANIFEST || path === WORKER) return;
  event.respondWith(answer(request, path === '' ? 'index.html' : path));
});
