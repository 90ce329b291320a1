import { AlertDialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Notice } from '../../components/Notice.tsx';
import type { RunSummary } from '../../../lab/protocol.ts';
import { groupAddress } from '../../routes.ts';
import { lab, useLab } from '../../stores/lab.ts';
import { format, t } from '../../text/text.ts';
import { runName } from './run-name.ts';
import styles from './StoredRuns.module.css';

/** Runs of this browser: to look at, to go on with, to delete. */
export function StoredRuns(): ReactNode {
  const runs = useLab((s) => s.runs);
  const current = useLab((s) => s.run?.id);
  const busy = useLab((s) => s.run?.state === 'running' || s.run?.state === 'preparing');
  const fault = useLab((s) => s.faults.store);
  return (
    <section aria-label={t('runs.title')}>
      <h2 className={styles.heading}>{t('runs.title')}</h2>
      {fault !== undefined && <Notice kind="fault" detail={fault.message}>{t('fault.store')}</Notice>}
      {runs.length === 0
        ? <p className={styles.none}>{t('runs.none')}</p>
        : <ul>{runs.map((run) => <Run key={run.id} run={run} here={run.id === current} busy={busy} />)}</ul>}
    </section>
  );
}

function Run({ run, here, busy }: { readonly run: RunSummary; readonly here: boolean; readonly busy: boolean }): ReactNode {
  const name = runName(run.settings);
  const unfinished = run.step < run.settings.steps;
  return (
    <li className={styles.run} aria-current={here}>
      <b className={styles.name}>{name}</b>
      <span className={styles.facts}>
        {t('runs.facts', { step: run.step, of: run.settings.steps, reward: run.reward === undefined ? '–' : format.fixed(run.reward, 2), engine: run.engine.kind })}
        {' · '}
        {format.dateTime(run.started)}
      </span>
      <span className={styles.actions}>
        {!here && (
          <Button kind="quiet" disabled={busy} aria-label={t('runs.openNamed', { name })} onClick={() => {
            lab.openRun(run.id);
          }}>
            {t('runs.open')}
          </Button>
        )}
        {!here && unfinished && (
          <Button kind="quiet" disabled={busy} aria-label={t('runs.resumeNamed', { name })} onClick={() => {
            lab.openRun(run.id);
            lab.resume();
          }}>
            {t('train.resume')}
          </Button>
        )}
        {run.step > 0 && <Link to={groupAddress({ run: run.id, step: run.step })} className={styles.link} aria-label={t('runs.groupsNamed', { name })}>{t('runs.groups')}</Link>}
        <Delete run={run} name={name} disabled={here && busy} />
      </span>
    </li>
  );
}

function Delete({ run, name, disabled }: { readonly run: RunSummary; readonly name: string; readonly disabled: boolean }): ReactNode {
  return (
    <AlertDialog.Root>
      <AlertDialog.Trigger asChild>
        <Button kind="quiet" disabled={disabled} aria-label={t('runs.deleteNamed', { name })}>{t('runs.delete')}</Button>
      </AlertDialog.Trigger>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className={styles.overlay} />
        <AlertDialog.Content className={styles.dialog}>
          <AlertDialog.Title>{t('runs.deleteTitle')}</AlertDialog.Title>
          <AlertDialog.Description>{t('runs.deleteWhat', { name, steps: run.step })}</AlertDialog.Description>
          <div className={styles.answer}>
            <AlertDialog.Cancel asChild><Button>{t('runs.keep')}</Button></AlertDialog.Cancel>
            <AlertDialog.Action asChild>
              <Button kind="primary" onClick={() => {
                lab.deleteRun(run.id);
              }}>
                {t('runs.delete')}
              </Button>
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
