/** From rows of tokens to what the kernels read (items end to end, and the order of equal ids), and back from their results. */
import { EngineError, type Objective, type TokenScores, type UpdateRow, type UpdateTokens } from '../engine.ts';
import { packWords } from './gpu.ts';
import { ITEM_WORDS, RESULT_WORDS, type TrainingPlan } from './training.ts';

/** A row of a batch, with what is asked about its tokens where it is for training. */
export interface PackedRow {
  readonly tokens: Uint32Array;
  readonly update?: UpdateRow;
}

/** Cuts rows into batches of at most `limit` tokens, in order. */
export function microBatches<Row extends { readonly tokens: Uint32Array }>(rows: readonly Row[], limit: number): Row[][] {
  const batches: Row[][] = [];
  let [batch, left] = [[] as Row[], 0];
  for (const row of rows) {
    if (row.tokens.length > left) {
      batches.push((batch = []));
      left = limit;
    }
    batch.push(row);
    left -= row.tokens.length;
  }
  return batches;
}

export function countTokens(rows: readonly { readonly tokens: Uint32Array }[]): number {
  return rows.reduce((sum, { tokens }) => sum + tokens.length, 0);
}

/** The contents of a plan's `inputs` for one batch. */
export function packInputs(
  rows: readonly PackedRow[],
  { parts, vocab, splits, temperature, objective, alternatives = 0 }: {
    readonly parts: TrainingPlan['parts']; readonly vocab: number; readonly splits: number; readonly temperature: number;
    readonly objective: Objective | undefined; readonly alternatives?: number;
  },
): ArrayBuffer {
  const count = countTokens(rows);
  const data = new ArrayBuffer(parts.size);
  const grpo = objective?.kind === 'grpo' ? objective : undefined;
  const split = Math.ceil(count / splits / 4) * 4;
  new Uint8Array(data).set(new Uint8Array(packWords([
    count, split, objective === undefined ? 0 : grpo === undefined ? 1 : 2, alternatives, { f32: temperature },
    { f32: grpo?.epsilonLow ?? 0 }, { f32: grpo?.epsilonHigh ?? 0 }, { f32: grpo?.beta ?? 0 },
  ])));

  const words = new Uint32Array(data, parts.items, ITEM_WORDS * count);
  const floats = new Float32Array(data, parts.items, ITEM_WORDS * count);
  const perId = new Uint32Array(vocab + 1);
  let first = 0;
  for (const { tokens, update } of rows) {
    for (const [t, token] of tokens.entries()) {
      const at = ITEM_WORDS * (first + t);
      words.set([token, t, first, first + tokens.length, tokens[t + 1] ?? 0], at);
      perId[token + 1] = (perId[token + 1] ?? 0) + 1;
      const weight = update?.weights[t + 1] ?? 0;
      if (update === undefined || weight === 0) continue;
      const asked = grpo === undefined
        ? [0, 0]
        : [update.advantages?.[t + 1] ?? NaN, update.oldLogProbs?.[t + 1] ?? NaN];
      const reference = grpo === undefined ? undefined : update.referenceLogProbs?.[t + 1];
      const numbers = reference === undefined ? asked : [...asked, reference];
      words[at + 5] = reference === undefined ? 1 : 3;
      // What is not finite must stop the step; a clamp on the GPU may swallow it, a product with NaN does not.
      floats.set([numbers.every(Number.isFinite) ? weight : NaN, ...asked, reference ?? 0], at + 6);
    }
    first += tokens.length;
  }

  const starts = new Uint32Array(data, parts.starts, vocab + 1);
  for (let id = 0; id < vocab; id++) starts[id + 1] = (starts[id] ?? 0) + (perId[id + 1] ?? 0);
  const next = starts.slice(0, vocab);
  const order = new Uint32Array(data, parts.order, count);
  for (let i = 0; i < count; i++) {
    const id = words[ITEM_WORDS * i] ?? 0;
    const to = next[id] ?? 0;
    order[to] = i;
    next[id] = to + 1;
  }
  return data;
}

/** @throws EngineError `invalid` where an array of a row is missing or of the wrong length. */
export function checkUpdateRows(rows: readonly UpdateRow[], objective: Objective): void {
  for (const [i, row] of rows.entries()) {
    const arrays: [name: string, array: Float32Array | undefined][] = [['weights', row.weights]];
    if (objective.kind === 'grpo') {
      arrays.push(['advantages', row.advantages], ['oldLogProbs', row.oldLogProbs]);
      if (objective.beta > 0 || row.referenceLogProbs !== undefined) arrays.push(['referenceLogProbs', row.referenceLogProbs]);
    }
    for (const [name, array] of arrays) {
      if (array?.length !== row.tokens.length) {
        throw new EngineError(`row ${i}: ${name} needs one number for each of ${row.tokens.length} tokens`, 'invalid');
      }
    }
  }
}

/** The results of an item are about the token after it. */
export function unpackUpdate(row: UpdateRow, data: Float32Array, first: number, objective: Objective): UpdateTokens {
  const n = row.tokens.length;
  const blank = (): Float32Array => new Float32Array(n).fill(NaN);
  const tokens = {
    logProbs: blank(), entropy: blank(), ratio: blank(), kl: blank(), clipped: new Uint8Array(n), dLogProb: new Float32Array(n),
    gradient: new Float32Array(n),
  };
  for (let t = 1; t < n; t++) {
    if (row.weights[t] === 0) continue;
    const [logProb = NaN, entropy = NaN, ratio = NaN, kl = NaN, clipped = 0, dLogProb = NaN, gradient = NaN] =
      data.subarray(first + (t - 1) * RESULT_WORDS, first + t * RESULT_WORDS);
    tokens.logProbs[t] = logProb;
    tokens.entropy[t] = entropy;
    if (objective.kind === 'grpo') tokens.ratio[t] = ratio;
    if (objective.kind === 'grpo' && row.referenceLogProbs !== undefined) tokens.kl[t] = kl;
    tokens.clipped[t] = clipped;
    tokens.dLogProb[t] = dLogProb;
    tokens.gradient[t] = gradient;
  }
  return tokens;
}

/** Scores of each row; `best` is the byte at which the alternatives begin, k of them an item. */
export function unpackScores(rows: readonly PackedRow[], data: ArrayBuffer, best: number, k: number | undefined): TokenScores[] {
  const results = new Float32Array(data, 0, best / 4);
  const bestIds = new Uint32Array(data, best);
  const bestLogProbs = new Float32Array(data, best);
  let first = 0;
  return rows.map(({ tokens }) => {
    const n = tokens.length;
    const logProbs = new Float32Array(n).fill(NaN);
    const entropy = new Float32Array(n).fill(NaN);
    const ids = new Uint32Array(n * (k ?? 0));
    const idLogProbs = new Float32Array(n * (k ?? 0)).fill(NaN);
    for (let t = 1; t < n; t++) {
      const item = first + t - 1;
      logProbs[t] = results[item * RESULT_WORDS] ?? NaN;
      entropy[t] = results[item * RESULT_WORDS + 1] ?? NaN;
      for (let i = 0; i < (k ?? 0); i++) {
        const at = 2 * (item * (k ?? 0) + i);
        ids[t * (k ?? 0) + i] = bestIds[at] ?? 0;
        idLogProbs[t * (k ?? 0) + i] = bestLogProbs[at + 1] ?? NaN;
      }
    }
    first += n;
    return { logProbs, entropy, ...(k === undefined ? {} : { alternatives: { ids, logProbs: idLogProbs } }) };
  });
}
