/** Python in a page, or in a worker of a page. */
import { createPython, type PythonWorker } from './client.ts';
import type { Command, Report } from './protocol.ts';
import type { Python } from './python.ts';

/** @param assets the absolute address of the lab's own files, ending in a slash: `pyodide/` and `wheels/` lie there. */
export function createBrowserPython(assets: string): Python {
  return createPython({ spawn, pyodide: `${assets}pyodide/`, wheels: `${assets}wheels/` });
}

function spawn(): PythonWorker {
  const worker = new Worker(new URL('./worker.browser.ts', import.meta.url), { type: 'module', name: 'python' });
  return {
    post: (command: Command) => { worker.postMessage(command); },
    listen: (report, failed) => {
      worker.addEventListener('message', (event: MessageEvent<Report>) => { report(event.data); });
      worker.addEventListener('error', (event) => { failed(event.message || 'its worker could not be started'); });
    },
    terminate: () => { worker.terminate(); },
  };
}
