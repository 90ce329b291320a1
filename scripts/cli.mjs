/**
 * Runs a command of `src/cli` in Node: set-up first, all of its words on standard error, so that standard output
 * belongs to the command alone.
 *
 *     node scripts/cli.mjs train --steps 40
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { vulkanForNode } from './browser.mjs';
import { ROOT, setUp } from './setup.mjs';

const [command = '', ...args] = process.argv.slice(2);
try {
  await setUp({ log: (line) => { console.error(line); } });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, 'src', 'cli', `${command}.ts`), ...args], {
  stdio: 'inherit',
  // The dynamic linker reads these when a process starts, so they cannot be set by the command itself.
  env: { ...process.env, ...vulkanForNode() },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { child.kill(signal); });
child.on('exit', (code) => { process.exit(code ?? 1); });
