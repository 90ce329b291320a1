/**
 * Loss and gradient of a batch by jax-js's own autodiff: the oracle against which other gradients are checked.
 * One jitted function a shape gives the gradient and every per-token number of the report, from one computation.
 */
import { lax, numpy as np, vjp } from '@jax-js/jax';
import { parameterLayout } from '../config.ts';
import type { Objective, UpdateRow, UpdateTokens } from '../engine.ts';
import { addGradients, download, forward, gather, MASKED, tensor, type Resident, type Tensor } from './model.ts';
import type { Programs } from './programs.ts';
import type { Backward, Chunk } from './protocol.ts';
import { bucket } from './shapes.ts';

/** Log-ratios and log-differences are clamped to ±20 before `exp`. */
const CLAMP = 20;

/** One chunk on the device. Those without a shape are [M]. */
type Inputs = {
  x: Tensor;
  cos: Tensor;
  sin: Tensor;
  mask: Tensor;
  /** [M, 1]: the id that each position predicts. */
  targets: Tensor;
  /** [vocab]: 0, 1, 2, … */
  ids: Tensor;
  /** [vocab]: MASKED for suppressed ids, else 0. */
  suppressed: Tensor;
  weights: Tensor;
  advantages: Tensor;
  oldLogProbs: Tensor;
  referenceLogProbs: Tensor;
  /** [1] each. */
  inverseTemperature: Tensor;
  low: Tensor;
  high: Tensor;
  beta: Tensor;
};

/** Per token, [M] each. */
type PerToken = {
  loss: Tensor;
  logProbs: Tensor;
  entropy: Tensor;
  ratio: Tensor;
  kl: Tensor;
  clipped: Tensor;
  dLogProb: Tensor;
  gradient: Tensor;
};

type Ratios = Pick<PerToken, 'ratio' | 'kl' | 'clipped'>;

type Outputs = { dWeights: Tensor[]; dx: Tensor; perToken: PerToken };

/** Loss, gradient and report of the chunks' rows, under the law at this temperature. */
export function backward(
  programs: Programs, { device, host }: Resident, chunks: readonly Chunk<UpdateRow>[], objective: Objective, temperature: number,
): Backward {
  const { config } = programs;
  const gradient = new Float32Array(parameterLayout(config).size);
  const rows: UpdateTokens[] = [];
  let loss = 0;
  for (const chunk of chunks) {
    const T = bucket(Math.max(...chunk.rows.map((row) => row.tokens.length - 1)));
    const tokens = new Uint32Array(chunk.size * T);
    for (const [r, row] of chunk.rows.entries()) tokens.set(row.tokens.subarray(0, -1), r * T);
    const { kind } = objective;
    const program = programs.get(`${kind} ${chunk.size} × ${T}`, (weights, inputs: Inputs) => trainingStep(programs, kind, T, weights, inputs));
    const { dWeights, dx, perToken } = program(
      device.map((w) => w.ref),
      upload(programs, host, chunk, tokens, objective, temperature),
    );
    addGradients(config, dWeights.map(download), gradient);
    scatterAdd(tokens, download(dx), gradient);
    const values = Object.fromEntries(Object.entries(perToken).map(([name, value]) => [name, download(value)])) as Record<keyof PerToken, Float32Array>;
    for (const value of values.loss) loss += value;
    for (const [r, row] of chunk.rows.entries()) rows.push(report(row, objective, values, r * T));
  }
  return { loss, gradient, rows };
}

/** @param tokens [M]: the inputs, padded. */
function upload(
  programs: Programs, host: Float32Array, { rows, size }: Chunk<UpdateRow>, tokens: Uint32Array, objective: Objective, temperature: number,
): Inputs {
  const { config, suppressTokens } = programs;
  const { vocab_size: vocab, hidden_size: d } = config;
  const M = tokens.length;
  const T = M / size;
  const targets = new Float32Array(M);
  for (const [r, row] of rows.entries()) targets.set(row.tokens.subarray(1), r * T);
  const suppressed = new Float32Array(vocab);
  for (const id of suppressTokens) if (id < vocab) suppressed[id] = MASKED;
  // A masked token may hold anything, also NaN: nothing of it reaches the device.
  const perToken = (pick: (row: UpdateRow) => Float32Array | undefined): Tensor => {
    const out = new Float32Array(M);
    for (const [r, row] of rows.entries()) {
      const values = pick(row);
      if (values === undefined) continue;
      for (let t = 1; t < row.tokens.length; t++) if (row.weights[t] !== 0) out[r * T + t - 1] = values[t] ?? 0;
    }
    return tensor(out, [M]);
  };
  const scalar = (value: number): Tensor => tensor(Float32Array.of(value), [1]);
  const { epsilonLow, epsilonHigh, beta } = objective.kind === 'grpo' ? objective : { epsilonLow: 0, epsilonHigh: 0, beta: 0 };
  return {
    ...programs.tablesOf(T),
    x: tensor(gather(host, d, tokens), [M, d]),
    targets: tensor(targets, [M, 1]),
    ids: tensor(Float32Array.from({ length: vocab }, (_, id) => id), [vocab]),
    suppressed: tensor(suppressed, [vocab]),
    weights: perToken((row) => row.weights),
    advantages: perToken((row) => row.advantages),
    oldLogProbs: perToken((row) => row.oldLogProbs),
    // Without a KL term the reference is only reported on; a token that it never scored must not spoil the loss.
    referenceLogProbs: perToken((row) => (beta === 0 ? row.referenceLogProbs?.map((lp) => lp || 0) : row.referenceLogProbs)),
    inverseTemperature: scalar(1 / temperature),
    low: scalar(1 - epsilonLow),
    high: scalar(1 + epsilonHigh),
    beta: scalar(beta),
  };
}

