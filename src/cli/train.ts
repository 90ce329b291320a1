/** `npm run train`: a GRPO run without a browser. The same code as in the page. */
import { appendFile, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_EVALUATION, evaluate, type EvaluationResult } from '../evaluation/evaluate.ts';
import { encodeStep } from '../formats/rollouts.ts';
import { DEFAULT_GRPO, VARIANTS, type GrpoSettings, type VariantName } from '../grpo/settings.ts';
import { checkSettings, trainStep, type TrainerParts } from '../grpo/trainer.ts';
import type { RunSettings } from '../lab/protocol.ts';
import { stepFile } from '../lab/recorded.ts';
import type { RewardSettings } from '../reward/reward.ts';
import { ENGINES, startEngine, type EngineName } from '../policy/start.node.ts';
import { environment, TOOLS, type ToolName } from '../rollout/environments.ts';
import { SUITES } from '../tasks/arithmetic.ts';
import { TOY_LIMITS } from '../tools/python/python.ts';
import { resultLine, resultTable } from './card.ts';
import { readModel, writeModel } from './models.ts';
import { main, readOptions, UsageError, type Options, type Values } from './options.ts';
import { formatSeconds, ProgressLine } from './progress.ts';
import { startPython } from './python.ts';

const preset = DEFAULT_GRPO;

const OPTIONS: Options = {
  suite: { kind: 'text', default: 'arithmetic', choices: Object.keys(SUITES), help: 'what is asked' },
  model: { kind: 'text', default: 'arithmetic-base', help: 'a name under public/models, or a folder' },
  steps: { kind: 'number', default: '40', help: 'training steps' },
  questions: { kind: 'number', default: String(preset.questions), help: 'questions a step' },
  group: { kind: 'number', default: String(preset.group), help: 'rollouts of each question' },
  seed: { kind: 'number', default: '1', help: 'of questions and samples' },
  engine: { kind: 'text', default: 'cpu', choices: ENGINES, help: 'what computes' },
  lr: { kind: 'number', default: String(preset.optimizer.learningRate), help: 'learning rate' },
  tool: { kind: 'text', default: 'plain', choices: Object.keys(TOOLS), help: 'terse: outputs cut at 8 characters; chatty: random letters after each output; flaky: 30 % of first calls fail' },
  mask: { kind: 'text', default: 'on', choices: ['on', 'off'], help: 'whether observations stay out of the loss' },
  'no-call': { kind: 'text', default: 'paper', choices: ['paper', 'excluded', 'full'], help: 'what the execution part is worth without a call' },
  'call-cost': { kind: 'number', default: '0', help: 'taken off the reward for each call' },
  variant: { kind: 'text', default: 'grpo', choices: Object.keys(VARIANTS), help: 'a named set of switches' },
  beta: { kind: 'number', default: '0', help: 'weight of the KL to the starting policy' },
  inner: { kind: 'number', default: '1', help: 'passes over the rollouts of a step' },
  minibatches: { kind: 'number', default: '1', help: 'updates a pass' },
  temperature: { kind: 'number', default: '1', help: 'of sampling, and of the ratios' },
  tiers: { kind: 'text', default: '', help: 'tiers to train on, e.g. 1,2 (all where empty)' },
  'eval-questions': { kind: 'number', default: String(DEFAULT_EVALUATION.questionsPerTier), help: 'held-out questions a tier, before and after; 0 for none' },
  out: { kind: 'text', default: '', help: 'folder for metrics.jsonl, rollouts/ and the trained model/ (default runs/MODEL-seedN)' },
  json: { kind: 'switch', help: 'print one summary object, alone, on standard output' },
};

