/**
 * A static file server for the built page, on Node's own `http`: the headers that make the page cross-origin
 * isolated, types, caching, compression. It reads files below one folder and does nothing else.
 */
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { extname, join, sep } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/** Headers that make the page cross-origin isolated: shared memory lets a runaway Python call be interrupted. */
export const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/**
 * What the page may load: its own files. Code from elsewhere, and requests to elsewhere (a policy writes Python, and
 * that Python can reach the worker's `fetch`), are refused by the browser. WebAssembly is compiled; nothing is evaluated.
 */
const CONTENT = [
  "default-src 'self'",
  "script-src 'self' 'wasm-unsafe-eval'",
  // Dialogs and charts add style elements.
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self' data:",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
].join('; ');

const UTF8 = '; charset=utf-8';
const TYPES = {
  '.css': `text/css${UTF8}`,
  '.html': `text/html${UTF8}`,
  '.ico': 'image/x-icon',
  '.js': `text/javascript${UTF8}`,
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.map': 'application/json',
  '.mjs': `text/javascript${UTF8}`,
  '.png': 'image/png',
  '.svg': `image/svg+xml${UTF8}`,
  '.txt': `text/plain${UTF8}`,
  '.wasm': 'application/wasm',
  '.webmanifest': 'application/manifest+json',
  '.webp': 'image/webp',
  '.wgsl': `text/wgsl${UTF8}`,
  '.whl': 'application/zip',
  '.woff2': 'font/woff2',
  '.zip': 'application/zip',
};
/** `.safetensors` and whatever else is not named above. */
const BINARY = 'application/octet-stream';

const COMPRESSIBLE = /^(text\/|application\/(javascript|json|jsonl|manifest\+json|wasm)|image\/svg)/;
/** Python's 9 MB take 0.3 s at quality 3, and 2 s at 5 for a tenth less. */
const LARGE = 2 ** 20;
const ENCODERS = {
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: bytes.length > LARGE ? 3 : 5 } }),
  gzip: (bytes) => promisify(gzip)(bytes),
};

/**
 * The file that a request path names.
 * @param {string} root absolute path of the served folder
 * @param {string} target the request's target as it came: encoded, perhaps with a query
 * @returns {string | undefined} undefined for a path that is malformed, leaves the folder or names a hidden file
 */
export function resolvePath(root, target) {
  let path;
  try {
    path = decodeURIComponent(target.split(/[?#]/, 1)[0]);
  } catch {
    return undefined;
  }
  // Whatever is not a plain downward path is refused, not tidied up.
  if (!path.startsWith('/') || /[\\\0]/.test(path)) return undefined;
  const parts = path.slice(1).split('/');
  if (parts.some((part) => part.startsWith('.'))) return undefined;
  return join(root, ...parts, path.endsWith('/') ? 'index.html' : '');
}

/**
 * @param {string} root absolute path of the folder to serve
 * @returns {import('node:http').RequestListener}
 */
export function staticFiles(root) {
  /** Compressed files by encoding, path and version; each is compressed once. */
  const compressed = new Map();

  const answer = async (request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const refuse = (status, text, extra = {}) => {
      response.writeHead(status, { ...ISOLATION, 'Content-Type': TYPES['.txt'], 'Cache-Control': 'no-store', ...extra });
      response.end(method === 'HEAD' ? undefined : `${text}\n`);
    };
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'Only GET and HEAD.', { Allow: 'GET, HEAD' });
    const path = resolvePath(root, url);
    if (path === undefined) return refuse(403, 'Not a path below this folder.');
    const file = await stat(path).catch(() => undefined);
    if (file === undefined || !file.isFile()) return refuse(404, 'No such file.');

    const type = TYPES[extname(path)] ?? BINARY;
    const version = `${file.size.toString(36)}-${Math.trunc(file.mtimeMs).toString(36)}`;
    const encoding = file.size > 1024 && COMPRESSIBLE.test(type) ? acceptedEncoding(headers['accept-encoding']) : undefined;
    const etag = `"${version}${encoding === undefined ? '' : `-${encoding}`}"`;
    const common = {
      ...ISOLATION,
      'Content-Type': type,
      'Content-Security-Policy': CONTENT,
      'X-Content-Type-Options': 'nosniff',
      // Vite puts a digest of the content into the names below assets/.
      'Cache-Control': path.startsWith(join(root, 'assets') + sep) ? 'public, max-age=31536000, immutable' : 'no-cache',
      ETag: etag,
      ...(COMPRESSIBLE.test(type) ? { Vary: 'Accept-Encoding' } : {}),
    };
    if (headers['if-none-match']?.split(/\s*,\s*/).includes(etag)) {
      response.writeHead(304, common);
      return response.end();
    }
    if (encoding === undefined) {
      response.writeHead(200, { ...common, 'Content-Length': file.size });
      if (method === 'HEAD') return response.end();
      return createReadStream(path).on('error', () => response.destroy()).pipe(response);
    }
    const key = `${encoding} ${version} ${path}`;
    let pending = compressed.get(key);
    if (pending === undefined) {
      pending = readFile(path).then(ENCODERS[encoding]);
      compressed.set(key, pending);
      pending.catch(() => compressed.delete(key));
    }
    const bytes = await pending;
    response.writeHead(200, { ...common, 'Content-Encoding': encoding, 'Content-Length': bytes.length });
    return response.end(method === 'HEAD' ? undefined : bytes);
  };

  return (request, response) => {
    answer(request, response).catch((error) => {
      console.error(error);
      if (!response.headersSent) response.writeHead(500, ISOLATION);
      response.end();
    });
  };
}

/** @returns {'br' | 'gzip' | undefined} the best encoding that the client takes */
function acceptedEncoding(header = '') {
  const accepted = header.split(',').map((part) => part.trim().toLowerCase());
  return ['br', 'gzip'].find((name) => accepted.some((part) => part.split(';')[0] === name && !/;\s*q=0(\.0*)?$/.test(part)));
}

/**
 * Listens on one port of each host: a browser may look for `localhost` at 127.0.0.1 or at ::1.
 * @param {import('node:http').RequestListener} handler
 * @param {readonly string[]} hosts the first must be had, others are left out where the machine has no such address
 * @param {number} port
 * @param {{ cert: Buffer, key: Buffer }} [tls] for https
 * @returns {Promise<import('node:http').Server[] | undefined>} undefined where the port is taken
 */
export async function listen(handler, hosts, port, tls) {
  const servers = [];
  for (const host of hosts) {
    const server = tls === undefined ? createServer(handler) : createSecureServer(tls, handler);
    try {
      server.listen(port, host);
      await once(server, 'listening');
      servers.push(server);
    } catch (error) {
      if (servers.length > 0 && (error.code === 'EADDRNOTAVAIL' || error.code === 'EAFNOSUPPORT')) continue;
      for (const other of servers) other.close();
      if (error.code === 'EADDRINUSE') return undefined;
      throw error;
    }
  }
  return servers;
}
