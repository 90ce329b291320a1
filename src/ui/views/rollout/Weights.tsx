import type { ReactNode } from 'react';
import type { PolicyRef, Provenance } from '../../../lab/inspection.ts';
import { format, t } from '../../text/text.ts';
import styles from './RolloutView.module.css';

interface WeightsProps {
  readonly provenance: Provenance;
  readonly policy: PolicyRef;
  readonly step: number;
}

/** Which weights gave the numbers, how they were had, and whether they are those that sampled. */
export function Weights({ provenance: { engine, snapshot, replayed, check }, policy, step }: WeightsProps): ReactNode {
  return (
    <p className={styles.weights}>
      {policy === 'latest' ? t('rollout.weights.latest') : t('rollout.weights.before', { step })}
      {' '}{t(replayed === 0 ? 'rollout.weights.stored' : 'rollout.weights.replayed', { snapshot, replayed })}
      {check !== undefined && ` ${t('rollout.weights.check', { tokens: check.tokens, difference: check.maxDifference === 0 ? '0' : format.significant(check.maxDifference, 2) })}`}
      {' '}{t(`engine.${engine.kind}.long`)}.
    </p>
  );
}
