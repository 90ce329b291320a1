/** Threads of the engine in Node. */
import { Worker } from 'node:worker_threads';
import type { FromWorker, Spawn } from './protocol.ts';

const BOOTSTRAP = new URL('../../../scripts/worker.mjs', import.meta.url);

export const spawnInNode: Spawn = () => {
  const worker = new Worker(BOOTSTRAP, { workerData: { entry: new URL('./worker.node.ts', import.meta.url).href } });
  return {
    post: (message) => { worker.postMessage(message); },
    listen: (receive, fail) => {
      worker.on('message', (message: FromWorker) => { receive(message); });
      worker.on('error', fail);
      worker.on('exit', (code) => { fail(new Error(`the thread ended with code ${code}`)); });
    },
    terminate: () => { void worker.terminate(); },
  };
};
