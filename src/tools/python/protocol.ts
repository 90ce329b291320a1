/**
 * What passes between the client of Python and its worker: messages, and one block of shared memory where the page
 * may have one. A result travels as a line of JSON, written by the interpreter itself, so that a call that is
 * stopped hard loses nothing that was finished before it.
 */
import type { PythonErrorKind, PythonLimits, PythonResult } from './python.ts';

export type Command =
  /** Addresses of two folders, each ending in a slash: Pyodide's files, and wheels beside their `index.json`. */
  | { readonly type: 'load'; readonly pyodide: string; readonly wheels: string; readonly board: SharedArrayBuffer | undefined }
  | { readonly type: 'run'; readonly calls: readonly string[]; readonly limits: PythonLimits };

export type Report =
  | { readonly type: 'ready'; readonly version: string; readonly sympy: string | undefined }
  | { readonly type: 'unavailable'; readonly message: string }
  /** The clock of the next call starts. Only without shared memory. */
  | { readonly type: 'begin' }
  /** Results of calls, in order, that were not reported before. */
  | { readonly type: 'results'; readonly lines: readonly string[] }
  /** The batch has ended. `bytes`: the size of the interpreter's heap. */
  | { readonly type: 'done'; readonly bytes: number }
  /** The call that was running took the interpreter with it. */
  | { readonly type: 'crash'; readonly errorType: string; readonly message: string };

const SIGNAL = 0;
const RUNNING = 1;
const CANCELLED = 2;
const LENGTH = 3;
const HEADER = 16;
const SIGINT = 2;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Shared memory: a signal to the interpreter, the call it is at, and the results of the calls before it. */
export class Board {
  /** What Pyodide reads a signal from. */
  readonly signal: Int32Array;
  readonly #header: Int32Array;
  readonly #text: Uint8Array;

  constructor(readonly memory: SharedArrayBuffer = new SharedArrayBuffer(1 << 18)) {
    this.#header = new Int32Array(memory, 0, HEADER / 4);
    this.signal = this.#header.subarray(SIGNAL, SIGNAL + 1);
    this.#text = new Uint8Array(memory, HEADER);
  }

  // The worker's side.

  /** @param running the number of the call in its batch, from 1; 0 while none is timed. */
  mark(running: number): void {
    // A signal was meant for the call before, and must not hit this one.
    if (running > 0) Atomics.store(this.#header, SIGNAL, 0);
    Atomics.store(this.#header, RUNNING, running);
  }

  get cancelled(): boolean {
    return Atomics.load(this.#header, CANCELLED) === 1;
  }

  /** @returns false where the line does not fit: what is there must then be reported, and `clear`ed. */
  append(line: string): boolean {
    const bytes = encoder.encode(line + '\n');
    const length = Atomics.load(this.#header, LENGTH);
    if (length + bytes.length > this.#text.length) return false;
    this.#text.set(bytes, length);
    Atomics.store(this.#header, LENGTH, length + bytes.length);
    return true;
  }

  clear(): void {
    Atomics.store(this.#header, LENGTH, 0);
  }

  // The client's side.

  reset(): void {
    this.#header.fill(0);
  }

  get running(): number {
    return Atomics.load(this.#header, RUNNING);
  }

  interrupt(running: number): void {
    Atomics.store(this.#header, SIGNAL, SIGINT);
    if (this.running !== running) Atomics.compareExchange(this.#header, SIGNAL, SIGINT, 0);
  }

  cancel(): void {
    Atomics.store(this.#header, CANCELLED, 1);
  }

  lines(): string[] {
    // Text decoders refuse shared memory: a copy is decoded.
    return decoder.decode(this.#text.slice(0, Atomics.load(this.#header, LENGTH))).split('\n').slice(0, -1);
  }
}

const KINDS: readonly unknown[] = ['exception', 'timeout', 'memory', 'runtime'] satisfies PythonErrorKind[];

/** Reads a result. The line comes from where untrusted code ran: what is not a result becomes a failure. */
export function parseResult(line: string): PythonResult {
  try {
    const [ok, output, truncated, seconds, kind, type, message] = JSON.parse(line) as unknown[];
    if (typeof ok === 'boolean' && typeof output === 'string' && typeof truncated === 'boolean' && typeof seconds === 'number') {
      if (ok) return { ok, output, truncated, seconds };
      if (KINDS.includes(kind) && typeof type === 'string' && typeof message === 'string')
        return { ok, output, truncated, seconds, error: { kind: kind as PythonErrorKind, type, message } };
    }
  } catch {
    // Not JSON: the same failure.
  }
  return failure('exception', 'SystemError', 'the call broke its own result', Infinity, 0);
}

/** A failed call's result: "type: message", cut to the limit of characters. */
export function failure(kind: PythonErrorKind, type: string, message: string, characters: number, seconds: number): PythonResult {
  const text = Array.from(`${type}: ${message}`);
  return {
    ok: false,
    output: text.slice(0, characters).join(''),
    truncated: text.length > characters,
    seconds,
    error: { kind, type, message },
  };
}

/** The failure of a call that ran longer than it may. */
export function timeout(limits: PythonLimits, seconds: number): PythonResult {
  return failure('timeout', 'TimeoutError', `stopped after ${limits.seconds} s`, limits.outputCharacters, seconds);
}
