import { useId, type ReactNode } from 'react';
import type { Figures } from '../../../evaluation/evaluate.ts';
import type { WorkflowFigures } from '../../../reward/workflow.ts';
import { t } from '../../text/text.ts';
import type { Source } from './Badge.tsx';
import { Changes, type ChangeRow } from './Changes.tsx';
import { WORKFLOWS } from './paper.ts';
import styles from './Steps.module.css';

export interface Side {
  readonly label: string;
  readonly figures: Figures | undefined;
}

interface OurStepsProps {
  readonly before: Side;
  readonly after: Side;
  readonly source: Source;
}

/** Correct calls and steps of workflows, before and after; nothing where they are not known. */
export function OurSteps({ before, after, source }: OurStepsProps): ReactNode {
  const [a, b] = [before.figures?.workflow, after.figures?.workflow];
  if (a === undefined || b === undefined) return null;
  const row = (label: string, value: (w: WorkflowFigures) => number | null, digits: number): ChangeRow => ({ label, from: value(a) ?? NaN, to: value(b) ?? NaN, digits, source });
  return (
    <Changes title={t('steps.ours')} from={before.label} to={after.label} rows={[
      row(t('steps.correct', { needed: b.neededCalls }), (w) => w.correctCalls, 0),
      row(t('steps.all'), (w) => w.calls, 0),
      row(t('steps.perCompleted'), (w) => w.callsPerCompleted, 2),
      row(t('steps.whereCompleted'), (w) => w.callsWhereCompleted, 2),
    ]} />
  );
}

/** The same beside what the paper reports of τ-bench. */
export function Steps(ours: OurStepsProps): ReactNode {
  const id = useId();
  const reported = WORKFLOWS.filter(({ figure }) => figure === 'calls' || figure === 'steps');
  return (
    <section className={styles.steps} aria-labelledby={id}>
      <h2 id={id}>{t('steps.title')}</h2>
      <div className={styles.tables}>
        <OurSteps {...ours} />
        <Changes title={t('steps.paper')} from={t('paper.from')} to={t('paper.to')} rows={reported.map((row) => ({ ...row, label: t(`paper.workflow.${row.figure}`) }))} />
      </div>
      <p>{t('steps.what')}</p>
      <p>{t('steps.axes')}</p>
    </section>
  );
}
