/**
 * The law of the next token, on the host in float64: jax-js's `exp` and `log` are good to six and five digits
 * only. `shaders/` holds the twin: both draw the same token from the same logits and the same uniform number.
 */
import { EngineError } from '../engine.ts';

export interface Law {
  readonly temperature: number;
  readonly topK?: number;
  readonly topP?: number;
  /** 1 for ids without mass, by id. */
  readonly excluded: Uint8Array;
}

export interface Draw {
  readonly token: number;
  /** Under the law that sampled; 0 at temperature 0. */
  readonly logProb: number;
}

export function excludedIds(vocab: number, ...lists: readonly (readonly number[])[]): Uint8Array {
  const excluded = new Uint8Array(vocab);
  for (const id of lists.flat()) if (id < vocab) excluded[id] = 1;
  return excluded;
}

/**
 * Draws a token from one row of logits: the smallest id whose cumulative mass, ids ascending, exceeds u times the
 * total. @param uniform in (0, 1). @throws EngineError where the logits are not finite or no id has mass.
 */
export function draw(logits: Float32Array, law: Law, uniform: number): Draw {
  const best = argmax(logits, law.excluded);
  if (law.temperature === 0) return { token: best, logProb: 0 };
  const mass = masses(logits, law, best);
  let total = 0;
  for (const m of mass) total += m;
  if (!Number.isFinite(total)) throw notFinite();
  const target = uniform * total;
  let token = best;
  let cumulative = 0;
  for (let id = 0; id < mass.length; id++) {
    const m = mass[id] ?? 0;
    if (m === 0) continue;
    cumulative += m;
    token = id;
    if (cumulative > target) break;
  }
  return { token, logProb: Math.log((mass[token] ?? 0) / total) };
}

/** exp((logit − max) / temperature), 0 for ids that are excluded or cut by top-k or top-p. */
function masses(logits: Float32Array, { temperature, topK, topP, excluded }: Law, best: number): Float64Array {
  const mass = new Float64Array(logits.length);
  const top = logits[best] ?? 0;
  for (let id = 0; id < mass.length; id++) {
    if (excluded[id] === 0) mass[id] = Math.exp(((logits[id] ?? 0) - top) / temperature);
  }
  if (topK === undefined && topP === undefined) return mass;

  const byLogit = Array.from(mass.keys())
    .filter((id) => excluded[id] === 0)
    .sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
  const kept = byLogit.slice(0, cut(byLogit, logits, (rank) => rank < (topK ?? Infinity)));
  const total = kept.reduce((sum, id) => sum + (mass[id] ?? 0), 0);
  let above = 0;
  const last = cut(kept, logits, (_, group) => {
    const keep = above < (topP ?? Infinity) * total;
    above += group.reduce((sum, id) => sum + (mass[id] ?? 0), 0);
    return keep;
  });
  for (const id of [...kept.slice(last), ...byLogit.slice(kept.length)]) mass[id] = 0;
  return mass;
}

/** How many of the sorted ids to keep, in groups of equal logit: ties stay or go together. */
function cut(sorted: readonly number[], logits: Float32Array, keep: (rank: number, group: readonly number[]) => boolean): number {
  for (let rank = 0; rank < sorted.length; ) {
    let end = rank + 1;
    while (end < sorted.length && logits[sorted[end] ?? 0] === logits[sorted[rank] ?? 0]) end++;
    if (!keep(rank, sorted.slice(rank, end))) return rank;
    rank = end;
  }
  return sorted.length;
}

function argmax(logits: Float32Array, excluded: Uint8Array): number {
  let best = -1;
  let top = -Infinity;
  for (let id = 0; id < logits.length; id++) {
    const logit = logits[id] ?? 0;
    if (excluded[id] !== 0) continue;
    if (Number.isNaN(logit)) throw notFinite();
    if (logit > top) {
      top = logit;
      best = id;
    }
  }
  if (best < 0) throw new EngineError('every id of the vocabulary is suppressed or banned', 'invalid');
  return best;
}

function notFinite(): EngineError {
  return new EngineError("the policy's logits are not finite: its weights have diverged", 'internal');
}

/** What one row of logits says about its next token. */
export interface Verdict {
  readonly logProb: number;
  /** In nats. */
  readonly entropy: number;
}

/** Log-probability of `token` and the entropy of the law, without top-k or top-p. */
export function judge(logits: Float32Array, { temperature, excluded }: Law, token: number): Verdict {
  const top = logits[argmax(logits, excluded)] ?? 0;
  let total = 0;
  let weighted = 0;
  for (let id = 0; id < logits.length; id++) {
    if (excluded[id] !== 0) continue;
    const shifted = ((logits[id] ?? 0) - top) / temperature;
    const mass = Math.exp(shifted);
    total += mass;
    weighted += mass === 0 ? 0 : mass * shifted;
  }
  const logTotal = Math.log(total);
  const logProb = excluded[token] === 0 ? ((logits[token] ?? 0) - top) / temperature - logTotal : -Infinity;
  return { logProb, entropy: logTotal - weighted / total };
}

/** The `count` most probable ids, ties by id, with their log-probabilities. Excluded ids come last, at −∞. */
export function mostProbable(logits: Float32Array, law: Law, count: number): { ids: Uint32Array; logProbs: Float32Array } {
  const rank = (id: number): number => (law.excluded[id] === 0 ? (logits[id] ?? 0) : -Infinity);
  const ids = Array.from(logits.keys())
    .sort((a, b) => rank(b) - rank(a) || a - b)
    .slice(0, count);
  const [first] = ids;
  if (first === undefined) return { ids: new Uint32Array(), logProbs: new Float32Array() };
  const { logProb } = judge(logits, law, first);
  const top = rank(first);
  return { ids: Uint32Array.from(ids), logProbs: Float32Array.from(ids, (id) => logProb + (rank(id) - top) / law.temperature) };
}
