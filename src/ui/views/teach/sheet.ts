/** The worked group of the worksheet: six attempts at one question, scored and compared by the code that trains. Pure. */
import { compareGroup, type GroupStatistics } from '../../../grpo/advantages.ts';
import { OBSERVATIONS } from '../../../lesson/recorded.ts';
import { ATTEMPT_SCRIPTS, callsOf, unfold } from '../../../lesson/traces.ts';
import type { RewardParts } from '../../../reward/reward.ts';

export const SHEET_ATTEMPTS = ['all-ran', 'all-failed', 'no-call', 'dummy', 'wrong', 'empty'] as const;
export type SheetAttempt = (typeof SHEET_ATTEMPTS)[number];

export interface SheetRow {
  readonly id: SheetAttempt;
  readonly reward: RewardParts;
  readonly advantage: number;
}

export interface WorkedGroup extends GroupStatistics {
  readonly rows: readonly SheetRow[];
  /** The same rewards with the mean alone, and with the standard deviation of n. */
  readonly meanOnly: GroupStatistics;
  readonly population: GroupStatistics;
}

/** @throws Error for a call whose output was never recorded. */
export function workedGroup(): WorkedGroup {
  const rewards = SHEET_ATTEMPTS.map((id) => {
    const script = ATTEMPT_SCRIPTS[id];
    const answers = callsOf(script).map((code) => {
      const answer = OBSERVATIONS.get(code);
      if (answer === undefined) throw new Error(`No output was recorded for ${code}`);
      return answer;
    });
    return unfold(script, answers).reward;
  });
  const totals = rewards.map(({ total }) => total);
  const compared = compareGroup(totals, 'sample-std');
  return {
    ...compared,
    rows: SHEET_ATTEMPTS.map((id, i) => ({ id, reward: rewards[i] as RewardParts, advantage: compared.advantages[i] as number })),
    meanOnly: compareGroup(totals, 'mean'),
    population: compareGroup(totals, 'population-std'),
  };
}
