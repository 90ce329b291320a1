/** The switches of the group view, as they stand in the address. What is left out is as in the run. */
import type { AdvantageRule, GrpoSettings } from '../../../grpo/settings.ts';
import type { RewardSettings } from '../../../reward/reward.ts';
import type { Selection } from '../../routes.ts';

export const NORMS: readonly AdvantageRule[] = ['sample-std', 'population-std', 'mean'];
export const NO_CALLS: readonly RewardSettings['noCall'][] = ['paper', 'excluded', 'full'];
const COSTS: readonly number[] = [0, 0.1, 0.2, 0.5];

export interface Switches extends RewardSettings {
  readonly norm: AdvantageRule;
}

export function switchesOf(more: Selection['more'], grpo: GrpoSettings): Switches {
  const { norm, nocall, cost } = more;
  return {
    norm: NORMS.find((name) => name === norm) ?? grpo.advantage,
    noCall: NO_CALLS.find((name) => name === nocall) ?? grpo.reward.noCall,
    callCost: COSTS.find((value) => String(value) === cost) ?? grpo.reward.callCost,
  };
}

/** For the address: empty where it is as in the run, so that it is left out. */
export function moreOf({ norm, noCall, callCost }: Switches, grpo: GrpoSettings): Selection['more'] {
  return {
    norm: norm === grpo.advantage ? '' : norm,
    nocall: noCall === grpo.reward.noCall ? '' : noCall,
    cost: callCost === grpo.reward.callCost ? '' : String(callCost),
  };
}

/** Costs to choose from; that of the run is among them. */
export function costsOf({ reward }: GrpoSettings): readonly number[] {
  return [...new Set([...COSTS, reward.callCost])].sort((a, b) => a - b);
}