/** The whole chain from weights to loss and back. Consumes all. */
function trainingStep(programs: Programs, kind: Objective['kind'], length: number, weights: Tensor[], inputs: Inputs): Outputs {
  const { cos, sin, mask, targets, ids, suppressed, inverseTemperature } = inputs;
  const [logits, pullModel] = vjp(
    (w: Tensor[], x: Tensor) => forward(programs.config, length, w, x, { cos, sin, mask }),
    [weights, inputs.x],
  );
  const isTarget = np.equal(targets, ids);
  const [logProbs, pullLaw, entropy] = vjp(
    (l: Tensor): [Tensor, Tensor] => lawOf(l.add(suppressed).mul(inverseTemperature), isTarget),
    [logits],
    { hasAux: true },
  );
  const [loss, pullLoss, { ratio, kl, clipped }] = vjp(
    (lp: Tensor): [Tensor, Ratios] => {
      const [each, ratios] = kind === 'grpo' ? grpoLoss(lp, inputs) : supervisedLoss(lp, inputs);
      return [each.mul(inputs.weights), ratios];
    },
    [logProbs.ref],
    { hasAux: true },
  );
  const [dLogProb] = pullLoss(np.onesLike(loss.ref));
  const [dLogits] = pullLaw(dLogProb.ref);
  const [dWeights, dx] = pullModel(dLogits.ref);

  const gradient = np.sqrt(np.sum(dLogits.ref.mul(dLogits), -1));
  return { dWeights, dx, perToken: { loss, logProbs, entropy, ratio, kl, clipped, dLogProb, gradient } };
}

/** −min(ρA, clip(ρ)A) + β·k3, as `Objective` words it. */
function grpoLoss(logProbs: Tensor, { advantages: A, oldLogProbs, referenceLogProbs, low, high, beta }: Inputs): [Tensor, Ratios] {
  const ratio = np.exp(clamp(logProbs.ref.sub(oldLogProbs), -CLAMP, CLAMP));
  const surrogate = np.minimum(ratio.ref.mul(A.ref), clamp(ratio.ref, low.ref, high.ref).mul(A.ref));
  const difference = clamp(referenceLogProbs.sub(logProbs), -CLAMP, CLAMP);
  const kl = np.exp(difference.ref).sub(difference).sub(1);
  const above = np.where(np.greater(ratio.ref, high), 1, 0);
  const below = np.where(np.less(ratio.ref, low), 1, 0);
  const clipped = np.where(np.greater(A.ref, 0), above, np.where(np.less(A, 0), below, 0));
  return [kl.ref.mul(beta).sub(surrogate), { ratio, kl, clipped }];
}

function supervisedLoss(logProbs: Tensor, { advantages, oldLogProbs, referenceLogProbs, low, high, beta }: Inputs): [Tensor, Ratios] {
  for (const unused of [advantages, oldLogProbs, referenceLogProbs, low, high, beta]) unused.dispose();
  const none = np.zerosLike(logProbs.ref);
  return [logProbs.mul(-1), { ratio: none.ref, kl: none.ref, clipped: none }];
}

function clamp(x: Tensor, low: Tensor | number, high: Tensor | number): Tensor {
  return np.minimum(np.maximum(x, low), high);
}

/** Log-probability of the target and entropy of the law of each row of scaled logits. */
function lawOf(scaled: Tensor, isTarget: Tensor): [Tensor, Tensor] {
  const shifted = scaled.ref.sub(lax.stopGradient(np.max(scaled, -1, { keepdims: true })));
  const mass = np.exp(shifted.ref);
  const total = np.sum(mass.ref, -1);
  const weighted = np.sum(mass.mul(shifted.ref), -1);
  // `log` alone is good to five digits; a Newton step makes it as good as `exp`.
  const rough = np.log(total.ref);
  const logTotal = rough.ref.add(total.ref.mul(np.exp(rough.mul(-1)))).sub(1);
  const entropy = logTotal.ref.sub(weighted.mul(np.reciprocal(total)));
  return [np.sum(np.where(isTarget, shifted, 0), -1).sub(logTotal), entropy];
}

/** dLoss/dx of each position goes to the row of the embedding that it was read from. */
function scatterAdd(tokens: Uint32Array, dx: Float32Array, gradient: Float32Array): void {
  const d = dx.length / tokens.length;
  for (const [i, token] of tokens.entries()) {
    for (let j = 0; j < d; j++) gradient[token * d + j] = (gradient[token * d + j] ?? 0) + (dx[i * d + j] ?? 0);
  }
}

/** The numbers of one row, from position `at` on: token t was predicted at t − 1. */
function report(row: UpdateRow, objective: Objective, values: Record<keyof PerToken, Float32Array>, at: number): UpdateTokens {
  const n = row.tokens.length;
  const grpo = objective.kind === 'grpo';
  const column = (name: keyof PerToken, known = true): Float32Array =>
    Float32Array.from({ length: n }, (_, t) => (known && t > 0 && row.weights[t] !== 0 ? (values[name][at + t - 1] ?? NaN) : NaN));
  const zeroed = (name: keyof PerToken): Float32Array => column(name).map((value) => (Number.isNaN(value) ? 0 : value));
  return {
    logProbs: column('logProbs'),
    entropy: column('entropy'),
    ratio: column('ratio', grpo),
    kl: column('kl', grpo).map((kl, t) => (Number.isNaN(row.referenceLogProbs?.[t] ?? NaN) ? NaN : kl)),
    clipped: Uint8Array.from(zeroed('clipped')),
    dLogProb: zeroed('dLogProb'),
    gradient: zeroed('gradient'),
  };
}
