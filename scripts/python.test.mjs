import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { setUpPython } from './python.mjs';

let root;
const path = process.env.PATH;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'atelier-python-'));
  // Neither pip nor apt-get is found.
  process.env.PATH = '';
});
afterAll(() => {
  process.env.PATH = path;
  rmSync(root, { recursive: true, force: true });
});

async function setUp() {
  const lines = [];
  const { sympy } = await setUpPython({ root, log: (line) => lines.push(line) });
  return { sympy, lines };
}

test('without pip and apt-get Pyodide is set up, SymPy is not, and both is said', async () => {
  const { sympy, lines } = await setUp();
  expect(sympy).toBeUndefined();
  expect(lines.at(-1)).toMatch(/^SymPy is missing: calls that import sympy will fail/);
  for (const file of ['pyodide.mjs', 'pyodide.asm.mjs', 'pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json'])
    expect(readFileSync(join(root, 'public', 'pyodide', file)).equals(readFileSync(new URL(`../node_modules/pyodide/${file}`, import.meta.url)))).toBe(true);
});

test('the failure is remembered, and the files are not copied again', async () => {
  const file = join(root, 'public', 'pyodide', 'pyodide.asm.wasm');
  const { mtimeMs } = statSync(file);
  const { lines } = await setUp();
  expect(lines).toEqual([expect.stringContaining('Delete public/wheels to try again')]);
  expect(statSync(file).mtimeMs).toBe(mtimeMs);
});

test('wheels that are there are used, unless another Pyodide compiled them', async () => {
  const wheels = join(root, 'public', 'wheels');
  const { version: pyodide } = JSON.parse(readFileSync(new URL('../node_modules/pyodide/package.json', import.meta.url), 'utf8'));
  const index = (by) => {
    const found = ['sympy', 'mpmath'].map((name) => ({ name, version: '9.9', file: `${name}.whl`, pyodide: by }));
    for (const { file } of found) writeFileSync(join(wheels, file), '');
    writeFileSync(join(wheels, 'index.json'), JSON.stringify(found));
  };
  index(pyodide);
  expect(await setUp()).toEqual({ sympy: '9.9', lines: [] });
  index('0.0.0');
  expect((await setUp()).sympy).toBeUndefined();
  expect(existsSync(join(wheels, 'sympy.whl.part'))).toBe(false);
});
