/** Log-probabilities and entropies of whole rows: logits from jax-js, the law in float64 on the host. */
import type { TokenScores } from '../engine.ts';
import { download, forward, gather, tensor, type Resident, type Tables, type Tensor } from './model.ts';
import type { Programs } from './programs.ts';
import type { Chunk } from './protocol.ts';
import { excludedIds, judge, mostProbable, type Law } from './sampling.ts';
import { bucket } from './shapes.ts';

type Inputs = { x: Tensor } & Record<keyof Tables, Tensor>;

/** Scores in the order of the chunks' rows. */
export function score(
  programs: Programs, { device, host }: Resident, chunks: readonly Chunk<Uint32Array>[], temperature: number, alternatives: number,
): TokenScores[] {
  const { config, suppressTokens } = programs;
  const { vocab_size: vocab, hidden_size: d } = config;
  const law: Law = { temperature, excluded: excludedIds(vocab, suppressTokens) };
  return chunks.flatMap(({ rows, size }) => {
    const T = bucket(Math.max(...rows.map((row) => row.length - 1)));
    const tokens = new Uint32Array(size * T);
    for (const [r, row] of rows.entries()) tokens.set(row.subarray(0, -1), r * T);
    const program = programs.get(`forward ${size} × ${T}`, (weights, { x, ...tables }: Inputs) => forward(config, T, weights, x, tables));
    const x = tensor(gather(host, d, tokens), [tokens.length, d]);
    const logits = download(program(device.map((w) => w.ref), { ...programs.tablesOf(T), x }));
    return rows.map((row, r) => scoreRow(row, logits.subarray(r * T * vocab, (r + 1) * T * vocab), law, alternatives));
  });
}

/** @param logits [positions, vocab]: those at t − 1 describe token t. */
function scoreRow(tokens: Uint32Array, logits: Float32Array, law: Law, alternatives: number): TokenScores {
  const n = tokens.length;
  const vocab = law.excluded.length;
  const logProbs = new Float32Array(n).fill(NaN);
  const entropy = new Float32Array(n).fill(NaN);
  const k = Math.min(alternatives, vocab);
  const others = { ids: new Uint32Array(n * k), logProbs: new Float32Array(n * k).fill(NaN) };
  for (let t = 1; t < n; t++) {
    const row = logits.subarray((t - 1) * vocab, t * vocab);
    const verdict = judge(row, law, tokens[t] ?? 0);
    logProbs[t] = verdict.logProb;
    entropy[t] = verdict.entropy;
    if (k === 0) continue;
    const best = mostProbable(row, law, k);
    others.ids.set(best.ids, t * k);
    others.logProbs.set(best.logProbs, t * k);
  }
  return { logProbs, entropy, ...(k > 0 ? { alternatives: others } : {}) };
}
