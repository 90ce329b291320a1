import { memo, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { Choice } from '../../components/Choice.tsx';
import { Icon } from '../../components/Icon.tsx';
import { Slider } from '../../components/Slider.tsx';
import type { GroupRecord, StepRecord } from '../../../grpo/record.ts';
import { mostOf } from '../../../reward/score.ts';
import { navigate, stepAddress, type Selection, type StepView } from '../../routes.ts';
import { useLab } from '../../stores/lab.ts';
import { useRecorded } from '../../stores/recorded.ts';
import type { RunView } from '../../stores/runs.ts';
import { format, t } from '../../text/text.ts';
import { runName } from '../train/run-name.ts';
import styles from './Chooser.module.css';

interface ChooserProps {
  readonly on: StepView;
  readonly view: RunView;
  readonly record: StepRecord | undefined;
  readonly selection: Selection;
  /** No step is named: the newest is shown, and the next one when it comes. */
  readonly following: boolean;
}

const sameChoice = (a: ChooserProps, b: ChooserProps): boolean =>
  a.on === b.on && a.view === b.view && a.record === b.record && a.following === b.following
  && (['run', 'step', 'question', 'rollout', 'signal', 'other'] as const).every((name) => a.selection[name] === b.selection[name]);

/** Which run, which step, which question. Not drawn anew at each token. */
export const Chooser = memo(function Chooser({ on, view, record, selection, following }: ChooserProps): ReactNode {
  const { openable, summary } = view;
  const index = openable.indexOf(selection.step ?? -1);
  const go = (to: number | undefined): void => {
    const step = to === undefined ? undefined : openable[to];
    if (step !== undefined) navigate(stepAddress(on, { run: summary.id, step, question: selection.question, rollout: selection.rollout, signal: selection.signal, other: selection.other }), { replace: true });
  };
  return (
    <div className={styles.chooser}>
      <div className={styles.line}>
        <Runs on={on} view={view} />
        <div className={styles.steps}>
          <Button aria-label={t('group.previousStep')} disabled={index <= 0} onClick={() => {
            go(index - 1);
          }}>
            <Icon name="previous" size={16} />
          </Button>
          <span className={styles.step}>{selection.step === undefined ? t('run.noStep') : t('run.stepOf', { step: selection.step, of: summary.settings.steps })}</span>
          <Button aria-label={t('group.nextStep')} disabled={index < 0 || index >= openable.length - 1} onClick={() => {
            go(index + 1);
          }}>
            <Icon name="next" size={16} />
          </Button>
          <Slider className={styles.slider} label={t('group.step')} words={selection.step === undefined ? t('run.noStep') : t('run.step', { step: selection.step })} at={index} count={openable.length} onMove={go} />
        </div>
        {view.kind === 'recorded'
          ? <span className={styles.kind}><b>{t('recorded.label')}</b> {t('recorded.short', { seed: summary.settings.seed, engine: summary.engine.kind })}</span>
          : <span className={styles.kind}>{t('measured.here', { seed: summary.settings.seed, engine: summary.engine.kind })}{following && ` · ${t('group.following')}`}</span>}
      </div>
      {record !== undefined && (
        <ul className={styles.questions} aria-label={t('group.questions')}>
          {record.groups.map((group, i) => (
            <li key={i}>
              <button
                type="button"
                className={styles.question}
                aria-current={i + 1 === Math.min(selection.question, record.groups.length)}
                onClick={() => {
                  navigate(stepAddress(on, { run: summary.id, step: record.step, question: i + 1, signal: selection.signal, other: selection.other }), { replace: true });
                }}
              >
                <span className={styles.asked}>{group.task.question}</span>
                <Strip group={group} />
                <span className="hidden">{t('group.questionFacts', { tier: group.task.tier, mean: format.fixed(group.mean, 2), equal: group.equal })}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}, sameChoice);

/** The rewards of a group at a glance. */
function Strip({ group }: { readonly group: GroupRecord }): ReactNode {
  return (
    <svg width={group.members.length * 5} height="14" aria-hidden="true" className={styles.strip}>
      {group.members.map(({ reward }, i) => {
        const height = Math.max(1.5, (14 * Math.max(0, reward.total)) / mostOf(reward));
        return <rect key={i} x={i * 5} y={14 - height} width="3.5" height={height} />;
      })}
    </svg>
  );
}

function Runs({ on, view }: { readonly on: StepView; readonly view: RunView }): ReactNode {
  const runs = useLab((s) => s.runs);
  const current = useLab((s) => s.run);
  const recorded = useRecorded();
  const items = [
    ...(current === undefined ? [] : [{ value: current.id, label: t('group.current', { name: runName(current.settings) }) }]),
    ...runs.filter(({ id, step }) => id !== current?.id && step > 0).map((run) => ({ value: run.id, label: runName(run.settings) })),
    ...(recorded.state === 'ready' ? [{ value: recorded.recorded.run.id, label: t('group.recorded', { name: runName(recorded.recorded.run.settings) }) }] : []),
  ];
  if (items.length < 2) return <b className={styles.name}>{items[0]?.label ?? runName(view.summary.settings)}</b>;
  return <Choice label={t('group.run')} value={view.summary.id} items={items} onChange={(run) => {
    navigate(stepAddress(on, { run }));
  }} />;
}
