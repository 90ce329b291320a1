/**
 * The body of Python's worker, the same in a page and in Node: loads Pyodide, closes the sandbox, runs batches.
 *
 * Calls are kept apart by putting the interpreter's memory back. Once everything is loaded, the whole WebAssembly heap
 * is copied (about 31 MB); after a call that may have touched what calls share, the copy is written back, in about 3 ms.
 * Nothing that Python code can do to its own heap survives that, and nothing of it need be listed here.
 */
import type { PyodideAPI } from 'pyodide';
import type { PyCallable } from 'pyodide/ffi';
import { confine, type FileSystem } from './filesystem.ts';
import { Board, type Command, type Report } from './protocol.ts';
import type { PythonLimits } from './python.ts';
import { RUNNER } from './runner.ts';
import { seal } from './sandbox.ts';

const HOME = '/home/pyodide';
const MEGABYTE = 1024 * 1024;
/** What importing SymPy may take on top of a call's limit. */
const SYMPY_MEGABYTES = 256;
/** What `run` in runner.ts returns. */
const FINISHED = 0;
const PREPARE = 2;

interface EmscriptenModule {
  readonly HEAPU8: Uint8Array<ArrayBuffer>;
  readonly FS: FileSystem;
}

interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly file: string;
}

/** @returns what handles the client's commands. `post` must be safe from the sealing of the global scope. */
export function serve(post: (report: Report) => void): (command: Command) => void {
  let interpreter: Interpreter | undefined;
  return (command) => {
    if (command.type === 'run') interpreter?.run(command.calls, command.limits);
    else
      load(command, post).then(
        (loaded) => {
          interpreter = loaded.interpreter;
          post({ type: 'ready', version: loaded.version, sympy: loaded.sympy });
        },
        (error: unknown) => { post({ type: 'unavailable', message: error instanceof Error ? error.message : String(error) }); },
      );
  };
}

type Load = Extract<Command, { type: 'load' }>;

async function load({ pyodide, wheels, board }: Load, post: (report: Report) => void) {
  const memory = capMemory();
  const restoreFetch = tolerateTypes();
  const { loadPyodide } = (await import(/* @vite-ignore */ `${pyodide}pyodide.mjs`)) as typeof import('pyodide');
  const python = await loadPyodide({
    indexURL: pyodide,
    jsglobals: {},
    env: { HOME, PYTHONHASHSEED: '0' },
    stdin: () => null,
    stdout: () => undefined,
    stderr: () => undefined,
  });
  const module = (python as unknown as { _module: EmscriptenModule })._module;
  const found = await fetchWheels(wheels);
  restoreFetch();
  const sites = '/lib/wheels';
  module.FS.mkdirTree(sites);
  for (const { file, bytes } of found) module.FS.writeFile(`${sites}/${file}`, bytes);
  const version = python.runPython('import sys; sys.version.split()[0]') as string;
  python.runPython(`import sys; sys.path += ${JSON.stringify(found.map(({ file }) => `${sites}/${file}`))}`);
  const interpreter = new Interpreter(python, module, memory, board === undefined ? undefined : new Board(board), post);
  seal();
  return { interpreter, version, sympy: found.find(({ name }) => name === 'sympy')?.version };
}

/** Wheels that lie beside their index; none where there is no index: a server may answer with a page of its own. */
async function fetchWheels(base: string): Promise<(Wheel & { readonly bytes: Uint8Array })[]> {
  const index = await fetch(`${base}index.json`).then(
    async (response) => (response.ok ? ((await response.json()) as readonly Wheel[]) : []),
    () => [],
  ).catch(() => []);
  return Promise.all(
    index.map(async (wheel) => {
      const response = await fetch(`${base}${wheel.file}`);
      if (!response.ok) throw new Error(`${wheel.file}: ${response.status}`);
      return { ...wheel, bytes: new Uint8Array(await response.arrayBuffer()) };
    }),
  );
}

/** Lets every memory grow only so far: beyond it Python raises MemoryError. */
function capMemory(): { bytes: number } {
  const limit = { bytes: Infinity };
  // eslint-disable-next-line @typescript-eslint/unbound-method -- called on the memory that grows
  const { grow } = WebAssembly.Memory.prototype;
  WebAssembly.Memory.prototype.grow = function (this: WebAssembly.Memory, pages: number) {
    if (this.buffer.byteLength + pages * 65536 > limit.bytes) throw new RangeError('the limit of memory is reached');
    return grow.call(this, pages);
  };
  return limit;
}

/** Pyodide compiles its WebAssembly only where the server names its type; simple servers do not. */
function tolerateTypes(): () => void {
  const { fetch } = globalThis;
  globalThis.fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (!response.ok || !response.url.endsWith('.wasm') || response.headers.get('content-type') === 'application/wasm') return response;
    return new Response(response.body, { headers: { 'content-type': 'application/wasm' } });
  };
  return () => { globalThis.fetch = fetch; };
}

