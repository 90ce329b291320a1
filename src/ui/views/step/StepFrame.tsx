import { useState, type ReactNode } from 'react';
import { useSearch } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Notice } from '../../components/Notice.tsx';
import type { GroupRecord, StepRecord } from '../../../grpo/record.ts';
import { navigate, parseSelection, type Selection, type StepView } from '../../routes.ts';
import { useLab } from '../../stores/lab.ts';
import { useRecorded } from '../../stores/recorded.ts';
import { useRecord, useRunView, type RunView } from '../../stores/runs.ts';
import { t } from '../../text/text.ts';
import { Chooser } from './Chooser.tsx';
import styles from './StepFrame.module.css';

export interface StepContext {
  readonly view: RunView;
  readonly record: StepRecord;
  readonly group: GroupRecord;
  /** As the address has it, with the run, step, question and rollout that are really shown. */
  readonly selection: Selection & { readonly step: number };
}

/** What the rollout, group and update views have in common: which run, step and question, and what there is to wait for. */
export function StepFrame({ on, children }: { readonly on: StepView; readonly children: (context: StepContext) => ReactNode }): ReactNode {
  const selection = parseSelection(useSearch());
  const view = useRunView(selection.run);
  const step = openableStep(view, selection.step);
  const record = useKept(useRecord(view, step), view?.summary.id);
  const group = record?.groups[selection.question - 1] ?? record?.groups[0];
  return (
    <div className={styles.view}>
      <h1 className="hidden">{t(`view.${on}`)}</h1>
      {view === undefined
        ? <NoRun id={selection.run} />
        : (
            <>
              <Chooser on={on} view={view} record={record} selection={{ ...selection, step }} following={selection.step === undefined} />
              <StepFault />
              {record === undefined || step === undefined
                ? <p className={styles.waiting}>{t(view.openable.length === 0 ? 'group.noStep' : 'group.waiting')}</p>
                : group === undefined
                  ? <p className={styles.waiting}>{t('group.noGroup')}</p>
                  : children({
                      view, record, group,
                      // Whoever picks something reads this step: it stays, though newer ones come.
                      selection: {
                        ...selection, run: view.summary.id, step: record.step,
                        question: record.groups.indexOf(group) + 1, rollout: Math.min(selection.rollout, group.members.length),
                      },
                    })}
            </>
          )}
    </div>
  );
}

/** The step that was asked for, or the nearest there is; without one the newest. */
function openableStep(view: RunView | undefined, asked: number | undefined): number | undefined {
  const openable = view?.openable ?? [];
  if (asked === undefined) return openable.at(-1);
  return openable.reduce<number | undefined>((best, next) => (best === undefined || Math.abs(next - asked) < Math.abs(best - asked) ? next : best), undefined);
}

/** While the next step of the same run is on its way, the last one stays: nothing flickers. */
function useKept(record: StepRecord | undefined, run: string | undefined): StepRecord | undefined {
  const [kept, setKept] = useState<{ readonly record: StepRecord; readonly run: string | undefined }>();
  if (record !== undefined && record !== kept?.record) setKept({ record, run });
  return record ?? (kept?.run === run ? kept?.record : undefined);
}

function StepFault(): ReactNode {
  const fault = useLab((s) => s.faults.step);
  return fault === undefined ? null : <Notice kind="fault" detail={fault.message}>{t('fault.step')}</Notice>;
}

function NoRun({ id }: { readonly id: string | undefined }): ReactNode {
  const recorded = useRecorded();
  const connection = useLab((s) => s.connection);
  if (recorded.state === 'loading' || (id !== undefined && connection === 'connecting')) return <p className={styles.waiting}>{t('group.waiting')}</p>;
  return (
    <div className={styles.empty}>
      <h2>{t(id === undefined ? 'group.empty' : 'group.unknown')}</h2>
      <p>{t(id === undefined ? 'group.empty.what' : 'group.unknown.what')}</p>
      <Button kind="primary" onClick={() => {
        navigate('/train');
      }}>{t('group.toTrain')}</Button>
    </div>
  );
}
