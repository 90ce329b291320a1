/** The engine's thread in Node. */
import { parentPort } from 'node:worker_threads';
import type { ToWorker } from './protocol.ts';
import { EngineWorker } from './worker.ts';

const worker = new EngineWorker((message) => { parentPort?.postMessage(message); });
parentPort?.on('message', (message: ToWorker) => { worker.receive(message); });
