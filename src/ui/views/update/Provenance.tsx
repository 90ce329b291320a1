import type { ReactNode } from 'react';
import { Bar } from '../../components/Bar.tsx';
import { Button } from '../../components/Button.tsx';
import { format, t } from '../../text/text.ts';
import type { Asking } from '../step/Asked.tsx';
import styles from './Provenance.module.css';

/** Where the numbers come from: stored when the update was made, or computed again and checked. Always as high. */
export function Provenance({ asking, made, onAsk }: { readonly asking: Asking<'update'>; readonly made: boolean; readonly onAsk: (() => void) | undefined }): ReactNode {
  const { answer, stopped, stop, again } = asking;
  if (answer?.state === 'ready') {
    const { engine, snapshot, replayed, check } = answer.result.provenance;
    return (
      <p className={styles.line}>
        {t('update.from', { engine: engine.kind, snapshot, replayed })}
        {check !== undefined && ` ${t('update.checked', { tokens: check.tokens, difference: format.significant(check.maxDifference, 2) })}`}
      </p>
    );
  }
  const stored = made ? t('update.stored') : '';
  if (answer?.state === 'waiting') {
    return (
      <div className={styles.line}>
        <span role="status">{stored} {t(`asked.${answer.phase ?? 'asked'}`, { what: t('update.again'), done: answer.done, of: answer.of })}</span>
        <span className={styles.bar}><Bar label={t('asked.progress')} value={answer.done} most={answer.of} /></span>
        <Button className={styles.button} onClick={stop}>{t('asked.stop')}</Button>
      </div>
    );
  }
  return (
    <div className={styles.line}>
      <span role={answer?.state === 'failed' ? 'alert' : undefined}>
        {stored} {answer?.state === 'failed' && t('asked.failed', { what: t('update.again') })} {answer?.state === 'failed' && <code>{answer.message}</code>}
        {stopped && t('asked.stopped', { what: t('update.again') })}
      </span>
      {(stopped || answer?.state === 'failed') && <Button className={styles.button} onClick={again}>{t('asked.again')}</Button>}
      {onAsk !== undefined && <Button className={styles.button} onClick={onAsk}>{t('update.stay')}</Button>}
    </div>
  );
}
