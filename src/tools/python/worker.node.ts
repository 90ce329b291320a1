/**
 * Python's worker in Node. Pyodide is made to take it for a worker in a page: it then never learns of `process`,
 * `require` or the real file system, and its code runs as it does in a page.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parentPort } from 'node:worker_threads';
import type { Command } from './protocol.ts';
import { serve } from './interpreter.ts';

const port = parentPort;
if (port === null) throw new Error('worker.node.ts runs in a worker thread');

const WorkerGlobalScope = function WorkerGlobalScope(): void { /* only its name and prototype are asked for */ };
const scope = globalThis as unknown as Record<string, unknown>;
Object.setPrototypeOf(globalThis, WorkerGlobalScope.prototype as object);
const page = {
  WorkerGlobalScope,
  self: globalThis,
  location: new URL('.', import.meta.url),
  navigator: { userAgent: 'Node' },
  fetch: async (address: string | URL) => {
    const url = new URL(address);
    if (url.protocol !== 'file:') throw new Error('only files are read here');
    return new Response(await readFile(fileURLToPath(url)), { headers: { 'content-type': 'application/wasm' } });
  },
};
for (const [key, value] of Object.entries(page)) Object.defineProperty(globalThis, key, { value, configurable: true, writable: true });
delete scope.process;

const handle = serve(port.postMessage.bind(port));
port.on('message', (command: Command) => { handle(command); });
