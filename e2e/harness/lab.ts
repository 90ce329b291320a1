import { createBrowserPython } from '../../src/tools/python/python.browser.ts';
import type { Python, PythonLimits } from '../../src/tools/python/python.ts';

declare const self: DedicatedWorkerGlobalScope;
type Message = [id: number, ...(['ready', assets: string] | ['run', calls: readonly string[], limits: PythonLimits])];

let python: Python | undefined;

async function answer(message: Message): Promise<unknown> {
  if (message[1] === 'ready') return (python ??= createBrowserPython(message[2])).ready();
  const start = performance.now();
  const results = await python?.run(message[2], message[3]);
  return { results, milliseconds: performance.now() - start };
}

self.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  answer(data).then(
    (value) => { self.postMessage({ id: data[0], value }); },
    (error: unknown) => { self.postMessage({ id: data[0], error: String(error) }); },
  );
});
