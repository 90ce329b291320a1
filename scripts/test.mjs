/**
 * `npm test`: everything that says whether the project is well, one runner after another. A failure does not stop
 * the others. The last line sums up what all of them counted.
 *
 *     npm test -- [--only types,lint,layers,unit,build,e2e]
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { countPlaywright, countVitest, NOTHING, summary, total } from './count.mjs';
import { isMain, ROOT, setUp, SetUpError, whenEnded } from './setup.mjs';
import { build, DIST } from './start.mjs';
import { MOST, weigh } from './weight.mjs';

/** A runner that takes longer than this hangs. */
const LIMIT_SECONDS = 20 * 60;

/** Each runner resolves to what it counted: { passed, failed, skipped }. */
const RUNNERS = {
  types: () => one('check:types'),
  lint: () => one('check:lint'),
  layers: () => one('check:layers'),
  unit: () =>
    reported(countVitest, (file) => npmRun('test:unit', ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`])),
  build: async () => {
    await build();
    const heavy = [...weigh(DIST)].filter(([view, bytes]) => {
      console.log(`${(bytes / 1000).toFixed(1)} kB of compressed script before the ${view} view`);
      return bytes > MOST;
    });
    return { ...NOTHING, passed: 1 + (heavy.length === 0 ? 1 : 0), failed: heavy.length === 0 ? 0 : 1 };
  },
  e2e: () =>
    reported(countPlaywright, (file) => npmRun('test:e2e', ['--reporter=list,json'], { PLAYWRIGHT_JSON_OUTPUT_FILE: file })),
};

/** A check that is one thing: it holds, or it does not. */
async function one(script) {
  return (await npmRun(script)) === 0 ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1 };
}

/** Runs a test runner that writes a report of its own, and counts by it. */
async function reported(count, runner) {
  const folder = mkdtempSync(join(tmpdir(), 'atelier-'));
  try {
    const file = join(folder, 'report.json');
    const code = await runner(file);
    return count(JSON.parse(readFileSync(file, 'utf8')), code);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Ends the script that is running, with all that it started. */
let endRunning = () => {};

/** Runs a script of package.json in the foreground. @returns its exit code */
function npmRun(script, args = [], env = {}) {
  return new Promise((resolve, reject) => {
    const windows = process.platform === 'win32';
    const child = spawn('npm', ['run', '--silent', script, '--', ...args], {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'inherit'],
      shell: windows,
      // A process group of its own, so that it can be ended as a whole.
      detached: !windows,
    });
    const signal = (name) => process.kill(windows ? child.pid : -child.pid, name);
    endRunning = () => signal('SIGTERM');
    const timers = [
      setTimeout(() => {
        console.error(`${script} took longer than ${LIMIT_SECONDS / 60} minutes and was ended.`);
        endRunning();
      }, LIMIT_SECONDS * 1000),
      setTimeout(() => signal('SIGKILL'), (LIMIT_SECONDS + 10) * 1000),
    ];
    child.on('error', reject);
    child.on('close', (code) => {
      timers.forEach(clearTimeout);
      endRunning = () => {};
      resolve(code ?? 1);
    });
  });
}

async function main() {
  const names = Object.keys(RUNNERS);
  const { values } = parseArgs({ options: { only: { type: 'string', default: names.join() } } });
  const chosen = values.only.split(',');
  const unknown = chosen.filter((name) => !names.includes(name));
  if (unknown.length > 0) throw new SetUpError(`No such runner: ${unknown.join(', ')}. There are ${names.join(', ')}.`);

  // The unit tests need the browser too: the software Vulkan driver lies beside it.
  await setUp({ browser: chosen.includes('unit') || chosen.includes('e2e') });
  whenEnded(() => {
    endRunning();
    process.exit(130);
  });
  const lines = [];
  const counts = [];
  for (const name of names.filter((n) => chosen.includes(n))) {
    console.log(`\n── ${name}`);
    const start = performance.now();
    const counted = await RUNNERS[name]().catch((error) => {
      // The runner itself did not run.
      console.error(error.message);
      return { ...NOTHING, failed: 1 };
    });
    counts.push(counted);
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    const verdict = counted.failed === 0 ? 'passed' : 'FAILED';
    lines.push(`${name.padEnd(7)} ${verdict} ${seconds.padStart(7)} s   ${summary(counted)}`);
    console.log(lines.at(-1));
  }
  const sum = total(counts);
  console.log(`\n${lines.join('\n')}\n`);
  if (sum.failed > 0) process.exitCode = 1;
  console.log(summary(sum));
}

if (isMain(import.meta.url)) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof SetUpError ? error.message : error);
    process.exitCode = 1;
    console.log('0 passed, 1 failed');
  }
}
