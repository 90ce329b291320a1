/**
 * Makes a checkout ready to use: npm packages, the Python that the page serves, and for the tests a browser.
 * Says nothing where nothing is to be done. It runs before anything is installed, so it imports only what Node
 * itself brings; `python.mjs` is loaded once the packages are there.
 *
 *     node scripts/setup.mjs [--browser]
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findChromium } from './browser.mjs';

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

const OLDEST_NODE = [20, 19];

/** A set-up step that cannot be done here; the message says what the person can do. */
export class SetUpError extends Error {
  name = 'SetUpError';
}

/**
 * @param {object} options
 * @param {boolean} [options.browser] whether the tests' browser is needed too
 * @param {(line: string) => void} [options.log]
 * @throws SetUpError
 */
export async function setUp({ browser = false, log = console.log } = {}) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    throw new SetUpError(`Atelier needs Node ${OLDEST_NODE.join('.')} or newer; this is ${process.versions.node}.`);
  }
  if (!packagesAreThere()) await timed(log, 'Installing npm packages', () => run('npm', ['ci', '--loglevel', 'warn'], 600));
  const { setUpPython } = await import('./python.mjs');
  await setUpPython({ log });
  if (browser && findChromium() === undefined) await timed(log, 'Installing a browser for the tests', installBrowser);
}

/**
 * Whether `node_modules` holds what the lock file names. npm leaves a list of what it installed; versions are
 * compared rather than times, which a checkout or a copy changes.
 */
function packagesAreThere() {
  const installed = readJson(join(ROOT, 'node_modules', '.package-lock.json'))?.packages;
  if (installed === undefined) return false;
  const wanted = readJson(join(ROOT, 'package-lock.json'))?.packages ?? {};
  return Object.entries(wanted).every(
    ([path, { version, optional, devOptional }]) =>
      // Optional packages are there only for their own platform.
      path === '' || optional || devOptional || installed[path]?.version === version,
  );
}

function readJson(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : undefined;
}

async function installBrowser() {
  const attempts = [
    // Full Chromium, which has WebGPU; the headless shell has not.
    () => run('npx', ['playwright', 'install', '--no-shell', 'chromium'], 900),
    ...(existsSync('/etc/debian_version') && process.getuid?.() === 0 ? [installDebianChromium] : []),
  ];
  const reasons = [];
  for (const attempt of attempts) {
    try {
      await attempt();
      const chromium = findChromium();
      if (chromium === undefined) throw new SetUpError('installed, but not found');
      // A downloaded browser may lack system libraries.
      await run(chromium, ['--headless', '--no-sandbox', '--version'], 60);
      return;
    } catch (error) {
      reasons.push(error.message);
    }
  }
  throw new SetUpError(
    [
      'The tests need Chromium, and none could be installed:',
      ...reasons.map((reason) => `  ${reason.trim().replaceAll('\n', '\n  ')}`),
      'Install Chromium or Chrome, or name one: ATELIER_CHROMIUM=/path/to/chromium npm test',
    ].join('\n'),
  );
}

async function installDebianChromium() {
  const apt = (...args) => run('apt-get', ['-q', '-y', ...args], 900, { DEBIAN_FRONTEND: 'noninteractive' });
  await apt('update');
  // A Chinese face, so that the pages in Chinese are laid out with real glyphs.
  await apt('install', '--no-install-recommends', 'chromium', 'fonts-liberation', 'fonts-noto-cjk');
}

/** Runs a program with its output kept back. @throws SetUpError with the end of the output where it fails. */
function run(command, args, seconds, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      // npm and npx are scripts on Windows.
      shell: process.platform === 'win32' && (command === 'npm' || command === 'npx'),
      timeout: seconds * 1000,
    });
    let output = '';
    const keep = (text) => (output = (output + text).slice(-4000));
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const fail = (reason) => reject(new SetUpError(`${[command, ...args].join(' ')}: ${reason}\n${output}`));
    child.on('error', (error) => fail(error.message));
    child.on('close', (code, signal) => {
      if (code === 0) resolve();
      else fail(signal === null ? `exit code ${code}` : `ended by ${signal} (limit: ${seconds} s)`);
    });
  });
}

/** Says what is being done, and how long it took. */
export async function timed(log, what, work) {
  log(`${what} …`);
  const start = performance.now();
  const result = await work();
  log(`${what}: done in ${((performance.now() - start) / 1000).toFixed(1)} s`);
  return result;
}

/**
 * Calls `stop` once this program is asked to end: by a signal, or by the end of the npm that started it, which
 * passes a signal on to the shell between the two and no further.
 */
export function whenEnded(stop) {
  let ended = false;
  const once = () => {
    if (!ended) stop();
    ended = true;
  };
  process.on('SIGINT', once).on('SIGTERM', once);
  const parent = process.ppid;
  if (process.env.npm_lifecycle_event !== undefined) {
    setInterval(() => {
      if (process.ppid !== parent) once();
    }, 500).unref();
  }
}

/** @returns {boolean} whether the module at `url` is the program that Node was asked to run. */
export function isMain(url) {
  return process.argv[1] !== undefined && fileURLToPath(url) === process.argv[1];
}

if (isMain(import.meta.url)) {
  const { values } = parseArgs({ options: { browser: { type: 'boolean', default: false } } });
  try {
    await setUp(values);
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
