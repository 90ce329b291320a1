/** `npm run workflow -- warmstart|train|evaluate`: the policies of the workflow suite, made, trained and measured. */
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { figuresOf, type ScoredRollout } from '../evaluation/evaluate.ts';
import { wilson, type Interval } from '../evaluation/statistics.ts';
import { encodeStep } from '../formats/rollouts.ts';
import type { GrpoSettings } from '../grpo/settings.ts';
import { checkSettings, trainStep } from '../grpo/trainer.ts';
import { stepFile } from '../lab/recorded.ts';
import { parameterLayout } from '../policy/config.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import { initialWeights } from '../policy/initialise.ts';
import { ENGINES, startEngine, type EngineName } from '../policy/start.node.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { PAPER_REWARD } from '../reward/reward.ts';
import { scorerOf } from '../reward/score.ts';
import { workflowFigures, type WorkflowFigures } from '../reward/workflow.ts';
import { rollOut, workflowCalls } from '../rollout/rollout.ts';
import { drawDifferentTasks, workflow } from '../tasks/workflow.ts';
import { WORKFLOW_GRPO, WORKFLOW_WARM_START, workflowConfig, workflowTokenizer, workflowWarmStart } from '../warmstart/workflow.ts';
import { modelFolder, readModel, writeModel } from './models.ts';
import { main, readOptions, UsageError, type Options } from './options.ts';
import { formatSeconds, ProgressLine } from './progress.ts';

const COMMON: Options = {
  seed: { kind: 'number', default: '1', help: 'of tasks, weights and samples' },
  engine: { kind: 'text', default: 'cpu', choices: ENGINES, help: 'what computes' },
  tasks: { kind: 'number', default: '512', help: 'held-out tasks to evaluate on, none twice; 0 for none' },
  json: { kind: 'switch', help: 'print one object, alone, on standard output' },
};

const COMMANDS: Readonly<Record<string, { readonly options: Options; readonly run: (name: string, options: Options, args: string[]) => Promise<void> }>> = {
  warmstart: {
    options: {
      steps: { kind: 'number', default: String(WORKFLOW_WARM_START.steps), help: 'supervised steps' },
      batch: { kind: 'number', default: String(WORKFLOW_WARM_START.batch), help: 'demonstrations a step' },
      lr: { kind: 'number', default: String(WORKFLOW_WARM_START.learningRate), help: 'learning rate at its peak' },
      hidden: { kind: 'number', default: '64', help: 'width of the policy' },
      layers: { kind: 'number', default: '2', help: 'layers of the policy' },
      out: { kind: 'text', default: 'workflow-base', help: 'a name under public/models, or a folder to write to' },
      ...COMMON,
    },
    run: makeBase,
  },
  train: {
    options: {
      model: { kind: 'text', default: 'workflow-base', help: 'a name under public/models, or a folder' },
      steps: { kind: 'number', default: '100', help: 'training steps' },
      questions: { kind: 'number', default: String(WORKFLOW_GRPO.questions), help: 'tasks a step' },
      group: { kind: 'number', default: String(WORKFLOW_GRPO.group), help: 'rollouts of each task' },
      lr: { kind: 'number', default: String(WORKFLOW_GRPO.optimizer.learningRate), help: 'learning rate' },
      'call-cost': { kind: 'number', default: String(WORKFLOW_GRPO.reward.callCost), help: 'taken off the reward for each call in training; held-out tasks are scored by the paper\'s rule' },
      inner: { kind: 'number', default: '1', help: 'passes over the rollouts of a step' },
      minibatches: { kind: 'number', default: '1', help: 'updates a pass' },
      rollouts: { kind: 'switch', help: 'write every rollout' },
      out: { kind: 'text', default: 'runs/workflow', help: 'folder for metrics.jsonl, rollouts/ and the trained model/' },
      ...COMMON,
    },
    run: train,
  },
  evaluate: {
    options: {
      model: { kind: 'text', default: 'workflow-trained', help: 'a name under public/models, or a folder' },
      temperature: { kind: 'number', default: '1', help: 'of sampling; 0 takes the most probable token' },
      show: { kind: 'number', default: '0', help: 'rollouts of each tier to print' },
      ...COMMON,
    },
    run: evaluate,
  },
};

