/**
 * Puts Python's files where the lab serves them: Pyodide from its npm package, and the wheels of SymPy and of mpmath,
 * which SymPy needs, from pip or from Debian's packages. Without SymPy everything works but what imports it.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { zipSync } from 'fflate';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PYODIDE = ['pyodide.mjs', 'pyodide.asm.mjs', 'pyodide.asm.wasm', 'python_stdlib.zip', 'pyodide-lock.json'];
/** Pure Python, so that any version of Python and any machine's wheel will do. */
const WHEELS = [
  { name: 'sympy', version: '1.14.0', debian: 'python3-sympy' },
  { name: 'mpmath', version: '1.3.0', debian: 'python3-mpmath' },
];

/** How long a failure to fetch the wheels is remembered: a start without a network should not wait for one. */
const RETRY_MS = 24 * 3600 * 1000;

/**
 * Quick where everything is there.
 * @param {{ log?: (line: string) => void, root?: string, commands?: string[][] }} [options] commands: how pip may be called.
 * @returns {Promise<{ sympy: string | undefined }>} the version of SymPy, or undefined where it could not be had.
 */
export async function setUpPython({ log = console.log, root = ROOT, commands = [['python3', '-m', 'pip'], ['pip'], ['pip3']] } = {}) {
  const from = join(ROOT, 'node_modules', 'pyodide');
  const to = join(root, 'public', 'pyodide');
  mkdirSync(to, { recursive: true });
  for (const file of PYODIDE) if (!same(join(from, file), join(to, file))) copyFileSync(join(from, file), join(to, file));

  const wheels = join(root, 'public', 'wheels');
  mkdirSync(wheels, { recursive: true });
  const index = join(wheels, 'index.json');
  const present = readIndex(index);
  const sympy = present.find(({ name }) => name === 'sympy')?.version;
  const { version: pyodide } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  const usable = (wheel) => wheel.pyodide === pyodide && existsSync(join(wheels, wheel.file));
  if (WHEELS.every(({ name }) => present.some((wheel) => wheel.name === name && usable(wheel)))) return { sympy };
  const missing = 'SymPy is missing: calls that import sympy will fail; nothing else needs it.';
  if (present.length === 0 && existsSync(index) && Date.now() - statSync(index).mtimeMs < RETRY_MS) {
    log(`${missing} Delete public/wheels to try again to fetch it.`);
    return { sympy: undefined };
  }

  const folder = mkdtempSync(join(tmpdir(), 'atelier-wheels-'));
  let found;
  try {
    found = fromPip(folder, commands, log) ?? fromDebian(folder, log) ?? [];
    if (found.length > 0) {
      log('compiling them');
      await compile(found.map(({ file }) => file), folder, wheels);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  writeFileSync(index, JSON.stringify(found.map((wheel) => ({ ...wheel, pyodide })), undefined, 1) + '\n');
  if (found.length === 0) log(`${missing} Neither pip nor apt-get could fetch it; run the set-up again where a Python package index can be reached.`);
  else log(`SymPy ${found[0].version} is ready`);
  return { sympy: found[0]?.version };
}

/** The same size, and not older. */
function same(from, to) {
  if (!existsSync(to)) return false;
  const [a, b] = [statSync(from), statSync(to)];
  return a.size === b.size && b.mtimeMs >= a.mtimeMs;
}

function readIndex(file) {
  try {
    const index = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(index) ? index : [];
  } catch {
    return [];
  }
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'ignore', timeout: 180_000, ...options });
  return error === undefined && status === 0;
}

/** @returns the wheels, now in the folder, or undefined. */
function fromPip(folder, commands, log) {
  const wanted = WHEELS.map(({ name, version }) => `${name}==${version}`);
  const options = ['--quiet', '--retries', '1', '--timeout', '20', '--no-deps', '--only-binary=:all:', '--dest', folder];
  for (const [command, ...args] of commands) {
    log(`fetching ${wanted.join(' and ')} with ${[command, ...args].join(' ')}`);
    if (!run(command, [...args, 'download', ...options, ...wanted])) continue;
    const files = readdirSync(folder);
    const found = WHEELS.flatMap(({ name, version }) => {
      const file = files.find((candidate) => candidate.startsWith(`${name}-${version}-`) && candidate.endsWith('-none-any.whl'));
      return file === undefined ? [] : [{ name, version, file }];
    });
    if (found.length === WHEELS.length) return found;
  }
  return undefined;
}

/** A Debian package holds the same Python files as a wheel; the wheel's archive is made from them. */
function fromDebian(folder, log) {
  log('pip fetched nothing: trying the packages python3-sympy and python3-mpmath of Debian');
  if (!run('apt-get', ['download', ...WHEELS.map(({ debian }) => debian)], { cwd: folder })) return undefined;
  const found = [];
  for (const { name, debian } of WHEELS) {
    const archive = readdirSync(folder).find((file) => file.startsWith(`${debian}_`) && file.endsWith('.deb'));
    if (archive === undefined || !run('dpkg-deb', ['--extract', join(folder, archive), join(folder, name)])) return undefined;
    // The file name is package_version-revision_architecture.deb.
    const version = archive.split('_')[1].replace(/-[^-]*$/, '');
    const file = `${name}-${version}-py3-none-any.whl`;
    writeFileSync(join(folder, file), zipSync(readTree(join(folder, name, 'usr', 'lib', 'python3', 'dist-packages'), name), { level: 1 }));
    found.push({ name, version, file });
  }
  return found;
}

/** @returns {Record<string, Uint8Array>} the files below a folder, by their path from `base`. */
function readTree(base, path, files = {}) {
  for (const entry of readdirSync(join(base, path), { withFileTypes: true })) {
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) readTree(base, child, files);
    else files[child] = new Uint8Array(readFileSync(join(base, child)));
  }
  return files;
}

/**
 * Replaces Python's source by its compiled form, made by the very Python that will run it, and leaves tests out.
 * Measured: SymPy is then imported in 1 s of processor time instead of 9, on every start of the interpreter.
 */
async function compile(files, from, to) {
  const { loadPyodide } = await import('pyodide');
  const python = await loadPyodide({ stderr: () => undefined });
  const compiled = python.runPython(String.raw`
import io, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

def compiled(path):
    out = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(out, 'w', zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            if name.endswith(('/', '.pyc')) or '/tests/' in name or '/benchmarks/' in name:
                continue
            data = source.read(name)
            if name.endswith('.py'):
                # Of the kind that is not checked against a source: there is none.
                name, data = name + 'c', _code_to_hash_pyc(compile(data, name, 'exec', 0, True), bytes(8), False)
            target.writestr(name, data)
    return out.getvalue()

compiled`);
  for (const file of files) {
    python.FS.writeFile('/wheel.zip', new Uint8Array(readFileSync(join(from, file))));
    const bytes = compiled('/wheel.zip');
    // Complete or not there: an interrupted set-up is simply repeated.
    writeFileSync(join(to, `${file}.part`), bytes.toJs());
    renameSync(join(to, `${file}.part`), join(to, file));
    bytes.destroy();
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setUpPython();
