/** Before the mask is spoken of, nothing is drawn as left out of a loss: who wrote a token is all that is shown. */
import type { TrainedTrajectory } from '../../../grpo/record.ts';

export function plainly(rollout: TrainedTrajectory): TrainedTrajectory {
  return { ...rollout, weights: new Float32Array(rollout.tokens.length).fill(1) };
}
