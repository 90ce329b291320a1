/**
 * Python as the rest of the lab sees it: sends batches to a worker, watches the time of each call, and replaces the
 * worker when a call cannot be stopped, or took the interpreter with it, or left its heap large.
 */
import { Board, failure, parseResult, timeout, type Command, type Report } from './protocol.ts';
import { PythonUnavailable, type Python, type PythonInfo, type PythonLimits, type PythonResult } from './python.ts';

/** A worker, in a page or in Node. */
export interface PythonWorker {
  post(command: Command): void;
  /** `failed`: the worker could not be started or died, with the reason. */
  listen(report: (report: Report) => void, failed: (reason: string) => void): void;
  terminate(): void;
}

export interface PythonOptions {
  spawn(): PythonWorker;
  /** Addresses of the folders of Pyodide's files and of the wheels, absolute, ending in a slash. */
  readonly pyodide: string;
  readonly wheels: string;
  /** Whether memory may be shared with the worker; by default, whether this context can. */
  readonly shared?: boolean;
}

/** How often a running call is looked at. */
const WATCH_MS = 20;
/** A look that comes later than this says nothing about the call. */
const STALL_MS = 200;
/** How long a call may go on after it was told to stop. */
const GRACE_MS = 500;
/** How long loading, or importing SymPy, may take. */
const START_MS = 120_000;
/** The share of the memory limit at which a heap, which never shrinks, is given back. */
const HEAP_SHARE = 0.75;

export function createPython(options: PythonOptions): Python {
  return new Client(options);
}

const canShare = (): boolean =>
  typeof SharedArrayBuffer === 'function' && (globalThis as { crossOriginIsolated?: boolean }).crossOriginIsolated !== false;

class Client implements Python {
  readonly #shared: boolean;
  #session: Session | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #disposed = false;

  constructor(private readonly options: PythonOptions) {
    this.#shared = options.shared ?? canShare();
  }

