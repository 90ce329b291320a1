/**
 * The numeric gate before the engine is used: one tiny policy scores, samples, and takes one step of GRPO, and all of
 * it is held against float64 numbers that ship with the page (`self-test-reference.ts`, written by
 * `npx tsx src/policy/webgpu/self-test.node.ts`). Drivers that miscalculate exist; a wrong gradient looks like training.
 */
import { parameterLayout, parseConfig } from '../config.ts';
import { EngineError, type AdamW, type Checkpoint, type Objective, type PolicyEngine, type SampleRequest, type UpdateRequest } from '../engine.ts';
import { Random } from '../random.ts';
import { SELF_TEST_REFERENCE } from './self-test-reference.ts';

/** What the reference holds. */
export interface SelfTestReference {
  /** Log-probabilities of the rows' tokens from index 1 on, one row after the other. */
  readonly logProbs: readonly number[];
  readonly loss: number;
  /** Laid out like the weights. */
  readonly gradient: readonly number[];
  /** New tokens of `SELF_TEST.sample`, row by row. */
  readonly drawn: readonly (readonly number[])[];
}

const objective: Objective = { kind: 'grpo', epsilonLow: 0.2, epsilonHigh: 0.2, beta: 0.1 };

/** A head of 16 as in the policies that ship: the same pipelines serve both, and are compiled once. */
const config = parseConfig({
  model_type: 'llama', vocab_size: 12, hidden_size: 8, intermediate_size: 8, num_hidden_layers: 1, num_attention_heads: 2,
  num_key_value_heads: 1, head_dim: 16, max_position_embeddings: 16, rms_norm_eps: 1e-5, rope_theta: 10_000,
  tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
});

function weights(): Float32Array {
  const random = new Random(2025);
  const layout = parameterLayout(config);
  const all = new Float32Array(layout.size);
  for (const { shape, offset, size } of layout.slices) {
    const [, columns] = shape;
    for (let i = 0; i < size; i++) {
      all[offset + i] = columns === undefined ? 1 + 0.2 * random.normal() : random.normal() / Math.sqrt(columns);
    }
  }
  return all;
}

const rows = [[1, 5, 7, 3, 9, 4, 8, 2], [1, 6, 6, 10, 2]].map((ids) => Uint32Array.from(ids));

export const SELF_TEST = {
  checkpoint: { config, weights: weights(), suppressTokens: [0, 11] } satisfies Checkpoint,
  rows,
  /** @param logProbs as in the reference: the old policy is a little away from it, on both sides of the clip. */
  update(logProbs: readonly number[]): UpdateRequest {
    let at = 0;
    return {
      temperature: 1,
      objective,
      rows: rows.map((tokens) => {
        const own = Float32Array.from(tokens, (_, t) => (t === 0 ? 0 : logProbs[at++] ?? 0));
        return {
          tokens,
          weights: Float32Array.from(tokens, (_, t) => (t % 4 === 2 ? 0 : 0.1)),
          advantages: Float32Array.from(tokens, (_, t) => (t % 2 === 0 ? 1 : -0.7)),
          oldLogProbs: own.map((logProb, t) => logProb + 0.3 * Math.sin(3 * t)),
          referenceLogProbs: own.map((logProb, t) => logProb + 0.5 * Math.cos(2 * t)),
        };
      }),
    };
  },
  sample: {
    rows: rows.map((tokens, stream) => ({ tokens: tokens.slice(0, 3 - stream), stream })),
    seed: 11, step: 3, temperature: 1, stopTokens: [], maxLength: 10,
  } satisfies SampleRequest,
};

/** Epsilon is large, so that the step is a smooth function of the gradient. */
const ADAMW: AdamW = { learningRate: 0.01, beta1: 0.9, beta2: 0.99, epsilon: 0.05, weightDecay: 0.1, maxGradNorm: 0.5 };

const TOLERANCE = 1e-3;

/** Leaves the tiny policy loaded. @throws EngineError `unsupported`, in words for a visitor, where a number is off. */
export async function runSelfTest(engine: PolicyEngine, expected: SelfTestReference = SELF_TEST_REFERENCE): Promise<void> {
  const check = (what: string, actual: ArrayLike<number>, wanted: ArrayLike<number>): void => {
    for (let i = 0; i < Math.max(actual.length, wanted.length); i++) {
      const [a, b] = [actual[i] ?? NaN, wanted[i] ?? NaN];
      if (!(Math.abs(a - b) <= TOLERANCE * Math.max(1, Math.abs(b)))) {
        throw new EngineError(
          `The GPU computes wrong numbers: ${what} of the start-up test should be ${b.toPrecision(5)}, not ${a.toPrecision(5)}.`,
          'unsupported',
        );
      }
    }
  };
  await engine.load(SELF_TEST.checkpoint);
  const scores = await engine.score({ rows, temperature: 1 });
  check('a log-probability', scores.flatMap(({ logProbs }) => [...logProbs.slice(1)]), expected.logProbs);
  const sampled = await engine.continue(SELF_TEST.sample);
  for (const [i, row] of sampled.rows.entries()) check('a sampled token', row.tokens, expected.drawn[i] ?? []);
  const request = SELF_TEST.update(expected.logProbs);
  const report = await engine.update(request, ADAMW);
  const norm = Math.hypot(...expected.gradient);
  check('the loss', [report.loss], [expected.loss]);
  check('the norm of the gradient', [report.gradNorm], [norm]);
  const after = await engine.snapshot();
  const scale = Math.min(1, ADAMW.maxGradNorm / norm);
  const decayed = new Float32Array(after.weights.length);
  for (const slice of parameterLayout(config).slices) if (slice.decayed) decayed.fill(1, slice.offset, slice.offset + slice.size);
  // At its first step Adam's corrected moments are the gradient and its square.
  const change = expected.gradient.map((raw, i) => {
    const g = raw * scale;
    return -g / (Math.abs(g) + ADAMW.epsilon) - ADAMW.weightDecay * (decayed[i] ?? 0) * (SELF_TEST.checkpoint.weights[i] ?? NaN);
  });
  const actual = after.weights.map((w, i) => (w - (SELF_TEST.checkpoint.weights[i] ?? NaN)) / ADAMW.learningRate);
  check('an updated weight', actual, change);
}
