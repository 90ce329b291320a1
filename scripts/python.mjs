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
  const present = readIndex(wheels);
  if (WHEELS.every(({ name }) => present.some((wheel) => wheel.name === name && existsSync(join(wheels, wheel.file)))))
    return { sympy: present.find(({ name }) => name === 'sympy')?.version };

  const found = fromPip(wheels, commands, log) ?? fromDebian(wheels, log) ?? [];
  writeFileSync(join(wheels, 'index.json'), JSON.stringify(found, undefined, 1) + '\n');
  const sympy = found.find(({ name }) => name === 'sympy')?.version;
  if (sympy === undefined)
    log(
      'SymPy is missing: neither pip nor apt-get could fetch it. Calls that import sympy will fail; nothing else needs it. ' +
        'Run the set-up again where a Python package index can be reached.',
    );
  else log(`SymPy ${sympy} is ready`);
  return { sympy };
}

/** The same size, and not older. */
function same(from, to) {
  if (!existsSync(to)) return false;
  const [a, b] = [statSync(from), statSync(to)];
  return a.size === b.size && b.mtimeMs >= a.mtimeMs;
}

function readIndex(folder) {
  try {
    const index = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8'));
    return Array.isArray(index) ? index : [];
  } catch {
    return [];
  }
}

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { stdio: 'ignore', timeout: 180_000, ...options });
  return error === undefined && status === 0;
}

/** Calls `use` with a folder that is gone afterwards. */
function withFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-wheels-'));
  try {
    return use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function fromPip(wheels, commands, log) {
  return withFolder((folder) => {
    const wanted = WHEELS.map(({ name, version }) => `${name}==${version}`);
    for (const [command, ...args] of commands) {
      log(`fetching ${wanted.join(' and ')} with ${[command, ...args].join(' ')}`);
      if (!run(command, [...args, 'download', '--quiet', '--retries', '1', '--timeout', '20', '--no-deps', '--only-binary=:all:', '--dest', folder, ...wanted])) continue;
      const files = readdirSync(folder);
      const found = WHEELS.flatMap(({ name, version }) => {
        const file = files.find((candidate) => candidate.startsWith(`${name}-${version}-`) && candidate.endsWith('-none-any.whl'));
        return file === undefined ? [] : [{ name, version, file }];
      });
      if (found.length < WHEELS.length) continue;
      for (const { file } of found) copyFileSync(join(folder, file), join(wheels, file));
      return found;
    }
    return undefined;
  });
}

/** A Debian package holds the same Python files as a wheel; the wheel's archive is made from them. */
function fromDebian(wheels, log) {
  return withFolder((folder) => {
    log('pip fetched nothing: trying the packages python3-sympy and python3-mpmath of Debian');
    if (!run('apt-get', ['download', ...WHEELS.map(({ debian }) => debian)], { cwd: folder })) return undefined;
    const found = [];
    for (const { name, debian } of WHEELS) {
      const archive = readdirSync(folder).find((file) => file.startsWith(`${debian}_`) && file.endsWith('.deb'));
      if (archive === undefined || !run('dpkg-deb', ['--extract', join(folder, archive), join(folder, name)])) return undefined;
      const packages = join(folder, name, 'usr', 'lib', 'python3', 'dist-packages');
      // The file name is package_version-revision_architecture.deb.
      const version = archive.split('_')[1].replace(/^\d+:/, '').replace(/-[^-]*$/, '');
      const file = `${name}-${version}-py3-none-any.whl`;
      const zipped = zipSync(readTree(packages, name), { level: 6 });
      writeFileSync(join(wheels, `${file}.part`), zipped);
      renameSync(join(wheels, `${file}.part`), join(wheels, file));
      found.push({ name, version, file });
    }
    return found;
  });
}

/** @returns {Record<string, Uint8Array>} the Python files below a folder, by their path from `base`. */
function readTree(base, path, files = {}) {
  for (const entry of readdirSync(join(base, path), { withFileTypes: true })) {
    const child = `${path}/${entry.name}`;
    if (entry.isDirectory()) {
      if (entry.name !== '__pycache__' && entry.name !== 'tests') readTree(base, child, files);
    } else files[child] = new Uint8Array(readFileSync(join(base, child)));
  }
  return files;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setUpPython();
