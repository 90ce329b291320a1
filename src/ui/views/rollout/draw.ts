/** The distribution that a token was drawn from, as far as the engine was asked for it. Pure; no DOM. */
import type { TokenScores } from '../../../policy/engine.ts';

export interface Choice {
  readonly id: number;
  readonly probability: number;
  readonly drawn: boolean;
}

export interface Draw {
  /** The most probable ids, first of all. */
  readonly choices: readonly Choice[];
  /** The token that stands there; its rank from 1, undefined where it is not among the choices. */
  readonly rank: number | undefined;
  readonly probability: number;
  readonly logProb: number;
  /** In nats. */
  readonly entropy: number;
  /** What all ids beside the choices and the drawn one have together. */
  readonly rest: number;
}

/** Undefined for the first token, which nothing comes before, and where no alternatives were asked for. */
export function drawAt({ logProbs, entropy, alternatives }: TokenScores, tokens: Uint32Array, at: number): Draw | undefined {
  const n = logProbs.length;
  if (alternatives === undefined || at < 1 || at >= n) return undefined;
  const k = alternatives.ids.length / n;
  const drawn = tokens[at] ?? 0;
  const choices = Array.from({ length: k }, (_, i): Choice => {
    const id = alternatives.ids[at * k + i] ?? 0;
    return { id, probability: Math.exp(alternatives.logProbs[at * k + i] ?? NaN), drawn: id === drawn };
  });
  const logProb = logProbs[at] ?? NaN;
  const probability = Math.exp(logProb);
  const place = choices.findIndex((choice) => choice.drawn);
  const shown = choices.reduce((sum, choice) => sum + choice.probability, place < 0 ? probability : 0);
  return { choices, rank: place < 0 ? undefined : place + 1, probability, logProb, entropy: entropy[at] ?? NaN, rest: Math.max(0, 1 - shown) };
}
