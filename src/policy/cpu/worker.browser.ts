/** The engine's thread as a Web Worker. */
import type { ToWorker } from './protocol.ts';
import { EngineWorker } from './worker.ts';

const scope = globalThis as unknown as DedicatedWorkerGlobalScope;
const worker = new EngineWorker((message) => { scope.postMessage(message); });
scope.onmessage = ({ data }: MessageEvent<ToWorker>) => { worker.receive(data); };
