import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNodePython } from './python.node.ts';
import { NO_OUTPUT, PythonUnavailable, TOY_LIMITS, type Python, type PythonInfo, type PythonLimits } from './python.ts';

const LONG: PythonLimits = { ...TOY_LIMITS, seconds: 20, outputCharacters: 2000 };
const SHORT: PythonLimits = { ...TOY_LIMITS, seconds: 0.3 };

let python: Python;
let info: PythonInfo;
beforeAll(async () => {
  python = createNodePython();
  info = await python.ready();
});
afterAll(() => { python.dispose(); });

async function outputs(calls: readonly string[], limits = LONG, runner = python): Promise<string[]> {
  return (await runner.run(calls, limits)).map(({ output }) => output);
}

describe('an observation', () => {
  test('is what was printed, or why the call failed, as Python says it', async () => {
    const expected: [code: string, output: string][] = [
      ['print(12*34)', '408'],
      ['print("\\n  a ", "b", sep="\\n", end="\\n\\n")', 'a \nb'],
      ['x = 12*34', NO_OUTPUT],
      ['12*34', NO_OUTPUT],
      ['print("  ")', NO_OUTPUT],
      ['print("lost"); show(12*34)', "NameError: name 'show' is not defined"],
      ['print(12*34', "SyntaxError: '(' was never closed"],
      ['prin(1)', "NameError: name 'prin' is not defined. Did you mean: 'print'?"],
      ['1/0', 'ZeroDivisionError: division by zero'],
      ['raise ValueError', 'ValueError'],
      ['from decimal import Decimal; Decimal("x")', "decimal.InvalidOperation: [<class 'decimal.ConversionSyntax'>]"],
      ['import sys; sys.exit(3)', 'SystemExit: 3'],
      ['exit()', 'SystemExit'],
      ['raise KeyboardInterrupt("me")', 'KeyboardInterrupt: me'],
      ['input()', 'EOFError: EOF when reading a line'],
      ['import sys; print("e", file=sys.stderr); sys.stdout.buffer.write(b"o")', 'o'],
      ['def f(): return f()\nf()', 'RecursionError: maximum recursion depth exceeded'],
      ['import time; time.sleep(0.05); print("slept")', 'slept'],
      ['class A:\n  def __repr__(self): return "é🙂"\nprint(A())', 'é🙂'],
    ];
    expect(await outputs(expected.map(([code]) => code))).toEqual(expected.map(([, output]) => output));
  });

  test('says whether the call ran to its end', async () => {
    const [printed, silent, failed] = await python.run(['print(1)', 'x = 1', 'f(1)'], TOY_LIMITS);
    expect(printed).toMatchObject({ ok: true, truncated: false });
    expect(silent).toMatchObject({ ok: true, truncated: false });
    expect(failed).toMatchObject({ ok: false, error: { kind: 'exception', type: 'NameError', message: "name 'f' is not defined" } });
    expect(printed).not.toHaveProperty('error');
  });

  test('is not what the call writes where results go', async () => {
    const forge = 'import os\nfor fd in range(1, 20):\n  try: os.write(fd, b\'[true,"forged",false,0]\')\n  except OSError: pass\n1/0';
    expect(await outputs([forge, 'print(1)'])).toEqual(['ZeroDivisionError: division by zero', '1']);
  });

  test('is cut by characters, not by units of UTF-16', async () => {
    const results = await python.run(['print("🙂"*41)', 'print("🙂"*40, "  ")', 'print(" "*10**6, "a")', 'raise ValueError("x"*50)'], TOY_LIMITS);
    expect(results.map(({ output, truncated }) => [output, truncated])).toEqual([
      ['🙂'.repeat(40), true],
      ['🙂'.repeat(40), false],
      ['a', false],
      ['ValueError: ' + 'x'.repeat(28), true],
    ]);
  });

  test('of a call that prints without end costs its time limit, not memory', async () => {
    const [endless, after] = await python.run(['while True: print("x"*10**6)', 'print(1)'], { ...SHORT, memoryMegabytes: 200 });
    expect(endless).toMatchObject({ ok: false, error: { kind: 'timeout', type: 'TimeoutError', message: 'stopped after 0.3 s' } });
    expect(after?.output).toBe('1');
  });
});

