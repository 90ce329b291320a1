/** Two texts on one question, and what two policies think of each. Pure. */
import type { ScoredTrajectory, TrainedTrajectory } from '../../../grpo/record.ts';
import type { TokenScores } from '../../../policy/engine.ts';
import { POLICY } from '../../../rollout/trajectory.ts';

/** How many first tokens two texts have in common. */
export function sharedTokens(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

/** As the strip draws it: what the policy wrote would be in the loss, the rest is context. No update was made. */
export function asTrained(trajectory: ScoredTrajectory): TrainedTrajectory {
  return { ...trajectory, weights: Float32Array.from(trajectory.owner, (owner) => (owner === POLICY ? 1 : 0)), update: undefined };
}

/** log-prob of the other policy less that of the one that wrote; NaN for tokens that no policy chose. */
export function deltaOf({ owner }: Pick<ScoredTrajectory, 'owner'>, own: Pick<TokenScores, 'logProbs'>, other: Pick<TokenScores, 'logProbs'>): Float32Array {
  return own.logProbs.map((logProb, i) => (owner[i] === POLICY ? (other.logProbs[i] ?? NaN) - logProb : NaN));
}

/** Sum of log-probs over the tokens that the policy wrote. */
export function logProbOf({ owner }: Pick<ScoredTrajectory, 'owner'>, { logProbs }: Pick<TokenScores, 'logProbs'>): number {
  return owner.reduce((sum, by, i) => sum + (by === POLICY ? (logProbs[i] ?? 0) : 0), 0);
}

/** Where a key leads from a token of one of the texts; undefined for other keys. */
export function walk(key: string, texts: readonly Pick<ScoredTrajectory, 'tokens' | 'spans'>[], text: number, token: number | undefined, fork: number): { readonly text: number; readonly token: number } | undefined {
  const here = texts[text];
  if (here === undefined) return undefined;
  const last = here.tokens.length - 1;
  const first = here.spans[0]?.end ?? 0;
  const to = (at: number, of = text): { readonly text: number; readonly token: number } => ({ text: of, token: Math.min((texts[of]?.tokens.length ?? 1) - 1, Math.max(0, at)) });
  switch (key) {
    case 'ArrowRight':
      return to(token === undefined ? first : token + 1);
    case 'ArrowLeft':
      return to(token === undefined ? first : token - 1);
    case 'ArrowDown':
      return to(token ?? first, Math.min(texts.length - 1, text + 1));
    case 'ArrowUp':
      return to(token ?? first, Math.max(0, text - 1));
    case 'PageDown':
      return to(here.spans.find(({ start }) => start > (token ?? -1))?.start ?? last);
    case 'PageUp':
      return to(here.spans.findLast(({ start }) => start < (token ?? 0))?.start ?? 0);
    case 'Home':
      return to(0);
    case 'End':
      return to(last);
    case 'd':
      return to(fork);
    default:
      return undefined;
  }
}
