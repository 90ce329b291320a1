/**
 * The first module of a Node worker thread: lets it load TypeScript, then loads the module that
 * `workerData.entry` names. (`--import tsx` does not reach worker threads.)
 */
import { workerData } from 'node:worker_threads';
import { register } from 'tsx/esm/api';

register();
await import(workerData.entry);
