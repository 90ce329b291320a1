/**
 * What masking observations out of the loss protects: the same runs with the mask on and off, and figures of what the
 * policies then write. Observations that nobody can predict make large, noisy gradients where they are in the loss.
 */
import type { PolicyEngine, TokenScores } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { ToolName } from '../rollout/environments.ts';
import { ENVIRONMENT, POLICY, tagsOf, type Trajectory } from '../rollout/trajectory.ts';

export interface MaskingSetting {
  readonly name: string;
  /** The warm start, made with the same tool. */
  readonly model: string;
  readonly tool: ToolName;
  /** A step. */
  readonly questions: number;
  readonly mask: boolean;
}

/**
 * Outputs with noise show the effect; short outputs beside them show that it is not always so large. Short ones get
 * more rollouts a step, with which what noise they leave averages out; the chatty tool's noise is more than that.
 */
export const MASKING_SETTINGS: readonly MaskingSetting[] = [
  { name: 'chatty, masked', model: 'chatty-base', tool: 'chatty', questions: 8, mask: true },
  { name: 'chatty, unmasked', model: 'chatty-base', tool: 'chatty', questions: 8, mask: false },
  { name: 'short, masked', model: 'arithmetic-base', tool: 'terse', questions: 16, mask: true },
  { name: 'short, unmasked', model: 'arithmetic-base', tool: 'terse', questions: 16, mask: false },
];

export interface Drift {
  /** The k3 estimate of KL to the reference in nats, a mean over the tokens that the policy wrote. */
  readonly klToBase: number;
  /** Share of rollouts in which the policy wrote an `<output>` itself. */
  readonly forged: number;
  /**
   * The probability that the policy gives to `<output>` right after its `</python>`, where the environment is about to
   * write it: a mean over calls. Null where there was no call.
   */
  readonly outputAfterCall: number | null;
}

/** Scores rollouts at temperature 1 with the policy and with the reference that the engine holds (`holdReference`). */
export async function measureDrift(engine: PolicyEngine, tokenizer: Tokenizer, trajectories: readonly Trajectory[]): Promise<Drift> {
  const request = { rows: trajectories.map(({ tokens }) => tokens), temperature: 1 };
  const own = await engine.score(request);
  const reference = await engine.score({ ...request, weights: 'reference' });
  return driftOf(trajectories, own, reference, tokenizer);
}

/** @see measureDrift. Scores are those of the trajectories, in their order. */
export function driftOf(
  trajectories: readonly Trajectory[],
  own: readonly Pick<TokenScores, 'logProbs'>[],
  reference: readonly Pick<TokenScores, 'logProbs'>[],
  tokenizer: Tokenizer,
): Drift {
  const { call, output } = tagsOf(tokenizer);
  const kl: number[] = [];
  const afterCall: number[] = [];
  for (const [i, { tokens, owner }] of trajectories.entries()) {
    for (const [t, by] of owner.entries()) {
      const logProb = own[i]?.logProbs[t] ?? NaN;
      if (by === POLICY) kl.push(k3((reference[i]?.logProbs[t] ?? NaN) - logProb));
      else if (by === ENVIRONMENT && tokens[t] === output.open && tokens[t - 1] === call.close) afterCall.push(Math.exp(logProb));
    }
  }
  const forged = trajectories.filter(({ spans }) => spans.some((span) => span.forged)).length;
  return {
    klToBase: meanOf(kl),
    forged: forged / trajectories.length,
    outputAfterCall: afterCall.length === 0 ? null : meanOf(afterCall),
  };
}

/** exp(δ) − δ − 1 with δ = log π_ref − log π, held within ±20 as in the objective. */
function k3(difference: number): number {
  const delta = Math.max(-20, Math.min(20, difference));
  return Math.exp(delta) - delta - 1;
}

export function meanOf(values: readonly number[]): number {
  return values.reduce((a, b) => a + b, 0) / values.length;
}