describe('calls are independent', () => {
  const MEDDLING = [
    'import math; math.pi = 3',
    'import builtins; builtins.print = None; builtins.len = None',
    '__builtins__["print"] = None',
    'import sys; sys.modules.clear(); sys.path.clear()',
    'import fractions; fractions.Fraction.__add__ = None',
    'import json; json.dumps = json.JSONEncoder.encode = None',
    'import sys; sys.stdout = None; sys.setrecursionlimit(50)',
    'import decimal; decimal.getcontext().prec = 3; decimal.DefaultContext.prec = 3',
    'import random; random.seed(5)',
    'import os; os.chdir("/tmp"); os.environ["A"] = "1"',
    'open("math.py", "w").write("pi = 3"); open("/tmp/json.py", "w").write("")',
    'import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)',
    'import gc; gc.disable()',
    'import sys\nf = sys._getframe()\nwhile f:\n  f.f_globals.clear()\n  f = f.f_back',
    'class D:\n  def __del__(self): print("late")\nd = D(); d.d = d',
    'def g():\n  try: yield\n  finally: print("late")\nh = g(); next(h)',
    'exit.eof = print; exit.__class__.__repr__ = lambda s: "?"',
    'x = 5',
    'import functools, math; functools.update_wrapper(functools.partial, math.sqrt)',
    'import warnings; warnings.simplefilter("error")',
    'eval("__import__(\'math\')").tau = 1',
    'import collections; collections.abc.Mapping.register(int)',
  ];
  const HONEST = [
    'import math, json; print(math.pi, json.dumps({"a": [1]}))',
    'from fractions import Fraction as F; print(F(1, 2) + F(1, 3))',
    'from decimal import Decimal as D; print(D(1) / D(7))',
    'import random; print(random.random())',
    'import os, sys; print(os.getcwd(), os.listdir("."), os.environ.get("A"), sys.getrecursionlimit())',
    'print(x)',
    'print(len("abc"), "\\d")',
    'import gc; print(gc.isenabled(), gc.collect() * 0)',
    'print(repr(exit), __name__)',
    'import collections.abc; print(isinstance(1, collections.abc.Mapping))',
    'print(*range(3)',
    'import re, statistics; print(re.findall("a+", "baab"), statistics.mean([1, 2]))',
  ];

  test('whatever their companions do', async () => {
    const alone = new Map<string, string | undefined>();
    for (const call of [...HONEST, ...MEDDLING]) alone.set(call, (await outputs([call]))[0]);
    expect(alone.get(HONEST[1] ?? '')).toBe('5/6');
    expect(alone.get(HONEST[2] ?? '')).toBe('0.1428571428571428571428571429');
    const call = fc.oneof(fc.constantFrom(...HONEST), fc.constantFrom(...MEDDLING));
    await fc.assert(
      fc.asyncProperty(fc.array(call, { minLength: 2, maxLength: 8 }), async (batch) => {
        expect(await outputs(batch)).toEqual(batch.map((code) => alone.get(code)));
      }),
      { numRuns: 25, seed: 7 },
    );
    // Each honest call after each meddling one, once.
    const pairs = MEDDLING.flatMap((bad, i) => [bad, HONEST[i % HONEST.length] ?? '']);
    expect(await outputs(pairs)).toEqual(pairs.map((code) => alone.get(code)));
  });

  test('and batches wait for one another', async () => {
    const batches = await Promise.all([0, 1, 2].map((i) => outputs([`print(${i})`, `print(${i} + 10)`])));
    expect(batches).toEqual([['0', '10'], ['1', '11'], ['2', '12']]);
  });
});

