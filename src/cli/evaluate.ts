/** `npm run evaluate`: what a policy does on held-out questions, in one of the paper's three conditions. */
import { bannedTokens, CONDITIONS, modelOf, type Condition } from '../evaluation/conditions.ts';
import { DEFAULT_EVALUATION, evaluate, type EvaluationSettings } from '../evaluation/evaluate.ts';
import { isWorkflow } from '../lab/suite-settings.ts';
import { callsOf, evaluationOf, SUITE_NAMES, suiteOf } from '../lab/suites.ts';
import { ENGINES, startEngine, type EngineName } from '../policy/start.node.ts';
import type { RewardSettings } from '../reward/reward.ts';
import { TOOLS, type ToolName } from '../rollout/environments.ts';
import { resultTable } from './card.ts';
import { readModel } from './models.ts';
import { main, readOptions, UsageError, type Options } from './options.ts';
import { ProgressLine } from './progress.ts';
import { startPython } from './python.ts';

const preset = DEFAULT_EVALUATION;

const OPTIONS: Options = {
  suite: { kind: 'text', default: 'arithmetic', choices: SUITE_NAMES, help: 'what is asked' },
  condition: { kind: 'text', default: 'trained', choices: CONDITIONS, help: 'base: the warm start, its call tags never sampled; prompted: the warm start as it is; trained' },
  model: { kind: 'text', default: '', help: 'a name under public/models, or a folder (default: the one that ships for suite and condition)' },
  questions: { kind: 'number', default: String(preset.questionsPerTier), help: 'held-out questions a tier' },
  samples: { kind: 'number', default: String(preset.samples), help: 'rollouts of each question; pass@k is estimated up to this k' },
  greedy: { kind: 'switch', help: 'always the most probable token' },
  temperature: { kind: 'number', default: String(preset.temperature), help: 'of sampling' },
  seed: { kind: 'number', default: String(preset.seed), help: 'of questions and samples' },
  tool: { kind: 'text', default: 'plain', choices: Object.keys(TOOLS), help: 'terse: outputs cut at 8 characters; chatty: random letters after each output; flaky: 30 % of first calls fail' },
  probe: { kind: 'switch', help: 'the first call of each rollout fails: does the policy correct itself?' },
  'no-call': { kind: 'text', default: preset.reward.noCall, choices: ['paper', 'excluded', 'full'], help: 'what the execution part is worth without a call' },
  'call-cost': { kind: 'number', default: String(preset.reward.callCost), help: 'taken off the reward for each call' },
  engine: { kind: 'text', default: 'cpu', choices: ENGINES, help: 'what computes' },
  json: { kind: 'switch', help: 'print one object, alone, on standard output' },
};

main(async () => {
  const values = readOptions('npm run evaluate --', OPTIONS);
  const suite = suiteOf(values.text('suite'));
  const condition = values.text('condition') as Condition;
  const model = values.text('model') === '' ? modelOf(suite.name, condition) : values.text('model');
  const tool = values.text('tool') as ToolName;
  const probe = values.on('probe');
  if (isWorkflow(suite.name) && (tool !== 'plain' || probe)) throw new UsageError('the functions of a workflow fail by themselves: --tool and --probe are of Python');
  const { checkpoint, tokenizer } = await readModel(model);
  const settings: EvaluationSettings = {
    ...evaluationOf(suite.name),
    questionsPerTier: values.number('questions', { whole: true, least: 1 }),
    samples: values.number('samples', { whole: true, least: 1 }),
    seed: values.number('seed', { whole: true, least: 0 }),
    temperature: values.on('greedy') ? 0 : values.number('temperature', { least: 0 }),
    reward: { noCall: values.text('no-call') as RewardSettings['noCall'], callCost: values.number('call-cost', { least: 0 }) },
    bannedTokens: bannedTokens(condition, tokenizer),
  };
  if (settings.temperature === 0 && settings.samples > 1) throw new UsageError('greedy samples of a question are all the same: leave --samples at 1');
  const [engine, python] = await Promise.all([startEngine(values.text('engine') as EngineName), startPython()]);
  await engine.load(checkpoint);
  const line = new ProgressLine();
  const onProgress = (done: number, of: number): void => { line.show(done, of, `rollouts of ${model}`); };
  const result = await evaluate({ engine, tokenizer, suite, runCalls: callsOf(suite, python, tool, probe), onProgress }, settings);
  line.end();
  // No seconds and no names of machines: the same seed prints the same bytes.
  const { questionsPerTier, samples, seed, temperature, reward } = settings;
  const report = { suite: suite.name, condition, model, tool, probe, questionsPerTier, samples, seed, temperature, rewardRule: reward, ...result };
  process.stdout.write(values.on('json') ? `${JSON.stringify(report)}\n` : `${suite.name}, ${condition}: ${model}\n\n${resultTable(result)}\n`);
  engine.dispose();
  python.dispose();
});