main(async () => {
  const [name = '', ...args] = process.argv.slice(2);
  const command = COMMANDS[name];
  if (command === undefined) throw new UsageError(`npm run workflow -- ${Object.keys(COMMANDS).join('|')} [options] (--help lists them)`);
  await command.run(name, command.options, args);
});

async function makeBase(name: string, options: Options, args: string[]): Promise<void> {
  const values = readOptions(`npm run workflow -- ${name}`, options, args);
  const tokenizer = workflowTokenizer();
  const size = { hidden: values.number('hidden', { whole: true, least: 8 }), layers: values.number('layers', { whole: true, least: 1 }) };
  const config = workflowConfig(tokenizer, size);
  const settings = {
    ...WORKFLOW_WARM_START,
    steps: values.number('steps', { whole: true, least: 1 }),
    batch: values.number('batch', { whole: true, least: 1 }),
    learningRate: values.number('lr'),
    seed: values.number('seed', { whole: true, least: 0 }),
  };
  const engine = await startEngine(values.text('engine') as EngineName);
  await engine.load({ config, weights: initialWeights(config, settings.seed), suppressTokens: tokenizer.suppressTokens });
  const line = new ProgressLine();
  const began = performance.now();
  for await (const { step, report } of workflowWarmStart(engine, tokenizer, settings)) {
    line.show(step, settings.steps, `loss ${report.loss.toFixed(4)}, gradient ${report.gradNorm.toFixed(2)}`);
  }
  line.end();
  const seconds = (performance.now() - began) / 1000;
  const result = await heldOut(engine, tokenizer, values.number('tasks', { whole: true, least: 0 }), settings.seed, 1);
  const { weights, suppressTokens } = await engine.snapshot();
  const folder = modelFolder(values.text('out'));
  const { steps, batch, learningRate, seed } = settings;
  await writeModel(folder, { checkpoint: { config, weights, suppressTokens }, tokenizer }, `# workflow-base

A Llama of ${parameterLayout(config).size.toLocaleString('en')} parameters that reads and writes whole words. It was warm-started on demonstrations of mixed
quality: an agent that knows what to do, and often takes the first offer, guesses an id, repeats a look-up, gives up after
a failure or stops too soon. Outputs in the demonstrations came from the functions themselves. The loss covered the
policy's tokens only.

Made by \`npm run workflow -- warmstart --hidden ${size.hidden} --layers ${size.layers} --steps ${steps} --batch ${batch} --lr ${learningRate} --seed ${seed}\` on ${engine.info.adapter}.
${result === undefined ? '' : `\n${tableOf(result)}\n`}`);
  report(values.on('json'), { steps, seconds, heldOut: result }, `${formatSeconds(seconds)}; written to ${folder}`, result);
  engine.dispose();
}

