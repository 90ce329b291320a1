/** The engine's thread as a Web Worker. */
import './runtime.ts';
import type { ToWorker } from './protocol.ts';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;

// Not a static import: a bundler may evaluate the chunk of jax-js, which looks around once, before this module.
const worker = import('./worker.ts').then(({ EngineWorker }) => new EngineWorker((message) => { scope.postMessage(message); }));

scope.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  worker.then((w) => { w.receive(data); }).catch((error: unknown) => { scope.reportError(error); });
};
