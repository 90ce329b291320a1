import type { ReactNode } from 'react';
import { Choice } from '../../components/Choice.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { useRuns } from '../../stores/histories.ts';
import { t } from '../../text/text.ts';
import { parsePolicy, policyId } from './address.ts';
import { policyName, usePolicies } from './policies.ts';
import styles from './PolicyField.module.css';

interface PolicyFieldProps {
  readonly label: string;
  readonly suite: string;
  /** As `policyId` writes it. */
  readonly value: string;
  readonly onChange: (id: string) => void;
}

/** A shipped policy, or that of a run after one of its steps. */
export function PolicyField({ label, suite, value, onChange }: PolicyFieldProps): ReactNode {
  const runs = useRuns();
  const items = usePolicies(suite);
  const source = parsePolicy(value)?.source;
  const found = source !== undefined && 'run' in source ? runs.find(({ summary }) => summary.id === source.run) : undefined;
  const run = found?.summary;
  const step = source !== undefined && 'run' in source ? (source.step ?? run?.step ?? 0) : 0;
  // An earlier step of a run has no item of its own: it stands in the place of the newest.
  const newest = run === undefined ? value : policyId({ source: { run: run.id, step: run.step }, access: 'tools' });
  const listed = items.some((item) => item.value === newest) ? items : [...items, { value, label: policyName(value, suite, runs) }];
  return (
    <div className={styles.policy}>
      <span className={styles.label}>{label}</span>
      <Choice label={label} value={listed === items ? newest : value} onChange={onChange}
        items={listed.map((item) => (item.value === newest ? { value: newest, label: policyName(value, suite, runs) } : item))} />
      {/* Of a recorded run only its end can be reached from what ships. */}
      {run !== undefined && found?.kind !== 'recorded' && (
        <NumberField label={t('compare.step')} value={step} least={0} most={run.step} whole onChange={(to) => {
          onChange(policyId({ source: { run: run.id, step: to }, access: 'tools' }));
        }} />
      )}
    </div>
  );
}
