/** `npm run workflow -- warmstart|train`: the policies of the workflow suite, made and trained. `npm run evaluate` measures them. */
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { evaluate, type EvaluationResult } from '../evaluation/evaluate.ts';
import { encodeStep } from '../formats/rollouts.ts';
import { WORKFLOW_GRPO, type GrpoSettings } from '../grpo/settings.ts';
import { checkSettings, trainStep } from '../grpo/trainer.ts';
import { stepFile } from '../lab/recorded.ts';
import { evaluationOf } from '../lab/suites.ts';
import { parameterLayout } from '../policy/config.ts';
import type { PolicyEngine } from '../policy/engine.ts';
import { initialWeights } from '../policy/initialise.ts';
import { ENGINES, startEngine, type EngineName } from '../policy/start.node.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { PAPER_REWARD } from '../reward/reward.ts';
import { workflowCalls } from '../rollout/rollout.ts';
import { workflow } from '../tasks/workflow.ts';
import { WORKFLOW_WARM_START, workflowConfig, workflowTokenizer, workflowWarmStart } from '../warmstart/workflow.ts';
import { resultTable } from './card.ts';
import { modelFolder, readModel, writeModel } from './models.ts';
import { main, readOptions, UsageError, type Options } from './options.ts';
import { formatSeconds, ProgressLine } from './progress.ts';

const COMMON: Options = {
  seed: { kind: 'number', default: '1', help: 'of tasks, weights and samples' },
  engine: { kind: 'text', default: 'cpu', choices: ENGINES, help: 'what computes' },
  tasks: { kind: 'number', default: '512', help: 'held-out tasks to evaluate on, the four tiers in equal parts; 0 for none' },
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
  const result = await heldOut(engine, tokenizer, values.number('tasks', { whole: true, least: 0 }), settings.seed);
  const { weights, suppressTokens } = await engine.snapshot();
  const folder = modelFolder(values.text('out'));
  const { steps, batch, learningRate, seed } = settings;
  await writeModel(folder, { checkpoint: { config, weights, suppressTokens }, tokenizer }, `# workflow-base

A Llama of ${parameterLayout(config).size.toLocaleString('en')} parameters that reads and writes whole words. It was warm-started on demonstrations of mixed
quality: an agent that knows what to do, and often takes the first offer, guesses an id, repeats a look-up, gives up after
a failure or stops too soon. Outputs in the demonstrations came from the functions themselves. The loss covered the
policy's tokens only.

Made by \`npm run workflow -- warmstart --hidden ${size.hidden} --layers ${size.layers} --steps ${steps} --batch ${batch} --lr ${learningRate} --seed ${seed}\` on ${engine.info.adapter}.
${result === undefined ? '' : `\n${resultTable(result)}\n`}`);
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
  const start = await heldOut(engine, tokenizer, tasks, seed);
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
  const end = await heldOut(engine, tokenizer, tasks, seed);
  const { config, weights, suppressTokens } = await engine.snapshot();
  const summary = { engine: engine.info.kind, adapter: engine.info.adapter, steps, seconds, heldOut: { start, end } };
  await writeFile(join(out, 'summary.json'), `${JSON.stringify({ ...summary, settings }, null, 2)}\n`);
  const shown = Object.keys(options).filter((key) => !['json', 'out', 'tasks', 'rollouts'].includes(key));
  await writeModel(join(out, 'model'), { checkpoint: { config, weights, suppressTokens }, tokenizer }, `# workflow-trained

The policy of \`${values.text('model')}\` after GRPO.

Made by \`npm run workflow -- train ${shown.map((key) => `--${key} ${values.text(key)}`).join(' ')}\` on ${engine.info.adapter}.
The loss covered the tokens that the policy wrote; outputs of functions were context only.
${end === undefined ? '' : `\n${resultTable(end)}\n`}`);
  report(values.on('json'), summary, `${steps} steps in ${formatSeconds(seconds)}; written to ${out}`, end);
  engine.dispose();
}

/** One rollout of each of `count` held-out tasks, sampled and scored by the paper's rule. */
async function heldOut(engine: PolicyEngine, tokenizer: Tokenizer, count: number, seed: number): Promise<EvaluationResult | undefined> {
  if (count === 0) return undefined;
  const line = new ProgressLine();
  const result = await evaluate(
    { engine, tokenizer, suite: workflow, runCalls: workflowCalls, onProgress: (done, of) => { line.show(done, of, 'held-out tasks'); } },
    { ...evaluationOf(workflow.name), questionsPerTier: Math.ceil(count / workflow.tiers.length), seed },
  );
  line.end();
  return result;
}

function report(json: boolean, object: unknown, line: string, result: EvaluationResult | undefined): void {
  if (line !== '') process.stderr.write(`${line}\n`);
  if (json) process.stdout.write(`${JSON.stringify(object)}\n`);
  else if (result !== undefined) process.stdout.write(`${resultTable(result)}\n`);
}
