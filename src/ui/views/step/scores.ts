/** Questions to the microscope that several views ask alike, with the keys under which their answers are kept. */
import type { GroupRecord } from '../../../grpo/record.ts';
import type { Inspection, PolicyRef } from '../../../lab/inspection.ts';
import type { Other } from '../../routes.ts';
import type { RunView } from '../../stores/runs.ts';

interface Asked {
  readonly key: string;
  readonly inspection: Extract<Inspection, { kind: 'scores' }>;
}

export function policyOf(other: Other): PolicyRef {
  return other === 'start' || other === 'after' || other === 'latest' ? other : { model: other };
}

/** The log-probs of all rollouts of a group under another policy. */
export function policyScores({ summary }: RunView, step: number, group: GroupRecord, other: Other): Asked {
  // The newest weights are others after each step.
  const version = other === 'latest' ? `@${summary.step}` : '';
  return {
    key: `scores/${summary.id}/${step}/${group.task.id}/${other}${version}`,
    inspection: { kind: 'scores', at: { run: summary.id, step }, policy: policyOf(other), rows: group.members.map(({ tokens }) => tokens) },
  };
}