main(async () => {
  const values = readOptions('npm run train --', OPTIONS);
  const settings = settingsOf(values);
  const suite = SUITES[values.text('suite')];
  if (suite === undefined) throw new UsageError('no such suite');
  const startedAt = Date.now();
  const seed = values.number('seed', { whole: true, least: 0 });
  const steps = values.number('steps', { whole: true, least: 1 });
  const tiers = tiersOf(values.text('tiers'), suite.tiers);
  const questionsPerTier = values.number('eval-questions', { whole: true, least: 0 });
  const out = values.text('out') === '' ? join('runs', `${values.text('model').replaceAll(/[/\\]/g, '_')}-seed${seed}`) : values.text('out');
  const { checkpoint, tokenizer } = await readModel(values.text('model'));
  const [engine, python] = await Promise.all([startEngine(values.text('engine') as EngineName), startPython()]);
  await engine.load(checkpoint);
  // Only now: a wrong model must not cost the results of an earlier run, and two runs must not mix.
  for (const old of ['metrics.jsonl', 'summary.json', 'rollouts', 'model']) await rm(join(out, old), { recursive: true, force: true });
  await mkdir(join(out, 'rollouts'), { recursive: true });
  if (settings.beta > 0) await engine.holdReference();
  const runCalls = environment(python, TOY_LIMITS, values.text('tool') as ToolName);

  const heldOut = async (label: string): Promise<EvaluationResult | undefined> => {
    if (questionsPerTier === 0) return undefined;
    const line = new ProgressLine();
    const parts = { engine, tokenizer, suite, runCalls, onProgress: (done: number, of: number): void => { line.show(done, of, `held-out questions, ${label}`); } };
    const result = await evaluate(parts, { ...DEFAULT_EVALUATION, questionsPerTier });
    line.end();
    process.stderr.write(`${label}: ${resultLine(result)}\n`);
    return result;
  };

  const start = await heldOut('before');
  const parts: TrainerParts = { engine, tokenizer, suite, runCalls, settings, seed, ...(tiers === undefined ? {} : { tiers }) };
  const line = new ProgressLine();
  const began = performance.now();
  let sampledTokens = 0;
  let allTokens = 0;
  for (let step = 1; step <= steps; step++) {
    const record = await trainStep(parts, step, { tokensBefore: allTokens });
    const { metrics, skipped, warnings } = record;
    allTokens = metrics['num_tokens'] ?? allTokens;
    sampledTokens += metrics['sampled_tokens'] ?? 0;
    await appendFile(join(out, 'metrics.jsonl'), `${JSON.stringify({ step, ...metrics, ...(skipped === undefined ? {} : { skipped }), warnings })}\n`);
    await writeFile(join(out, 'rollouts', stepFile(step)), encodeStep(record, tokenizer));
    line.show(step, steps, `reward ${(metrics['reward'] ?? NaN).toFixed(2)}, accuracy ${(metrics['accuracy'] ?? NaN).toFixed(2)}, equal groups ${(metrics['frac_reward_zero_std'] ?? NaN).toFixed(2)}${skipped === undefined ? '' : `, no update: ${skipped}`}`);
  }
  line.end();
  const seconds = (performance.now() - began) / 1000;
  const end = await heldOut('after');

  const { config, weights, suppressTokens } = await engine.snapshot();
  const summary = {
    engine: engine.info.kind, adapter: engine.info.adapter, steps, seconds, sampledTokens, heldOut: { start, end },
  };
  const run: RunSettings = { suite: suite.name, model: values.text('model'), seed, steps, tool: values.text('tool') as ToolName, grpo: settings };
  await writeFile(join(out, 'summary.json'), `${JSON.stringify({ ...summary, started: startedAt, settings: run }, null, 2)}\n`);
  await writeModel(join(out, 'model'), { checkpoint: { config, weights, suppressTokens }, tokenizer }, cardOf(values, summary));
  process.stderr.write(`${steps} steps in ${formatSeconds(seconds)}; written to ${out}\n`);
  if (values.on('json')) process.stdout.write(`${JSON.stringify(summary)}\n`);
  engine.dispose();
  python.dispose();
});

function settingsOf(values: Values): GrpoSettings {
  const settings: GrpoSettings = {
    ...preset,
    ...VARIANTS[values.text('variant') as VariantName].settings,
    questions: values.number('questions', { whole: true, least: 1 }),
    group: values.number('group', { whole: true, least: 1 }),
    temperature: values.number('temperature'),
    beta: values.number('beta', { least: 0 }),
    innerEpochs: values.number('inner', { whole: true, least: 1 }),
    minibatches: values.number('minibatches', { whole: true, least: 1 }),
    mask: values.text('mask') === 'on',
    reward: { noCall: values.text('no-call') as RewardSettings['noCall'], callCost: values.number('call-cost', { least: 0 }) },
    optimizer: { ...preset.optimizer, learningRate: values.number('lr') },
  };
  try {
    checkSettings(settings);
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
  return settings;
}

function tiersOf(text: string, known: readonly number[]): number[] | undefined {
  if (text === '') return undefined;
  const tiers = text.split(',').map(Number);
  if (tiers.some((tier) => !known.includes(tier))) throw new UsageError(`--tiers must name some of ${known.join(', ')}`);
  return tiers;
}

function cardOf(values: Values, summary: { readonly engine: string; readonly steps: number; readonly heldOut: { readonly end: EvaluationResult | undefined } }): string {
  const shown = Object.keys(OPTIONS).filter((name) => !['json', 'out', 'eval-questions'].includes(name) && values.text(name) !== '');
  const { end } = summary.heldOut;
  return [
    '# A policy trained by GRPO',
    '',
    `Made by \`npm run train -- ${shown.map((name) => `--${name} ${values.text(name)}`).join(' ')}\`.`,
    'The loss covers the tokens that the policy wrote; outputs of calls are context only, unless the mask was off.',
    ...(end === undefined ? [] : ['', resultTable(end)]),
    '',
  ].join('\n');
}
