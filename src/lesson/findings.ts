/** From what engines, Python and tables gave to the findings by which predictions are graded. Pure. */
import type { GroupRecord, TrainedTrajectory } from '../grpo/record.ts';
import type { UpdateMember, UpdateView } from '../lab/inspection.ts';
import { mostOf } from '../reward/score.ts';
import type { RewardParts } from '../reward/reward.ts';
import { ENVIRONMENT, POLICY, type Trajectory } from '../rollout/trajectory.ts';
import type { Directions, Findings, LabWorkflows } from './stages.ts';

/** Who wrote the tokens, and which of the environment's a later token of the policy was drawn after. */
export function ownership({ owner, spans }: Pick<Trajectory, 'owner' | 'spans'>, sampled: boolean): Findings['interleaving'] {
  const last = owner.lastIndexOf(POLICY);
  const count = (is: (who: number, i: number) => boolean): number => owner.reduce((n, who, i) => n + (is(who, i) ? 1 : 0), 0);
  return {
    observed: count((who) => who === ENVIRONMENT),
    read: count((who, i) => who === ENVIRONMENT && i < last),
    written: count((who) => who === POLICY),
    forged: spans.reduce((n, { forged, start, end }) => n + (forged ? end - start : 0), 0),
    sampled,
  };
}

export function scored(reward: RewardParts): Findings['scoring'] {
  const { answer, formatRelaxed, formatStrict, execution, total } = reward;
  return { answer, format: formatRelaxed + formatStrict, execution: execution ?? 0, total, most: mostOf(reward) };
}

export function compared(mixed: GroupRecord, equal: GroupRecord): Findings['comparing'] {
  return {
    rewards: equal.members.map(({ reward }) => reward.total),
    advantages: equal.members.map(({ advantage }) => advantage),
    mixed: Math.max(...mixed.members.map(({ advantage }) => Math.abs(advantage))),
  };
}

/** Of the gradient of all tokens of a rollout, the share on its policy's tokens; NaN where there is no gradient. */
function ownShare({ owner }: TrainedTrajectory, { tokens }: UpdateMember): number {
  if (tokens === undefined) return NaN;
  let own = 0;
  let all = 0;
  for (const [i, norm] of tokens.gradient.entries()) {
    if (Number.isNaN(norm)) continue;
    all += norm;
    if (owner[i] === POLICY) own += norm;
  }
  return all === 0 ? NaN : own / all;
}

/** @param member place of the rollout in its group, from 0. */
export function masked(rollout: TrainedTrajectory, member: number, on: UpdateView, off: UpdateView): Findings['masking'] | undefined {
  const [with_, without] = [on.members[member], off.members[member]];
  if (with_ === undefined || without === undefined) return undefined;
  return { ownMasked: ownShare(rollout, with_), ownUnmasked: ownShare(rollout, without), normMasked: on.gradNorm, normUnmasked: off.gradNorm };
}

/** Where a figure rose, and where it fell. */
export function directions(pairs: readonly (readonly [before: number, after: number])[]): Directions {
  return {
    rose: pairs.filter(([before, after]) => after > before).length,
    fell: pairs.filter(([before, after]) => after < before).length,
    of: pairs.length,
  };
}

/** What an evaluation counts of function calling. */
export interface CountedWorkflows {
  readonly rollouts: number;
  readonly completed: number;
  readonly correctCalls: number;
  readonly calls: number;
  /** For each completed task, mean; null where none was. */
  readonly callsWhereCompleted: number | null;
}

/** @returns undefined where nothing was completed before or after: then there is nothing to divide by. */
export function workflowChange(before: CountedWorkflows, after: CountedWorkflows): LabWorkflows | undefined {
  if (before.completed === 0 || after.completed === 0) return undefined;
  return {
    tasks: after.rollouts,
    calls: [before.correctCalls, after.correctCalls],
    steps: [before.calls / before.completed, after.calls / after.completed],
    within: [before.callsWhereCompleted ?? NaN, after.callsWhereCompleted ?? NaN],
    all: [before.calls, after.calls],
    completed: [before.completed, after.completed],
  };
}
