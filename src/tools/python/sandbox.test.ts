import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodePython } from './python.node.ts';
import { PERSON_LIMITS, type Python } from './python.ts';

describe('JavaScript in a sealed worker', () => {
  /** Evaluates expressions, compiled beforehand as no attacker could, in a thread whose scope was sealed. */
  async function evaluate(expressions: readonly string[], sealed: boolean): Promise<string[]> {
    const probes = expressions.map((expression) => `() => ${expression}`).join(',');
    const source = `
      import { parentPort } from 'node:worker_threads';
      import { seal } from ${JSON.stringify(new URL('./sandbox.ts', import.meta.url).href)};
      const port = parentPort;
      const probes = [${probes}];
      const text = (run) => { try { return String(run()); } catch (error) { return error.name; } };
      const post = port.postMessage.bind(port);
      ${sealed ? 'seal();' : ''}
      post(probes.map(text));`;
    const worker = new Worker(new URL('../../../scripts/worker.mjs', import.meta.url), {
      workerData: { entry: `data:text/javascript,${encodeURIComponent(source)}` },
    });
    try {
      return await new Promise<string[]>((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
      });
    } finally {
      await worker.terminate();
    }
  }

  const TEXT_AS_CODE = [
    'Function("return 1")()',
    'new Function("return 1")()',
    '(() => 1).constructor("return 1")()',
    'Object.getPrototypeOf(async () => 1).constructor("return 1")().constructor.name',
    'Object.getPrototypeOf(function* () {}).constructor("yield 1")().next().value',
    'Object.getPrototypeOf(async function* () {}).constructor("yield 1")().constructor.name',
    'Reflect.construct((() => 1).constructor, ["return 1"])()',
    'Object.constructor("return 1")()',
    '(0, eval)("1")',
  ];
  const MEANS = ['process', 'require', 'fetch', 'WebSocket', 'MessageChannel', 'BroadcastChannel', 'Buffer', 'setTimeout', 'navigator', 'structuredClone', 'Blob', 'URL', 'SharedArrayBuffer'];

  test('text is not run as code', async () => {
    // Before sealing these do run: what is refused is refused by the seal.
    expect((await evaluate(TEXT_AS_CODE, false)).filter((outcome) => /Error/.test(outcome))).toEqual([]);
    expect(await evaluate(TEXT_AS_CODE, true)).toEqual([...TEXT_AS_CODE.slice(1).map(() => 'EvalError'), 'ReferenceError']);
  });

  test('nothing that reaches outside is left', async () => {
    const kinds = await evaluate(MEANS.map((name) => `typeof globalThis.${name}`), true);
    expect(Object.fromEntries(MEANS.map((name, i) => [name, kinds[i]]))).toEqual(Object.fromEntries(MEANS.map((name) => [name, 'undefined'])));
  });

  test('what is left is the language, a clock and random bytes', async () => {
    const [now, bytes, proto] = await evaluate(
      ['typeof performance.now()', 'crypto.getRandomValues(new Uint8Array(4)).length', 'Reflect.ownKeys(Object.getPrototypeOf(crypto)).includes("subtle")'], true);
    expect([now, bytes, proto]).toEqual(['number', '4', 'false']);
  });
});

describe('Python', () => {
  let python: Python;
  beforeAll(() => { python = createNodePython(); });
  afterAll(() => { python.dispose(); });
  const outputs = async (calls: readonly string[]): Promise<string[]> => (await python.run(calls, PERSON_LIMITS)).map(({ output }) => output);

  test('has no module that leads into JavaScript or raw memory', async () => {
    const names = ['js', 'pyodide_js', 'pyodide', 'pyodide.code', 'pyodide.ffi', 'pyodide.http', '_pyodide', '_pyodide_core', 'ctypes', '_ctypes'];
    for (const how of [(name: string) => `import ${name}`, (name: string) => `import importlib; importlib.import_module("${name}")`])
      expect(await outputs(names.map(how))).toEqual(names.map((name) => `ModuleNotFoundError: No module named '${name.split('.')[0] ?? ''}'`));
    expect(await outputs(['import micropip', 'import sys; print(sys.modules["js"])', 'import sys; print([m for m in sys.modules if "yodide" in m])'])).toEqual([
      "ModuleNotFoundError: No module named 'micropip'", "KeyError: 'js'", '[]',
    ]);
  });

  test('does not list or rewrite the objects of its interpreter', async () => {
    expect(await outputs(['import gc; gc.get_objects()', 'import gc; gc.get_referrers(gc)', '(lambda: 1).__code__.replace(co_code=b"")'])).toEqual([
      'PermissionError: gc.get_objects is not allowed here', 'PermissionError: gc.get_referrers is not allowed here',
      'PermissionError: code.__new__ is not allowed here',
    ]);
  });

  test('finds no object of JavaScript by walking from its types', async () => {
    const walk = `
import sys, types
seen, todo, found = set(), [object, sys, sys.modules, sys._getframe()], []
while todo:
    x = todo.pop()
    if id(x) in seen: continue
    seen.add(id(x))
    if type(x).__name__ == 'JsProxy': found.append(str(x)); continue
    if isinstance(x, type): todo += type.__subclasses__(x)
    if isinstance(x, dict): todo += list(x.keys()) + list(x.values())
    elif isinstance(x, (list, tuple, set, frozenset)): todo += list(x)
    elif isinstance(x, types.CellType):
        try: todo.append(x.cell_contents)
        except ValueError: pass
    elif isinstance(x, (types.MethodType, types.BuiltinFunctionType)): todo.append(x.__self__)
    for name in ('__dict__', '__globals__', '__closure__', '__func__', '__wrapped__', 'f_back', 'f_globals', 'f_locals', 'fget', 'func'):
        try: y = getattr(x, name, None)
        except Exception: continue
        if y is not None: todo.append(dict(y) if isinstance(y, types.MappingProxyType) else y)
print(len(seen) > 10000, found)`;
    expect(await outputs([walk])).toEqual(['True []']);
  });

  test('has no processes, no sockets, no threads, and no files but its own', async () => {
    expect(await outputs(['import os; os.system("ls")', 'import subprocess; subprocess.run(["ls"])', 'import socket; socket.socket()', 'import os; print(sorted(os.listdir("/")))'])).toEqual([
      expect.stringMatching(/^\w*Error|no output/) as string,
      'OSError: [Errno 138] emscripten does not support processes.',
      'PermissionError: socket.__new__ is not allowed here',
      "['dev', 'home', 'lib', 'proc', 'tmp']",
    ]);
    expect(await outputs(['open("/lib/python314.zip", "wb")', 'import os; os.remove("/lib/python314.zip")', 'import os; os.chmod("/lib", 0o777); os.mkdir("/lib/x")', 'import os; os.rename("/tmp", "/home/pyodide/t")'])).toEqual(
      Array.from({ length: 4 }, () => expect.stringContaining('Read-only file system') as string));
  });
});