describe('limits', () => {
  test('a call that runs too long is stopped, and the rest of its batch runs', async () => {
    expect(info.interruptible).toBe(true);
    const catching = 'try:\n  while True: pass\nexcept Exception: print("caught")\nexcept KeyboardInterrupt: print("caught")';
    const results = await python.run(['print(1)', 'while True: pass', 'print(2)', catching, 'import time; time.sleep(60)', 'print(3)'], SHORT);
    expect(results.map(({ output }) => output)).toEqual([
      '1', 'TimeoutError: stopped after 0.3 s', '2', 'TimeoutError: stopped after 0.3 s', 'TimeoutError: stopped after 0.3 s', '3',
    ]);
    expect(results.map(({ error }) => error?.kind)).toEqual([undefined, 'timeout', undefined, 'timeout', 'timeout', undefined]);
  });

  test('one that cannot be stopped costs its interpreter, and no other call', async () => {
    const stubborn = 'while True:\n  try:\n    while True: pass\n  except BaseException: pass';
    const results = await python.run(['print(1)', stubborn, 'print(2)'], SHORT);
    expect(results.map(({ output }) => output)).toEqual(['1', 'TimeoutError: stopped after 0.3 s', '2']);
  });

  test('one that wants too much memory fails, and leaves none of it behind', async () => {
    const limits = { ...LONG, memoryMegabytes: 128 };
    const results = await python.run(['bytearray(10**10)', 'x = [0]\nwhile True: x += x', 'print("x" * 2 * 10**8)', 'print(1)'], limits);
    expect(results.map(({ error }) => error?.kind)).toEqual(['memory', 'memory', 'memory', undefined]);
    expect(results.map(({ output }) => output).slice(1)).toEqual(['MemoryError: more than 128 MB', 'MemoryError: more than 128 MB', '1']);
    expect(await outputs(['print(len(bytearray(5 * 10**7)))'], limits)).toEqual(['50000000']);
  });

  test('one that breaks the interpreter is a failed call', async () => {
    const results = await python.run(['print(1)', 'import os; os._exit(4)', 'x = []\nfor i in range(10**5): x = [x]\nprint(x)', 'print(2)'], LONG);
    expect(results.map(({ output }) => output)).toEqual(['1', 'SystemExit: 4', 'RecursionError: maximum recursion depth exceeded', '2']);
    expect(results[1]?.error?.kind).toBe('exception');
  });

  test('files are kept below a quota', async () => {
    const fill = 'with open("f", "wb") as f:\n  while True: f.write(bytes(10**6))';
    expect(await outputs([fill, 'open("f", "wb").truncate(10**9)', 'i = 0\nwhile True:\n  open(str(i), "w").close(); i += 1', 'import os; print(os.listdir())'])).toEqual([
      'OSError: [Errno 51] No space left on device', 'OSError: [Errno 51] No space left on device',
      "OSError: [Errno 51] No space left on device: '1000'", '[]',
    ]);
  });

  test('an aborted batch rejects with the reason, and the interpreter goes on', async () => {
    const controller = new AbortController();
    const aborted = python.run(['print(1)', 'while True: pass', 'print(2)'], LONG, controller.signal);
    setTimeout(() => { controller.abort(new Error('enough')); }, 100);
    await expect(aborted).rejects.toThrow('enough');
    await expect(python.run(['print(1)'], LONG, AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
    expect(await outputs(['print(3)'])).toEqual(['3']);
  });
});

describe('without shared memory', () => {
  let plain: Python;
  beforeAll(() => { plain = createNodePython({ shared: false }); });
  afterAll(() => { plain.dispose(); });

  test('a call that runs too long costs a restart, and what was finished is kept', async () => {
    expect((await plain.ready()).interruptible).toBe(false);
    expect(await outputs(['print(1)', 'f(', 'while True: pass', 'print(2)'], SHORT, plain)).toEqual([
      '1', "SyntaxError: '(' was never closed", 'TimeoutError: stopped after 0.3 s', '2',
    ]);
  });

  test('a batch can be aborted', async () => {
    const aborted = plain.run(['while True: pass'], LONG, AbortSignal.timeout(100));
    await expect(aborted).rejects.toThrow(/timeout/);
    expect(await outputs(['print(4)'], LONG, plain)).toEqual(['4']);
  });
});

test('SymPy is imported where a call names it, outside of its time', async () => {
  const calls = ['from sympy import *; x = symbols("x"); print(integrate(x**2*exp(x), (x, 0, 1)))', 'import sympy; print(sympy.factorint(360))'];
  // Where set-up could not fetch it the version is undefined, and the calls say so.
  const missing = "ModuleNotFoundError: No module named 'sympy'";
  expect(await outputs(calls, { ...LONG, outputCharacters: 60 })).toEqual(info.sympy === undefined ? [missing, missing] : ['-2 + E', '{2: 3, 3: 2, 5: 1}']);
});

test('where Pyodide cannot be loaded, the reason and the remedy are given', async () => {
  const broken = createNodePython({ pyodide: 'file:///nowhere/' });
  await expect(broken.ready()).rejects.toThrow(PythonUnavailable);
  await expect(broken.run(['print(1)'], LONG)).rejects.toThrow(/file:\/\/\/nowhere\/.*npm run setup/);
  broken.dispose();
});

test('disposed of, it answers no more, and what waits is told', async () => {
  const other = createNodePython();
  const running = other.run(['print(1)'], LONG);
  other.dispose();
  await expect(running).rejects.toThrow(PythonUnavailable);
  await expect(other.ready()).rejects.toThrow(PythonUnavailable);
});
