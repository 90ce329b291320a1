/** Python in Node: Pyodide from its package, wheels from where set-up puts them. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { createPython, type PythonOptions, type PythonWorker } from './client.ts';
import type { Command, Report } from './protocol.ts';
import type { Python } from './python.ts';

/** Must be disposed of: until then its thread keeps the process alive. */
export function createNodePython(options: Partial<Omit<PythonOptions, 'spawn'>> = {}): Python {
  const root = new URL('../../../', import.meta.url).href;
  return createPython({ spawn, pyodide: `${root}node_modules/pyodide/`, wheels: `${root}public/wheels/`, ...options });
}

function spawn(): PythonWorker {
  const worker = new Worker(fileURLToPath(new URL('../../../scripts/worker.mjs', import.meta.url)), {
    workerData: { entry: new URL('./worker.node.ts', import.meta.url).href },
  });
  return {
    post: (command: Command) => { worker.postMessage(command); },
    listen: (report, failed) => {
      worker.on('message', (message: Report) => { report(message); });
      worker.on('error', (error: unknown) => { failed(error instanceof Error ? error.message : String(error)); });
      worker.on('exit', (code) => { failed(`its thread ended with ${code}`); });
    },
    terminate: () => { void worker.terminate(); },
  };
}
