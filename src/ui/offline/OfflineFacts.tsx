import type { ReactNode } from 'react';
import { Bar } from '../components/Bar.tsx';
import { Button } from '../components/Button.tsx';
import { Notice } from '../components/Notice.tsx';
import { format, t } from '../text/text.ts';
import { offline, useOffline, type OfflineStatus } from './store.ts';
import styles from './OfflineFacts.module.css';

const megabytes = (bytes: number): string => format.fixed(bytes / 1e6, 1);

/** Whether the page works with the network cut, and what can be done about it. */
export function OfflineFacts(): ReactNode {
  const status = useOffline((s) => s.status);
  const newer = useOffline((s) => s.newer);
  const fault = useOffline((s) => s.fault);
  return (
    <div className={styles.facts}>
      <Status status={status} />
      {newer !== undefined && status.state === 'complete' && (
        <Notice kind="note">
          {t('offline.newer', { size: megabytes(newer.bytes) })}
          <div><Press act={offline.download}>{t('offline.update')}</Press></div>
        </Notice>
      )}
      {fault !== undefined && <Notice kind="fault" detail={fault.detail}>{t(`offline.fault.${fault.code}`, { file: fault.file })}</Notice>}
    </div>
  );
}

function Press({ act, quiet = false, children }: { readonly act: () => Promise<void>; readonly quiet?: boolean; readonly children: ReactNode }): ReactNode {
  return <Button kind={quiet ? 'quiet' : 'plain'} onClick={() => { void act(); }}>{children}</Button>;
}

function Status({ status }: { readonly status: OfflineStatus }): ReactNode {
  switch (status.state) {
    case 'unknown':
      return <p className={styles.note}>{t('offline.unknown')}</p>;
    case 'impossible':
      return <p className={styles.note}>{t(`offline.impossible.${status.reason}`)}</p>;
    case 'none': {
      const { here, whole } = status;
      if (whole === undefined) return <><p className={styles.note}>{t('offline.noServer')}</p><Press act={offline.download}>{t('offline.download')}</Press></>;
      if (here.files > 0) {
        return (
          <>
            <p>{t('offline.partial', { here: megabytes(here.bytes), files: here.files })}</p>
            <div className={styles.buttons}>
              <Press act={offline.download}>{t('offline.goOn')}</Press>
              <Press act={offline.remove} quiet>{t('offline.remove')}</Press>
            </div>
          </>
        );
      }
      return (
        <>
          <p className={styles.note}>{t('offline.none')}</p>
          <Press act={offline.download}>{t('offline.downloadSize', { size: megabytes(whole.bytes) })}</Press>
        </>
      );
    }
    case 'loading':
    case 'verifying': {
      const { done, whole } = status;
      return (
        <>
          <p>{t(`offline.${status.state}`, { done: megabytes(done.bytes), of: megabytes(whole.bytes), files: done.files, ofFiles: whole.files })}</p>
          <div className={styles.bar}><Bar label={t('offline.progress')} value={done.bytes} most={whole.bytes} /></div>
          <Button onClick={offline.cancel}>{t('offline.cancel')}</Button>
        </>
      );
    }
    case 'broken': {
      const { broken } = status;
      return (
        <>
          <Notice kind="fault">{t('offline.broken', { files: broken.length, first: broken[0] ?? '' })}</Notice>
          <div className={styles.buttons}>
            <Press act={offline.download}>{t('offline.mend')}</Press>
            <Press act={offline.remove} quiet>{t('offline.remove')}</Press>
          </div>
        </>
      );
    }
    case 'complete':
      return (
        <>
          <p role="status"><b>{t('offline.complete', { files: status.whole.files, size: megabytes(status.whole.bytes) })}</b></p>
          {status.renewed
            ? <><p>{t('offline.renewed')}</p><Button kind="primary" onClick={() => { location.reload(); }}>{t('offline.reload')}</Button></>
            : (
                <>
                  <p className={styles.note}>{t('offline.complete.what', { when: format.dateTime(status.verified) })}</p>
                  <div className={styles.buttons}>
                    <Press act={offline.verify}>{t('offline.verify')}</Press>
                    <Press act={offline.remove} quiet>{t('offline.remove')}</Press>
                  </div>
                </>
              )}
        </>
      );
  }
}
