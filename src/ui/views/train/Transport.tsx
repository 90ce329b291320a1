import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { Notice } from '../../components/Notice.tsx';
import { groupAddress } from '../../routes.ts';
import { RunStatus } from '../../shell/RunStatus.tsx';
import { useDraft } from '../../stores/draft.ts';
import { lab, useLab } from '../../stores/lab.ts';
import { t } from '../../text/text.ts';
import styles from './Transport.module.css';

/** Train, pause, step, reset; and where the run is. */
export function Transport(): ReactNode {
  const run = useLab((s) => s.run);
  const runs = useLab((s) => s.runs);
  const connection = useLab((s) => s.connection);
  const faults = useLab((s) => s.faults);
  const notices = useLab((s) => s.notices);
  const asked = useLab((s) => s.asked);
  const draft = useDraft();
  const state = run?.state ?? 'idle';
  const active = state === 'running' || state === 'preparing' || asked === 'start';
  const unusable = connection === 'failed' || connection === 'other-version';
  const unfinished = run === undefined && asked === undefined ? runs.find((r) => r.step > 0 && r.step < r.settings.steps) : undefined;
  return (
    <section className={styles.transport} aria-label={t('train.transport')}>
      <Primary state={asked === 'start' ? 'preparing' : state} disabled={unusable || asked !== undefined || state === 'preparing'} onTrain={() => {
        lab.train(draft);
      }} />
      <div className={styles.minor}>
        <Button disabled={unusable || active} onClick={() => {
          lab.oneStep(run !== undefined && state === 'paused' ? run.settings : draft);
        }}>
          <Icon name="step" size={16} />{t('train.oneStep')}
        </Button>
        <Button disabled={run === undefined} onClick={lab.reset}>
          <Icon name="reset" size={16} />{t('train.reset')}
        </Button>
      </div>
      {run === undefined
        ? !unusable && <p className={styles.idle}>{asked === 'start' ? t('run.waiting') : unfinished === undefined ? t('train.idle') : t('train.unfinished', { step: unfinished.step, of: unfinished.settings.steps })}</p>
        : <RunStatus />}
      {unfinished !== undefined && (
        <Button onClick={() => {
          lab.openRun(unfinished.id);
          lab.resume();
        }}>
          <Icon name="play" size={16} />{t('train.resumeStored')}
        </Button>
      )}
      {run !== undefined && (
        <p className={styles.open}>
          {run.step > 0 && <Link to={groupAddress({ run: run.id, step: run.step })}>{t('train.openStep', { step: run.step })}</Link>}
        </p>
      )}
      {unusable && <Notice kind="fault">{t(connection === 'failed' ? 'fault.worker' : 'fault.version')}</Notice>}
      {(['run', 'model', 'engine', 'python'] as const).map((place) => faults[place] !== undefined && (
        <Notice key={place} kind="fault" detail={[faults[place].message, faults[place].detail].filter(Boolean).join(' – ')}>{t(place === 'run' && run === undefined ? 'fault.start' : `fault.${place}`)}</Notice>
      ))}
      {notices.map((code) => <Notice key={code} kind="note">{t(`notice.${code}`)}</Notice>)}
    </section>
  );
}

function Primary({ state, disabled, onTrain }: { readonly state: string; readonly disabled: boolean; readonly onTrain: () => void }): ReactNode {
  if (state === 'running' || state === 'preparing') {
    return <Button kind="primary" size="large" className={styles.primary} disabled={disabled} onClick={lab.pause}><Icon name="pause" />{t('train.pause')}</Button>;
  }
  if (state === 'paused') {
    return <Button kind="primary" size="large" className={styles.primary} disabled={disabled} onClick={lab.resume}><Icon name="play" />{t('train.resume')}</Button>;
  }
  return <Button kind="primary" size="large" className={styles.primary} disabled={disabled} onClick={onTrain}><Icon name="play" />{t('train.start')}</Button>;
}