async function train(name: string, options: Options, args: string[]): Promise<void> {
  const values = readOptions(`npm run workflow -- ${name}`, options, args);
  const settings: GrpoSettings = {
    ...WORKFLOW_GRPO,
    questions: values.number('questions', { whole: true, least: 1 }),
    group: values.number('group', { whole: true, least: 1 }),
    innerEpochs: values.number('inner', { whole: true, least: 1 }),
    minibatches: values.number('minibatches', { whole: true, least: 1 }),
    reward: { ...PAPER_REWARD, callCost: values.number('call-cost', { least: 0 }) },
    optimizer: { ...WORKFLOW_GRPO.optimizer, learningRate: values.number('lr') },
  };
  try {
    checkSettings(settings);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  const steps = values.number('steps', { whole: true, least: 1 });
  const seed = values.number('seed', { whole: true, least: 0 });
  const tasks = values.number('tasks', { whole: true, least: 0 });
  const out = resolve(values.text('out'));
  const { checkpoint, tokenizer } = await readModel(values.text('model'));
  const engine = await startEngine(values.text('engine') as EngineName);
  await engine.load(checkpoint);
  // Only now: a wrong model must not cost the results of an earlier run, and two runs must not mix.
  for (const old of ['metrics.jsonl', 'summary.json', 'rollouts', 'model']) await rm(join(out, old), { recursive: true, force: true });
  await mkdir(join(out, 'rollouts'), { recursive: true });
  const start = await heldOut(engine, tokenizer, tasks, seed, 1);
  const line = new ProgressLine();
  const began = performance.now();
  for (let step = 1; step <= steps; step++) {
    const record = await trainStep({ engine, tokenizer, suite: workflow, runCalls: workflowCalls, settings, seed }, step);
    const { metrics } = record;
    await appendFile(join(out, 'metrics.jsonl'), `${JSON.stringify({ step, ...metrics })}\n`);
    if (values.on('rollouts')) await writeFile(join(out, 'rollouts', stepFile(step)), encodeStep(record, tokenizer));
    line.show(step, steps, ['reward', 'accuracy', 'frac_reward_zero_std', 'tools/call_frequency'].map((key) => `${key} ${(metrics[key] ?? NaN).toFixed(2)}`).join(', '));
  }
  line.end();
  const seconds = (performance.now() - began) / 1000;
  const end = await heldOut(engine, tokenizer, tasks, seed, 1);
  const { config, weights, suppressTokens } = await engine.snapshot();
  const summary = { engine: engine.info.kind, adapter: engine.info.adapter, steps, seconds, heldOut: { start, end } };
  await writeFile(join(out, 'summary.json'), `${JSON.stringify({ ...summary, settings }, null, 2)}\n`);
  const shown = Object.keys(options).filter((key) => !['json', 'out', 'tasks', 'rollouts'].includes(key));
  await writeModel(join(out, 'model'), { checkpoint: { config, weights, suppressTokens }, tokenizer }, `# workflow-trained

The policy of \`${values.text('model')}\` after GRPO.

Made by \`npm run workflow -- train ${shown.map((key) => `--${key} ${values.text(key)}`).join(' ')}\` on ${engine.info.adapter}.
The loss covered the tokens that the policy wrote; outputs of functions were context only.
${end === undefined ? '' : `\n${tableOf(end)}\n`}`);
  report(values.on('json'), summary, `${steps} steps in ${formatSeconds(seconds)}; written to ${out}`, end);
  engine.dispose();
}

async function evaluate(name: string, options: Options, args: string[]): Promise<void> {
  const values = readOptions(`npm run workflow -- ${name}`, options, args);
  const { checkpoint, tokenizer } = await readModel(values.text('model'));
  const engine = await startEngine(values.text('engine') as EngineName);
  await engine.load(checkpoint);
  const tasks = values.number('tasks', { whole: true, least: 1 });
  const seed = values.number('seed', { whole: true, least: 0 });
  const temperature = values.number('temperature', { least: 0 });
  const result = await heldOut(engine, tokenizer, tasks, seed, temperature, values.number('show', { whole: true, least: 0 }));
  // No seconds and no names of machines: the same seed prints the same bytes.
  report(values.on('json'), { suite: workflow.name, model: values.text('model'), tasks, seed, temperature, ...result }, '', result);
  engine.dispose();
}

interface Figures extends WorkflowFigures {
  /** Share of tasks completed, with Wilson's 95 % interval. */
  readonly completedShare: number;
  readonly completedInterval: Interval;
  readonly strictFormat: number;
  /** Of rollouts in which a call failed, the share in which a later call ran; null where none failed. */
  readonly selfCorrection: number | null;
  /** Tokens that the policy wrote, a rollout. */
  readonly tokens: number;
}

interface Result extends Figures {
  readonly tiers: readonly ({ readonly tier: number } & Figures)[];
}

/** Rollouts in one batch: the size of a training step, so that no further shapes have to be compiled. */
const BATCH = 96;
/** Keeps the random numbers of evaluations apart from those of training steps. */
const EVALUATION_STEP = 0x7e58;

/** One rollout of each of `count` held-out tasks, scored by the paper's rule. Deterministic for a seed. */
async function heldOut(engine: PolicyEngine, tokenizer: Tokenizer, count: number, seed: number, temperature: number, show = 0): Promise<Result | undefined> {
  if (count === 0) return undefined;
  const tasks = drawDifferentTasks(count, 'held-out', seed, EVALUATION_STEP);
  const score = scorerOf(workflow, tokenizer, PAPER_REWARD);
  const scored: ScoredRollout[] = [];
  const line = new ProgressLine();
  for (let from = 0; from < tasks.length; from += BATCH) {
    const trajectories = await rollOut({
      engine, tokenizer, runCalls: workflowCalls, tasks: tasks.slice(from, from + BATCH), seed, step: EVALUATION_STEP, firstStream: from,
      temperature, maxCalls: WORKFLOW_GRPO.maxCalls, maxLength: WORKFLOW_GRPO.maxLength,
    });
    scored.push(...trajectories.map((trajectory) => ({ trajectory, reward: score(trajectory) })));
    line.show(scored.length, count, 'held-out tasks');
  }
  line.end();
  for (const { trajectory, reward } of scored.slice(0, show * workflow.tiers.length)) {
    process.stderr.write(`${reward.correct ? 'completed' : 'not completed'} ${reward.total.toFixed(3)} ${trajectory.stop}: ${tokenizer.decode(trajectory.tokens)}\n`);
  }
  const ofTier = (tier: number): ScoredRollout[] => scored.filter(({ trajectory }) => trajectory.task.tier === tier);
  return { ...figures(scored, seed), tiers: workflow.tiers.map((tier) => ({ tier, ...figures(ofTier(tier), seed) })) };
}

function figures(scored: readonly ScoredRollout[], seed: number): Figures {
  const all = workflowFigures(scored);
  const { strictFormat, selfCorrection, tokens } = figuresOf(scored, 1, seed);
  return {
    completedShare: all.completed / all.rollouts, completedInterval: wilson(all.completed, all.rollouts), strictFormat, selfCorrection, tokens, ...all,
  };
}

function tableOf({ tiers, ...all }: Result): string {
  const columns = [...tiers, all];
  const row = (name: string, cell: (f: Figures) => string): string => `| ${[name, ...columns.map(cell)].join(' | ')} |`;
  const fixed = (value: number | null, digits: number): string => (value === null ? '–' : value.toFixed(digits));
  return [
    row('held out, sampled at temperature 1', (f) => ('tier' in f ? `tier ${String(f.tier)}` : 'all')),
    row('---', () => '---'),
    row('completed', (f) => fixed(f.completedShare, 3)),
    row('95 % interval', (f) => f.completedInterval.map((x) => x.toFixed(3)).join('–')),
    row('needed calls made', (f) => `${f.correctCalls} of ${f.neededCalls}`),
    row('calls that failed', (f) => `${f.failedCalls} of ${f.calls}`),
    row('calls for each completed task', (f) => fixed(f.callsPerCompleted, 2)),
    row('calls where completed', (f) => fixed(f.callsWhereCompleted, 2)),
    row('reward, at most 1.2', (f) => fixed(f.reward, 3)),
    row('strict format', (f) => fixed(f.strictFormat, 3)),
    '',
    'Tiers 1 and 2 are returns, 3 and 4 trips; on 2 and 4 the first choice fails (not allowed, out of stock, sold out, over the budget).',
  ].join('\n');
}

function report(json: boolean, object: unknown, line: string, result: Result | undefined): void {
  if (line !== '') process.stderr.write(`${line}\n`);
  if (json) process.stdout.write(`${JSON.stringify(object)}\n`);
  else if (result !== undefined) process.stdout.write(`${tableOf(result)}\n`);
}
