/**
 * Writes down what an engine computes, for the Python scripts beside this file to check against `transformers`
 * and torch: log-probabilities of whole rows, and a GRPO update with its gradient.
 *
 *     node scripts/cli.mjs reference/dump.ts --out DIR [--model DIR] [--engine cpu|webgpu]
 *
 * Without --model it makes a policy of random weights with what the shipped ones do not have: grouped queries,
 * three layers, a head of its own. Either way the checkpoint lies in DIR/model afterwards.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readModel } from '../src/cli/models.ts';
import { startEngine } from '../src/policy/start.node.ts';
import { encodePolicy, type PolicyFiles } from '../src/policy/checkpoint.ts';
import { parseConfig } from '../src/policy/config.ts';
import type { AdamW, Objective, UpdateRow, UpdateTokens } from '../src/policy/engine.ts';
import { initialWeights } from '../src/policy/initialise.ts';
import { Random } from '../src/policy/random.ts';
import { Tokenizer } from '../src/policy/tokenizer.ts';

/** With what a tokenizer can get wrong: tags, white space, characters that it does not know. */
const TEXTS = [
  '<bos>37*42<think>product: use code</think><python>print(37*42)</python><output>1554</output><answer>1554</answer><eos>',
  '<bos>5+4<think>tiny: easy</think><answer>9</answer><eos>',
  '<bos>(12+30)*7-5<think>mixed: use code</think><python>show((12+30)*7-5)</python><output>NameError: name \'show\' is not defined</output>',
  '<bos>  two  spaces,\nnew lines\n\n and < > </ pyth<on>on> <think> ',
  'é ∫ 中文 😀 \t end',
];
const TEMPERATURES = [1, 0.7];
const OPTIMIZER: AdamW = { learningRate: 1e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 0.5 };
const OBJECTIVE: Objective = { kind: 'grpo', epsilonLow: 0.2, epsilonHigh: 0.28, beta: 0.05 };

const { values } = parseArgs({
  options: { out: { type: 'string' }, model: { type: 'string' }, engine: { type: 'string', default: 'cpu' } },
});
if (values.out === undefined) throw new Error('--out DIR is missing');
const folder = values.out;

const files = values.model === undefined ? randomPolicy() : await readModel(values.model);
mkdirSync(join(folder, 'model'), { recursive: true });
for (const [name, bytes] of Object.entries(encodePolicy(files))) writeFileSync(join(folder, 'model', name), bytes);

const { checkpoint, tokenizer } = files;
const engine = await startEngine(values.engine);
await engine.load(checkpoint);
const rows = TEXTS.map((text) => tokenizer.encode(text)).filter((row) => row.length > 1);
const random = new Random(1, 0xd0);

const scores = [];
for (const temperature of TEMPERATURES) {
  const scored = await engine.score({ rows, temperature, alternatives: checkpoint.config.vocab_size });
  scores.push({ temperature, rows: scored.map(({ logProbs, entropy, alternatives }) => ({
    logProbs: numbers(logProbs), entropy: numbers(entropy),
    ids: [...(alternatives?.ids ?? [])], alternatives: numbers(alternatives?.logProbs ?? []),
  })) });
}

const temperature = 0.8;
const scored = await engine.score({ rows, temperature });
const updateRows = rows.map((tokens, i) => updateRow(tokens, scored[i]?.logProbs ?? new Float32Array()));
const request = { rows: updateRows, objective: OBJECTIVE, temperature };
const report = await engine.gradients(request);
const updated = await engine.update(request, OPTIMIZER);
const after = await engine.snapshot();

writeFileSync(join(folder, 'engine.json'), JSON.stringify({
  engine: engine.info,
  texts: TEXTS.map((text) => ({ text, ids: [...tokenizer.encode(text)], plain: [...tokenizer.encodePlain(text)], decoded: tokenizer.decode(tokenizer.encode(text)) })),
  rows: rows.map((row) => [...row]),
  suppressTokens: checkpoint.suppressTokens,
  scores,
  update: {
    temperature, objective: OBJECTIVE, optimizer: OPTIMIZER,
    rows: updateRows.map(({ weights, advantages, oldLogProbs, referenceLogProbs }) => ({
      weights: numbers(weights), advantages: numbers(advantages ?? []), oldLogProbs: numbers(oldLogProbs ?? []),
      referenceLogProbs: numbers(referenceLogProbs ?? []),
    })),
    loss: report.loss, gradNorm: report.gradNorm, gradient: numbers(report.gradient), tokens: report.rows.map(tokensOf),
    applied: updated.applied, weights: numbers(after.weights),
  },
}));
engine.dispose();
console.log(`${engine.info.adapter}: ${rows.length} rows, ${checkpoint.weights.length} weights, written to ${folder}`);

function randomPolicy(): PolicyFiles {
  const tokenizer = new Tokenizer();
  const config = parseConfig({
    model_type: 'llama', vocab_size: tokenizer.paddedSize, hidden_size: 48, intermediate_size: 80, num_hidden_layers: 3,
    num_attention_heads: 6, num_key_value_heads: 2, max_position_embeddings: 160, rms_norm_eps: 1e-5, rope_theta: 10_000,
    tie_word_embeddings: false, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
  });
  return { checkpoint: { config, weights: initialWeights(config, 7), suppressTokens: tokenizer.suppressTokens }, tokenizer };
}

/**
 * A row with everything that an update can meet: tokens out of the loss, advantages of both signs, ratios on both
 * sides of the clip, a reference that differs.
 */
function updateRow(tokens: Uint32Array, logProbs: Float32Array): UpdateRow {
  const near = (spread: number): Float32Array => logProbs.map((lp) => lp + spread * random.normal());
  return {
    tokens,
    weights: Float32Array.from(tokens, (_, t) => (t === 0 || random.next() < 0.3 ? 0 : random.next() / tokens.length)),
    advantages: Float32Array.from(tokens, () => random.normal()),
    oldLogProbs: near(0.3),
    referenceLogProbs: near(0.5),
  };
}

function tokensOf(row: UpdateTokens): Record<keyof UpdateTokens, (number | null)[]> {
  return {
    logProbs: numbers(row.logProbs), entropy: numbers(row.entropy), ratio: numbers(row.ratio), kl: numbers(row.kl),
    clipped: numbers(row.clipped), dLogProb: numbers(row.dLogProb), gradient: numbers(row.gradient),
  };
}

/** JSON has neither NaN nor infinities: null stands for both. */
function numbers(values: Iterable<number>): (number | null)[] {
  return Array.from(values, (x) => (Number.isFinite(x) ? x : null));
}
