/** Threads of the engine in a page, or in another worker. */
import type { FromWorker, Spawn } from './protocol.ts';

export const spawnInBrowser: Spawn = () => {
  const worker = new Worker(new URL('./worker.browser.ts', import.meta.url), { type: 'module' });
  return {
    post: (message) => { worker.postMessage(message); },
    listen: (receive, fail) => {
      worker.onmessage = ({ data }: MessageEvent<FromWorker>) => { receive(data); };
      worker.onerror = (event) => { fail(new Error(event.message || 'the worker could not be started')); };
      worker.onmessageerror = () => { fail(new Error('a message from the worker could not be read')); };
    },
    terminate: () => { worker.terminate(); },
  };
};
