/** A page with a worker that has Python in a worker of its own, as in the lab. */
import type { PythonInfo, PythonLimits, PythonResult } from '../../src/tools/python/python.ts';

export interface Harness {
  ready(): Promise<PythonInfo>;
  run(calls: readonly string[], limits: PythonLimits): Promise<{ results: readonly PythonResult[]; milliseconds: number }>;
  /** The names that a sealed worker still has, and what attempts to get out of it come to. */
  probe(): Promise<{ before: string[]; after: string[]; attempts: Record<string, string> }>;
}

const lab = new Worker(new URL('./lab.ts', import.meta.url), { type: 'module' });
const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>();
let last = 0;
lab.addEventListener('message', ({ data }: MessageEvent<{ id: number; value?: never; error?: string }>) => {
  const { id, value, error } = data;
  if (error === undefined) waiting.get(id)?.resolve(value as never);
  else waiting.get(id)?.reject(new Error(error));
});
function ask<T>(...message: unknown[]): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.set((last += 1), { resolve, reject });
    lab.postMessage([last, ...message]);
  });
}

const harness: Harness = {
  ready: () => ask('ready', new URL('./', document.baseURI).href),
  run: (calls, limits) => ask('run', calls, limits),
  probe: () =>
    new Promise((resolve) => {
      const worker = new Worker(new URL('./probe.ts', import.meta.url), { type: 'module' });
      worker.addEventListener('message', ({ data }: MessageEvent<Awaited<ReturnType<Harness['probe']>>>) => {
        worker.terminate();
        resolve(data);
      });
    }),
};
Object.assign(globalThis, { harness });
