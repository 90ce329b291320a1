/** Tokens to carry away: as text, as ids, or with all that is known of them. Pure; no DOM. */
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { ENVIRONMENT, PROMPT } from '../../../rollout/trajectory.ts';
import { spanAt } from '../step/tokens.ts';
import { tokenizerOf } from '../step/tokenizers.ts';

export const COPIES = ['text', 'ids', 'json'] as const;
export type CopyAs = (typeof COPIES)[number];

/** Where the tokens are from, for whoever finds them in a file. */
export interface Origin {
  readonly run: string;
  readonly step: number;
  readonly question: number;
  readonly rollout: number;
  readonly branch?: number;
}

/** @param range [start, end). */
export function copied(as: CopyAs, rollout: TrainedTrajectory, [start, end]: readonly [number, number], origin: Origin): string {
  const ids = rollout.tokens.subarray(start, end);
  const tokenizer = tokenizerOf(rollout.task);
  switch (as) {
    case 'text':
      return tokenizer.decode(ids);
    case 'ids':
      return `[${ids.join(', ')}]`;
    case 'json':
      return JSON.stringify({
        ...origin,
        task: rollout.task.question,
        start,
        end,
        tokens: Array.from(ids, (id, i) => {
          const at = start + i;
          const owner = rollout.owner[at];
          const logProb = rollout.logProbs[at] ?? NaN;
          return {
            at, id, text: tokenizer.token(id),
            owner: owner === PROMPT ? 'prompt' : owner === ENVIRONMENT ? 'environment' : 'policy',
            part: spanAt(rollout, at)?.kind ?? 'stray',
            logProb: Number.isNaN(logProb) ? null : logProb,
          };
        }),
      }, undefined, 1);
  }
}
