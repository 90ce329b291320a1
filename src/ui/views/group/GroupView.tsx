import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useSearch } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Notice } from '../../components/Notice.tsx';
import type { GroupRecord, StepRecord } from '../../../grpo/record.ts';
import { groupAddress, navigate, parseSelection, SIGNALS, type Selection } from '../../routes.ts';
import { useLab } from '../../stores/lab.ts';
import { useRecorded } from '../../stores/recorded.ts';
import { useRecord, useRunView, type RunView } from '../../stores/runs.ts';
import { useTheme } from '../../stores/theme.ts';
import { format, t } from '../../text/text.ts';
import { Chooser } from './Chooser.tsx';
import { Inspector } from './Inspector.tsx';
import { Key } from './Key.tsx';
import { RolloutDetail } from './RolloutDetail.tsx';
import { Rollouts } from './Rollouts.tsx';
import { SignalBar } from './SignalBar.tsx';
import type { SignalPaint } from './TokenStrip.tsx';
import { signalScale } from './tokens.ts';
import styles from './GroupView.module.css';

/** The rollouts of one question, token by token, and how they were compared. */
export function GroupView(): ReactNode {
  const selection = parseSelection(useSearch());
  const view = useRunView(selection.run);
  const step = openableStep(view, selection.step);
  const record = useKept(useRecord(view, step), view?.summary.id);
  return (
    <div className={styles.view}>
      <h1 className="hidden">{t('view.group')}</h1>
      {view === undefined
        ? <NoRun id={selection.run} />
        : (
            <>
              <Chooser view={view} record={record} selection={{ ...selection, step }} following={selection.step === undefined} />
              <StepFault />
              {record === undefined || step === undefined
                ? <p className={styles.waiting}>{t(view.openable.length === 0 ? 'group.noStep' : 'group.waiting')}</p>
                : <Group view={view} record={record} selection={selection} />}
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

interface GroupProps {
  readonly view: RunView;
  readonly record: StepRecord;
  readonly selection: Selection;
}

function Group({ view, record, selection }: GroupProps): ReactNode {
  const { theme } = useTheme();
  const { grpo } = view.summary.settings;
  const group = record.groups[selection.question - 1] ?? record.groups[0];
  const [preview, setPreview] = useState<{ readonly rollout: number; readonly token: number } | undefined>();
  const { signal } = selection;
  const scale = useMemo(() => group && signalScale(group, signal, grpo), [group, signal, grpo]);
  const paint = useMemo((): SignalPaint | undefined => scale && { signal, scale, theme, grpo }, [scale, signal, theme, grpo]);
  useSignalKeys(selection);
  if (group === undefined) return <p className={styles.waiting}>{t('group.noGroup')}</p>;
  const rollout = Math.min(selection.rollout, group.members.length);
  const chosen = group.members[rollout - 1];
  const pointed = preview ?? (selection.token === undefined ? undefined : { rollout, token: selection.token });
  const inspected = pointed && group.members[pointed.rollout - 1];
  return (
    <>
      <SignalBar selection={selection} scale={scale} paint={paint} />
      <Comparison group={group} />
      {/* Whoever picks a token reads this step: it stays, though newer ones come. */}
      <Rollouts group={group} paint={paint} selection={{ ...selection, run: view.summary.id, step: record.step, rollout }} onPreview={setPreview} />
      <Inspector rollout={inspected} token={pointed?.token} grpo={grpo} number={pointed?.rollout} preview={preview !== undefined} />
      {chosen !== undefined && <RolloutDetail rollout={chosen} number={rollout} grpo={grpo} />}
      <RewardTable group={group} />
    </>
  );
}

/** The mean and the spread in one line, what the marks stand for, and why there may be nothing to learn. */
function Comparison({ group }: { readonly group: GroupRecord }): ReactNode {
  return (
    <div className={styles.comparison}>
      <p>
        {group.members.length === 1 ? t('group.alone') : t('group.statistics', { mean: format.fixed(group.mean, 2), std: format.fixed(group.std, 2) })}
      </p>
      <Key />
      {group.equal && group.members.length > 1 && (
        <Notice kind="note">
          {t('group.equal', { n: group.members.length, reward: format.fixed(group.mean, 2) })}
          {group.dropped && ` ${t('group.dropped')}`}
        </Notice>
      )}
    </div>
  );
}

/** The bars and lollipops in numbers. */
function RewardTable({ group }: { readonly group: GroupRecord }): ReactNode {
  return (
    <details>
      <summary>{t('group.table')}</summary>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={t('group.table')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {(['rollout', 'answer', 'relaxed', 'strict', 'execution', 'cost', 'total', 'advantage', 'stop'] as const).map((name) => (
                <th key={name} scope="col" className={name === 'stop' ? undefined : 'figure'}>{t(`column.${name}`)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {group.members.map(({ reward, advantage, stop }, i) => (
              <tr key={i}>
                <th scope="row" className="figure">{format.integer(i + 1)}</th>
                <td className="figure">{format.fixed(reward.answer, 2)}</td>
                <td className="figure">{format.fixed(reward.formatRelaxed, 3)}</td>
                <td className="figure">{format.fixed(reward.formatStrict, 2)}</td>
                <td className="figure">{reward.execution === null ? t('reward.leftOut') : format.fixed(reward.execution, 2)}</td>
                <td className="figure">{format.fixed(reward.callCost, 2)}</td>
                <td className="figure"><b>{format.fixed(reward.total, 3)}</b></td>
                <td className="figure">{format.signed(advantage, 3)}</td>
                <td>{t(`stop.${stop}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

/** Keys 0 to 7 choose the signal, wherever the focus is, except where one types. */
function useSignalKeys(selection: Selection): void {
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
      const signal = /^\d$/.test(event.key) ? SIGNALS[Number(event.key)] : undefined;
      if (signal !== undefined) navigate(groupAddress({ ...selection, signal }), { replace: true });
    };
    document.addEventListener('keydown', onKeyDown);
    return () => {
      document.removeEventListener('keydown', onKeyDown);
    };
  }, [selection]);
}