  async ready(): Promise<PythonInfo> {
    return (await this.#open()).info;
  }

  run(calls: readonly string[], limits: PythonLimits, signal?: AbortSignal): Promise<readonly PythonResult[]> {
    return new Promise((resolve, reject) => {
      const abort = (): void => { reject(signal?.reason as Error); };
      if (signal?.aborted === true) {
        abort();
        return;
      }
      signal?.addEventListener('abort', abort, { once: true });
      // Batches wait for one another, and for the end of one that was aborted.
      this.#last = this.#last
        .then(() => this.#batch(calls, limits, signal))
        .then(resolve, reject)
        .finally(() => { signal?.removeEventListener('abort', abort); });
    });
  }

  dispose(): void {
    this.#disposed = true;
    this.#drop();
  }

  async #batch(calls: readonly string[], limits: PythonLimits, signal: AbortSignal | undefined): Promise<readonly PythonResult[]> {
    const results: PythonResult[] = [];
    let dropped = false;
    while (results.length < calls.length) {
      let session: Session;
      try {
        session = await this.#open();
      } catch (error) {
        // After some results the batch is the policy's work: it is kept, and the rest says whose fault it is.
        if (results.length === 0 || !(error instanceof PythonUnavailable) || this.#disposed) throw error;
        const lost = failure('runtime', error.name, error.message, limits.outputCharacters, 0);
        return [...results, ...calls.slice(results.length).map(() => lost)];
      }
      if (signal?.aborted === true) break;
      const end = await session.run(calls.slice(results.length), limits, signal);
      results.push(...end.results);
      dropped = !end.alive;
      if (dropped) this.#drop(session);
    }
    // The next batch should not wait for the start of a new interpreter longer than it must.
    if (dropped && !this.#disposed) this.#open().catch(() => undefined);
    return results;
  }

  async #open(): Promise<Session> {
    if (this.#disposed) throw new PythonUnavailable('Python was disposed of.');
    let session = this.#session;
    try {
      session ??= this.#session = new Session(this.options, this.#shared);
      await session.started;
      return session;
    } catch (error) {
      if (session !== undefined) this.#drop(session);
      if (error instanceof PythonUnavailable) throw error;
      throw new PythonUnavailable(`Python's worker could not be started: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  #drop(session = this.#session): void {
    session?.end('Python was disposed of.');
    if (this.#session === session) this.#session = undefined;
  }
}

interface BatchEnd {
  readonly results: readonly PythonResult[];
  /** False where the worker must be replaced. */
  readonly alive: boolean;
}

interface Batch {
  readonly limits: PythonLimits;
  readonly lines: string[];
  readonly settle: (end: BatchEnd) => void;
}

/** One worker, from its start to its end. */
class Session {
  readonly started: Promise<void>;
  #info: PythonInfo | undefined;
  readonly #worker: PythonWorker;
  readonly #board: Board | undefined;
  #batch: Batch | undefined;
  /** Without shared memory: whether a call is being timed. */
  #begun = false;
  #fail: (error: PythonUnavailable) => void = () => undefined;

  constructor(options: PythonOptions, shared: boolean) {
    this.#board = shared ? new Board() : undefined;
    this.#worker = options.spawn();
    this.started = new Promise((resolve, reject) => {
      const timer = setTimeout(() => { this.end(`Python did not start within ${START_MS / 1000} s.`); }, START_MS);
      this.#fail = (error) => {
        clearTimeout(timer);
        reject(error);
      };
      const advice = `Python could not be loaded from ${options.pyodide}. Run "npm run setup", which puts its files there, and start again.`;
      this.#worker.listen(
        (report) => {
          if (report.type === 'ready') {
            clearTimeout(timer);
            this.#info = { version: report.version, sympy: report.sympy, interruptible: shared };
            resolve();
          } else if (report.type === 'unavailable') this.end(`${advice} (${report.message})`);
          else this.#hear(report);
        },
        (reason) => { this.end(this.#info === undefined ? `${advice} (${reason})` : `Python's worker ended: ${reason}.`); },
      );
    });
    this.started.catch(() => undefined);
    this.#worker.post({ type: 'load', pyodide: options.pyodide, wheels: options.wheels, board: this.#board?.memory });
  }

  get info(): PythonInfo {
    if (this.#info === undefined) throw new PythonUnavailable('Python has not started.');
    return this.#info;
  }

  /** Resolves when the worker is idle again, or has to be replaced. */
  run(calls: readonly string[], limits: PythonLimits, signal: AbortSignal | undefined): Promise<BatchEnd> {
    return new Promise((resolve) => {
      const board = this.#board;
      board?.reset();
      this.#begun = false;
      let seen = -1;
      let since = performance.now();
      let last = since;
      const watch = setInterval(() => {
        const now = performance.now();
        // This side was busy itself, and may not have read yet that the call has ended.
        if (now - last > STALL_MS) since += now - last;
        last = now;
        const running = this.#running();
        if (running !== seen) {
          seen = running;
          since = now;
        }
        const limit = signal?.aborted === true ? 0 : running === 0 ? START_MS : limits.seconds * 1000;
        const late = now - since - limit;
        if (late <= 0) return;
        if (board === undefined || late > GRACE_MS) this.#kill((now - since) / 1000);
        else if (running > 0) board.interrupt(running);
      }, WATCH_MS);
      const abort = (): void => {
        since = performance.now();
        board?.cancel();
      };
      signal?.addEventListener('abort', abort, { once: true });
      this.#batch = {
        limits,
        lines: [],
        settle: (end) => {
          clearInterval(watch);
          signal?.removeEventListener('abort', abort);
          this.#batch = undefined;
          resolve(end);
        },
      };
      this.#worker.post({ type: 'run', calls, limits });
    });
  }

  /** Terminates the worker. What waits for it is told why. */
  end(reason: string): void {
    this.#worker.terminate();
    this.#fail(new PythonUnavailable(reason));
    if (this.#batch === undefined) return;
    const { limits } = this.#batch;
    this.#finish(failure('runtime', 'PythonUnavailable', reason, limits.outputCharacters, 0));
  }

  #hear(report: Report): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    if (report.type === 'begin') this.#begun = true;
    else if (report.type === 'results') {
      batch.lines.push(...report.lines);
      this.#begun = false;
    } else if (report.type === 'done')
      batch.settle({
        results: batch.lines.map(parseResult),
        alive: report.bytes < HEAP_SHARE * batch.limits.memoryMegabytes * 1024 * 1024,
      });
    else if (report.type === 'crash') {
      const kind = this.#running() > 0 ? 'exception' : 'runtime';
      this.#finish(failure(kind, report.errorType, report.message, batch.limits.outputCharacters, 0));
    }
  }

  /** The number of the call that is timed now, from 1, or 0. */
  #running(): number {
    if (this.#board !== undefined) return this.#board.running;
    return this.#begun ? (this.#batch?.lines.length ?? 0) + 1 : 0;
  }

  /** Stops what nothing else stops. */
  #kill(seconds: number): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    this.#worker.terminate();
    const characters = batch.limits.outputCharacters;
    if (this.#running() > 0) this.#finish(timeout(batch.limits, seconds));
    else this.#finish(failure('runtime', 'PythonUnavailable', 'the interpreter does not answer', characters, seconds));
  }

  /** Ends the batch with what is known of it, and the result of the call that was running. */
  #finish(last: PythonResult): void {
    const batch = this.#batch;
    if (batch === undefined) return;
    const results = [...batch.lines, ...(this.#board?.lines() ?? [])].map(parseResult);
    // Between two calls none is to blame, unless nothing at all was achieved: a batch must not be tried for ever.
    if (this.#running() > 0 || results.length === 0) results.push(last);
    batch.settle({ results, alive: false });
  }
}
