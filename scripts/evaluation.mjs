/**
 * Records what ships beside the page: each suite in the three conditions, as `npm run evaluate` prints it.
 *
 *     node scripts/evaluation.mjs [SUITE ...]     # → public/recorded/evaluation.json
 */
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from './setup.mjs';

const ENGINE = 'cpu';
const QUESTIONS = '128';

/** Standard output of one evaluation; its progress goes to standard error. */
function evaluate(suite, condition) {
  const args = ['--suite', suite, '--condition', condition, '--questions', QUESTIONS, '--seed', '1', '--engine', ENGINE, '--json'];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(ROOT, 'scripts/cli.mjs'), 'src/cli/evaluate.ts', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.on('data', (text) => { out += text; });
    child.on('exit', (code) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(`the evaluation of ${suite}, ${condition} ended with ${code}`));
    });
  });
}

const suites = process.argv.length > 2 ? process.argv.slice(2) : ['arithmetic', 'arithmetic-steps', 'workflow'];
const evaluations = [];
for (const suite of suites) {
  for (const condition of ['base', 'prompted', 'trained']) evaluations.push(await evaluate(suite, condition));
}
const file = join(ROOT, 'public/recorded/evaluation.json');
await writeFile(file, `${JSON.stringify({ engine: ENGINE, evaluations })}\n`);
console.error(file);
