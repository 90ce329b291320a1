import type { ReactNode } from 'react';
import type { RunSummary } from '../../lab/protocol.ts';
import { Bar } from '../components/Bar.tsx';
import { Button } from '../components/Button.tsx';
import { Icon } from '../components/Icon.tsx';
import { lab, useLab, type Progress } from '../stores/lab.ts';
import { format, t } from '../text/text.ts';
import styles from './RunStatus.module.css';

/**
 * Where the current run is: step, phase, rollouts, time left.
 * @param compact one line, for the top bar, with a button to pause.
 */
export function RunStatus({ compact = false }: { readonly compact?: boolean }): ReactNode {
  const run = useLab((s) => s.run);
  const progress = useLab((s) => s.progress);
  const asked = useLab((s) => s.asked);
  const first = useLab((s) => s.steps[0]?.metrics.reward);
  const secondsLeft = useLab((s) => s.secondsLeft);
  if (run === undefined) return null;
  const active = run.state === 'running' || run.state === 'preparing';
  const { steps } = run.settings;
  const done = run.step + (active ? shareOfStep(progress) : 0);
  // The first step compiles: it says little about the others.
  const measured = secondsLeft !== undefined && run.step > 1;
  const left = !active || run.step === 0 ? '' : measured ? t('run.left', { seconds: secondsLeft }) : t('run.measuring');
  const at = t('run.stepOf', { step: run.step, of: steps });
  if (compact) {
    return (
      <div className={styles.compact}>
        <span className={styles.at}>{at}</span>
        <div className={styles.bar}><Bar label={t('run.progress')} value={done} most={steps} /></div>
        <span className={styles.left}>{run.state === 'paused' ? t('run.paused') : left}</span>
        {run.state === 'paused'
          ? <Button kind="quiet" onClick={lab.resume}><Icon name="play" size={16} />{t('train.resume')}</Button>
          : <Button kind="quiet" disabled={run.state !== 'running' || asked !== undefined} onClick={lab.pause}><Icon name="pause" size={16} />{t('train.pause')}</Button>}
      </div>
    );
  }
  return (
    <div className={styles.full}>
      <div className={styles.line}>
        <b>{at}</b>
        <span className={styles.left}>{left}</span>
      </div>
      <Bar label={t('run.progress')} value={done} most={steps} />
      <p className={styles.phase}>{active && asked === 'pause' ? t('run.pausing') : phaseWords(run, progress, first)}</p>
    </div>
  );
}

/** Sampling takes the most of a step; within it rollouts end faster and faster. */
function shareOfStep(progress: Progress | undefined): number {
  if (progress === undefined || progress.of === 0) return 0;
  const share = progress.rollouts / progress.of;
  return progress.phase === 'sampling' || progress.phase === 'python' ? 0.6 * share : 0.6 + 0.3 * share;
}

/** @param first mean reward of the first step. */
function phaseWords(run: RunSummary, progress: Progress | undefined, first: number | undefined): string {
  const reward = format.fixed(run.reward ?? NaN, 2);
  switch (run.state) {
    case 'preparing':
      return t('run.preparing');
    case 'running':
      return progress === undefined ? t('run.starting') : t(`phase.${progress.phase}`, { done: progress.rollouts, of: progress.of });
    case 'paused':
      return t('run.pausedAt', { step: run.step, reward });
    case 'finished':
      return t('run.finishedAt', { step: run.step, from: format.fixed(first ?? NaN, 2), reward });
    case 'failed':
      return t('run.failedAt', { step: run.step });
    case 'idle':
      return t('run.idle');
  }
}
