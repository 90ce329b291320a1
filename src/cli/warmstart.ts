/** `npm run warmstart`: makes the base policies that ship with the page. */
import { resolve } from 'node:path';
import { evaluate, DEFAULT_EVALUATION, type EvaluationResult } from '../evaluation/evaluate.ts';
import type { PolicyFiles } from '../policy/checkpoint.ts';
import { parameterLayout, parseConfig, type PolicyConfig } from '../policy/config.ts';
import { initialWeights } from '../policy/initialise.ts';
import { Tokenizer } from '../policy/tokenizer.ts';
import { ENGINES, startEngine, type EngineName } from '../policy/start.node.ts';
import { environment, type ToolName } from '../rollout/environments.ts';
import { arithmetic, arithmeticSteps } from '../tasks/arithmetic.ts';
import type { Suite } from '../tasks/task.ts';
import { TOY_LIMITS } from '../tools/python/python.ts';
import { DEFAULT_WARM_START, warmStart, type WarmStartSettings } from '../warmstart/warmstart.ts';
import { resultLine, resultTable } from './card.ts';
import { MODELS, modelFolder, readModel, writeModel } from './models.ts';
import { main, readOptions, type Options } from './options.ts';
import { formatSeconds, ProgressLine } from './progress.ts';
import { startPython } from './python.ts';

interface Recipe {
  readonly hidden: number;
  readonly heads: number;
  readonly intermediate: number;
  readonly suite: Suite;
  /** What answers the calls of its demonstrations. */
  readonly tool: ToolName;
  /** The shipped policy to go on from; without one the weights are drawn. */
  readonly from?: string;
  readonly steps: number;
  readonly learningRate: number;
}

const BASE: Recipe = {
  hidden: 64, heads: 4, intermediate: 128, suite: arithmetic, tool: 'plain',
  steps: DEFAULT_WARM_START.steps, learningRate: DEFAULT_WARM_START.learningRate,
};

/** The base policies that ship. */
const RECIPES: Readonly<Record<string, Recipe>> = {
  'arithmetic-base': BASE,
  'arithmetic-small': { ...BASE, hidden: 32, heads: 2, intermediate: 64 },
  'chatty-base': { ...BASE, tool: 'chatty' },
  // Four of its five tiers are those of the policy that it goes on from.
  'steps-base': { ...BASE, suite: arithmeticSteps, from: 'arithmetic-base', steps: 1500, learningRate: 2e-3 },
};

const OPTIONS: Options = {
  model: { kind: 'text', default: 'arithmetic-base', choices: Object.keys(RECIPES), help: 'which policy to make' },
  steps: { kind: 'text', default: '', help: `supervised steps (default ${BASE.steps}, or what the model's recipe says)` },
  batch: { kind: 'number', default: String(DEFAULT_WARM_START.batch), help: 'demonstrations a step' },
  lr: { kind: 'text', default: '', help: `learning rate at its peak (default ${BASE.learningRate}, or what the model's recipe says)` },
  seed: { kind: 'number', default: String(DEFAULT_WARM_START.seed), help: 'of weights and demonstrations' },
  engine: { kind: 'text', default: 'cpu', choices: ENGINES, help: 'what computes' },
  out: { kind: 'text', default: '', help: `folder to write to (default ${MODELS}/MODEL)` },
};

main(async () => {
  const values = readOptions('npm run warmstart --', OPTIONS);
  const name = values.text('model');
  const recipe = RECIPES[name];
  if (recipe === undefined) throw new Error(`no recipe for ${name}`);
  const settings: WarmStartSettings = {
    ...DEFAULT_WARM_START,
    steps: values.text('steps') === '' ? recipe.steps : values.number('steps', { whole: true, least: 1 }),
    batch: values.number('batch', { whole: true, least: 1 }),
    learningRate: values.text('lr') === '' ? recipe.learningRate : values.number('lr'),
    seed: values.number('seed', { whole: true, least: 0 }),
  };
  const { checkpoint, tokenizer } = recipe.from === undefined ? drawn(recipe, settings.seed) : await readModel(recipe.from);
  const { config } = checkpoint;
  const [engine, python] = await Promise.all([startEngine(values.text('engine') as EngineName), startPython()]);
  await engine.load(checkpoint);
  const runCalls = environment(python, TOY_LIMITS, recipe.tool);

  const line = new ProgressLine();
  const began = performance.now();
  for await (const { step, report } of warmStart(engine, recipe.suite, tokenizer, runCalls, settings)) {
    line.show(step, settings.steps, `loss ${report.loss.toFixed(4)}, gradient ${report.gradNorm.toFixed(2)}`);
  }
  line.end();
  const seconds = (performance.now() - began) / 1000;
  const result = await evaluate({ engine, tokenizer, suite: recipe.suite, runCalls }, DEFAULT_EVALUATION);
  process.stderr.write(`${resultLine(result)}; ${formatSeconds(seconds)}\n`);

  const { weights, suppressTokens } = await engine.snapshot();
  const folder = values.text('out') === '' ? modelFolder(name) : resolve(values.text('out'));
  await writeModel(folder, { checkpoint: { config, weights, suppressTokens }, tokenizer }, cardOf(name, recipe, config, settings, engine.info.adapter, result));
  process.stderr.write(`written to ${folder}\n`);
  engine.dispose();
  python.dispose();
});

function drawn(recipe: Recipe, seed: number): PolicyFiles {
  const tokenizer = new Tokenizer();
  const config = configOf(tokenizer, recipe);
  return { checkpoint: { config, weights: initialWeights(config, seed), suppressTokens: tokenizer.suppressTokens }, tokenizer };
}

function configOf(tokenizer: Tokenizer, { hidden, heads, intermediate }: Recipe): PolicyConfig {
  return parseConfig({
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    vocab_size: tokenizer.paddedSize,
    hidden_size: hidden,
    intermediate_size: intermediate,
    num_hidden_layers: 2,
    num_attention_heads: heads,
    num_key_value_heads: heads,
    max_position_embeddings: 160,
    rms_norm_eps: 1e-5,
    rope_theta: 10_000,
    tie_word_embeddings: true,
    bos_token_id: tokenizer.id('<bos>'),
    eos_token_id: tokenizer.id('<eos>'),
    pad_token_id: tokenizer.id('<pad>'),
  });
}

const TOOL_NOTES: Readonly<Record<ToolName, string>> = {
  plain: '', terse: ', cut at eight characters', chatty: ', with sixteen random letters after each', flaky: ', and failed 30 % of first calls',
};

function cardOf(name: string, { suite, tool, from }: Recipe, config: PolicyConfig, settings: WarmStartSettings, adapter: string, result: EvaluationResult): string {
  const { steps, batch, learningRate, seed } = settings;
  return `# ${name}

A Llama of ${parameterLayout(config).size.toLocaleString('en')} parameters that reads and writes single characters. It was warm-started on
demonstrations of mixed quality on the suite \`${suite.name}\`, so that reinforcement learning has something to choose
from: some answer directly, some call Python well, some call it with a bug, and some mend the bug. Observations in the
demonstrations came from real Python${TOOL_NOTES[tool]}. The loss covered the policy's tokens only.${from === undefined ? '' : ` It went on from \`${from}\`.`}

Made by \`npm run warmstart -- --model ${name} --steps ${steps} --batch ${batch} --lr ${learningRate} --seed ${seed}\` on ${adapter}.

${resultTable(result)}
`;
}
