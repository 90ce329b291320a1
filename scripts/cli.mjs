/**
 * Runs a TypeScript program in Node: set-up first, all of its words on standard error, so that standard output
 * belongs to the program alone.
 *
 *     node scripts/cli.mjs src/cli/train.ts --steps 40
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { vulkanForNode } from './browser.mjs';
import { ROOT, setUp } from './setup.mjs';

const [program = '', ...args] = process.argv.slice(2);
try {
  await setUp({ log: (line) => { console.error(line); } });
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
const child = spawn(process.execPath, ['--import', 'tsx', join(ROOT, program), ...args], {
  stdio: 'inherit',
  // The dynamic linker reads these when a process starts, so they cannot be set by the program itself.
  env: { ...process.env, ...vulkanForNode() },
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { child.kill(signal); });
child.on('exit', (code) => { process.exit(code ?? 1); });
