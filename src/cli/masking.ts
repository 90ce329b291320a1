/** `npm run masking`: GRPO with observations in the loss and out of it, over several seeds, and what differs. */
import { DEFAULT_EVALUATION, evaluate, type ScoredRollout } from '../evaluation/evaluate.ts';
import { MASKING_SETTINGS, measureDrift, meanOf, type Drift, type MaskingSetting } from '../evaluation/masking.ts';
import { DEFAULT_GRPO, type GrpoSettings } from '../grpo/settings.ts';
import { trainStep } from '../grpo/trainer.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import { ENGINES, startEngine, type EngineName } from '../policy/start.node.ts';
import { environment } from '../rollout/environments.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { TOY_LIMITS, type Python } from '../tools/python/python.ts';
import { readModel } from './models.ts';
import { main, readOptions, UsageError, type Options } from './options.ts';
import { ProgressLine } from './progress.ts';
import { startPython } from './python.ts';

const OPTIONS: Options = {
  outputs: { kind: 'text', default: 'both', choices: ['both', 'chatty', 'short'], help: 'which tool' },
  seeds: { kind: 'text', default: '1,2,3', help: 'one run of each setting for each seed' },
  steps: { kind: 'number', default: '60', help: 'training steps of a run' },
  group: { kind: 'number', default: '6', help: 'rollouts of each question' },
  'eval-questions': { kind: 'number', default: '64', help: 'held-out questions a tier, after each run' },
  engine: { kind: 'text', default: 'cpu', choices: ENGINES, help: 'what computes' },
  json: { kind: 'switch', help: 'print one object, alone, on standard output' },
};

interface Run extends Drift {
  readonly setting: string;
  readonly seed: number;
  /** A step. */
  readonly questions: number;
  /** On held-out questions after the run. */
  readonly reward: number;
  readonly strictFormat: number;
  /** Means over all steps that made an update; null where none did. */
  readonly gradNorm: number | null;
  /** Mean reward of the training step with this number. */
  readonly rewardAt: Readonly<Record<number, number>>;
}

/** Steps whose training reward is reported: where the settings part, and the end. */
const SHOWN_STEPS = [1, 20, 40];

main(async () => {
  const values = readOptions('npm run masking --', OPTIONS);
  const seeds = values.text('seeds').split(',').map(Number);
  if (seeds.some((seed) => !Number.isInteger(seed) || seed < 0)) throw new UsageError('--seeds must be whole numbers, e.g. 1,2,3');
  const steps = values.number('steps', { whole: true, least: 1 });
  const questionsPerTier = values.number('eval-questions', { whole: true, least: 1 });
  const group = values.number('group', { whole: true, least: 1 });
  const outputs = values.text('outputs');
  const chosen = MASKING_SETTINGS.filter(({ name }) => outputs === 'both' || name.startsWith(outputs));
  const [engine, python] = await Promise.all([startEngine(values.text('engine') as EngineName), startPython()]);
  const runs: Run[] = [];
  const line = new ProgressLine();
  const total = seeds.length * chosen.length;
  for (const seed of seeds) {
    for (const setting of chosen) {
      const onStep = (step: number, reward: number): void => {
        line.show(runs.length * steps + step, total * steps, `${setting.name}, seed ${seed}, step ${step}: reward ${reward.toFixed(2)}`);
      };
      const run = await runOnce(engine, python, setting, seed, steps, { ...DEFAULT_GRPO, questions: setting.questions, group, mask: setting.mask }, questionsPerTier, onStep);
      runs.push(run);
      process.stderr.write(`${row(setting.name, [run])}\n`);
    }
  }
  line.end();
  if (values.on('json')) process.stdout.write(`${JSON.stringify({ steps, group, questionsPerTier, runs })}\n`);
  else process.stdout.write(`${table(chosen, runs)}\n`);
  engine.dispose();
  python.dispose();
});

async function runOnce(
  engine: PolicyEngine,
  python: Python,
  { name, model, tool, questions }: MaskingSetting,
  seed: number,
  steps: number,
  settings: GrpoSettings,
  questionsPerTier: number,
  onStep: (step: number, reward: number) => void,
): Promise<Run> {
  const { checkpoint, tokenizer } = await readModel(model);
  await engine.load(checkpoint);
  await engine.holdReference();
  const parts = { engine, tokenizer, suite: arithmetic, runCalls: environment(python, TOY_LIMITS, tool) };
  const gradNorms: number[] = [];
  const rewardAt: Record<number, number> = {};
  for (let step = 1; step <= steps; step++) {
    const { metrics } = await trainStep({ ...parts, settings, seed }, step);
    const { reward = NaN, grad_norm } = metrics;
    if (grad_norm !== undefined) gradNorms.push(grad_norm);
    if (SHOWN_STEPS.includes(step)) rewardAt[step] = reward;
    onStep(step, reward);
  }
  const scored: ScoredRollout[] = [];
  const result = await evaluate({ ...parts, onRollouts: (batch) => scored.push(...batch) }, { ...DEFAULT_EVALUATION, questionsPerTier });
  const drift = await measureDrift(engine, tokenizer, scored.map(({ trajectory }) => trajectory));
  return {
    setting: name, seed, questions,
    reward: result.reward,
    strictFormat: result.strictFormat,
    gradNorm: gradNorms.length === 0 ? null : meanOf(gradNorms),
    rewardAt,
    ...drift,
  };
}

/** Markdown: a row a setting, a value a seed. */
function table(settings: readonly MaskingSetting[], runs: readonly Run[]): string {
  const head = ['setting', 'reward', 'KL to the base', 'strict format', 'gradient norm', 'forged <output>', 'P(<output> after </python>)'];
  return [
    `| ${head.join(' | ')} |`,
    `|${' --- |'.repeat(head.length)}`,
    ...settings.map(({ name }) => row(name, runs.filter((run) => run.setting === name))),
  ].join('\n');
}

function row(name: string, runs: readonly Run[]): string {
  const each = (value: (run: Run) => number | null, digits: number): string => runs.map((run) => value(run)?.toFixed(digits) ?? '–').join(' ');
  const cells = [
    each((r) => r.reward, 2), each((r) => r.klToBase, 3), each((r) => r.strictFormat, 2), each((r) => r.gradNorm, 2), each((r) => r.forged, 3),
    each((r) => r.outputAfterCall, 3),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}
