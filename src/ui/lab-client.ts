/**
 * The page's side of the port to the lab worker. Events are handed on in bundles, at most about sixteen a second, so
 * that a fast run does not make the page draw for each of them.
 */
import { PROTOCOL_VERSION, type Command, type EngineChoice, type LabEvent } from '../lab/protocol.ts';

const BUNDLE_MILLISECONDS = 60;

/** The part of `Worker` that the client uses. */
export interface LabPort {
  postMessage(command: Command): void;
  addEventListener(type: 'message', listener: (event: MessageEvent<LabEvent>) => void): void;
  addEventListener(type: 'error' | 'messageerror', listener: (event: Event) => void): void;
  terminate(): void;
}

export interface LabClient {
  send(command: Command): void;
  close(): void;
}

export interface LabClientOptions {
  readonly spawn: () => LabPort;
  /** The absolute address of the folder that holds `models/` and `pyodide/`. */
  readonly assets: string;
  readonly engine: EngineChoice;
  readonly onEvents: (events: readonly LabEvent[]) => void;
  /** The worker could not be started, or died. */
  readonly onFailure: (message: string) => void;
}

export function spawnLab(): LabPort {
  return new Worker(new URL('../lab/worker.browser.ts', import.meta.url), { type: 'module', name: 'lab' });
}

export function connectLab({ spawn, assets, engine, onEvents, onFailure }: LabClientOptions): LabClient {
  const port = spawn();
  let waiting: LabEvent[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = (): void => {
    timer = undefined;
    const events = waiting;
    waiting = [];
    onEvents(events);
  };
  port.addEventListener('message', ({ data }) => {
    waiting.push(data);
    timer ??= setTimeout(flush, BUNDLE_MILLISECONDS);
  });
  const fail = (event: Event): void => {
    onFailure('message' in event && typeof event.message === 'string' ? event.message : '');
  };
  port.addEventListener('error', fail);
  port.addEventListener('messageerror', fail);
  port.postMessage({ type: 'hello', version: PROTOCOL_VERSION, assets, engine });
  return {
    send: (command) => {
      port.postMessage(command);
    },
    close: () => {
      clearTimeout(timer);
      port.terminate();
    },
  };
}