class Interpreter {
  readonly #run: PyCallable;
  readonly #prepare: PyCallable;
  readonly #clean: () => void;
  readonly #decoder = new TextDecoder();
  #image: Uint8Array;
  #prepared = false;
  /** What the runner's words on its port begin with, in this batch. */
  #key = '';
  /** Results of the batch so far. */
  #finished = 0;
  #timed = false;
  /** With shared memory: results that were not reported yet. */
  #lines: string[] = [];

  constructor(
    python: PyodideAPI,
    private readonly module: EmscriptenModule,
    private readonly memory: { bytes: number },
    private readonly board: Board | undefined,
    private readonly post: (report: Report) => void,
  ) {
    const { FS } = module;
    const device = FS.makedev(64, 0);
    FS.registerDevice(device, {
      write: (_stream: unknown, buffer: Uint8Array, offset: number, length: number) => {
        const text = this.#decoder.decode(buffer.slice(offset, offset + length));
        if (text.startsWith(this.#key)) this.#hear(text.slice(this.#key.length));
        return length;
      },
    });
    FS.mkdev('/dev/atelier', 0o222, device);
    if (board !== undefined) python.setInterruptBuffer(board.signal);
    const namespace = python.toPy({}) as { get(name: string): PyCallable };
    python.runPython(RUNNER, { globals: namespace as never });
    this.#run = namespace.get('run');
    this.#prepare = namespace.get('prepare');
    namespace.get('seal')();
    // The runner has it open; others need not find it.
    FS.unlink('/dev/atelier');
    this.#clean = confine(FS, [HOME, '/tmp']);
    this.#clean();
    this.#image = module.HEAPU8.slice();
  }

  run(calls: readonly string[], limits: PythonLimits): void {
    const { seconds, outputCharacters, memoryMegabytes } = limits;
    this.#key = Array.from(crypto.getRandomValues(new Uint32Array(2)), (word) => word.toString(36)).join('');
    this.#finished = 0;
    this.#lines = [];
    this.board?.clear();
    this.memory.bytes = memoryMegabytes * MEGABYTE;
    try {
      while (this.#finished < calls.length && this.board?.cancelled !== true) {
        const rest = JSON.stringify(calls.slice(this.#finished));
        const before = this.#finished;
        this.#timed = false;
        const state: unknown = this.#run(rest, this.#key, seconds, outputCharacters, memoryMegabytes, this.#prepared);
        if (state === FINISHED) break;
        this.#restore();
        if (state === PREPARE) this.#prepareSymPy(memoryMegabytes);
        // The call rewrote the runner so that no result came: it would be run again without end.
        else if (this.#finished === before) throw new Error('no result');
      }
      this.#flush();
      this.post({ type: 'done', bytes: this.module.HEAPU8.length });
    } catch (error) {
      this.#flush();
      this.post({ type: 'crash', ...reason(error) });
    }
  }

  /** What runner.ts writes to its port: the start of a call, or a result. */
  #hear(text: string): void {
    if (text === '>') this.#time(true);
    else if (this.#timed) {
      this.#time(false);
      this.#finished += 1;
      if (this.board === undefined) this.post({ type: 'results', lines: [text] });
      else {
        this.#lines.push(text);
        // Full: what it holds is reported instead, with this line.
        if (!this.board.append(text)) this.#flush();
      }
    }
  }

  #time(on: boolean): void {
    this.#timed = on;
    if (this.board !== undefined) this.board.mark(on ? this.#finished + 1 : 0);
    else if (on) this.post({ type: 'begin' });
  }

  #flush(): void {
    if (this.#lines.length > 0) this.post({ type: 'results', lines: this.#lines });
    this.#lines = [];
    this.board?.clear();
  }

  #restore(): void {
    const heap = this.module.HEAPU8;
    heap.set(this.#image);
    heap.fill(0, this.#image.length);
    this.#clean();
  }

  #prepareSymPy(megabytes: number): void {
    this.#prepared = true;
    this.memory.bytes = (megabytes + SYMPY_MEGABYTES) * MEGABYTE;
    if (this.#prepare() === true) this.#image = this.module.HEAPU8.slice();
    else this.#restore();
    this.memory.bytes = megabytes * MEGABYTE;
  }
}

/** Why the interpreter is gone, in the words of a failed call. */
function reason(error: unknown): { errorType: string; message: string } {
  const text = error instanceof Error ? error.message : String(error);
  if (/call stack|recursion/i.test(text)) return { errorType: 'RecursionError', message: 'maximum recursion depth exceeded' };
  const exit = /exit\((-?\d+)\)/.exec(text);
  if (exit !== null) return { errorType: 'SystemExit', message: exit[1] ?? '' };
  return { errorType: 'SystemError', message: 'the call broke its interpreter' };
}
