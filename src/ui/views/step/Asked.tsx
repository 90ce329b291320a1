import { useState, type ReactNode } from 'react';
import { Bar } from '../../components/Bar.tsx';
import { Button } from '../../components/Button.tsx';
import { Notice } from '../../components/Notice.tsx';
import type { Inspection } from '../../../lab/inspection.ts';
import { ask, cancelAsking, useInspection, type Answer } from '../../stores/microscope.ts';
import { t } from '../../text/text.ts';
import styles from './Asked.module.css';

export interface Asking<K extends Inspection['kind']> {
  /** Undefined where nothing is asked, or where the person stopped it. */
  readonly answer: Answer<K> | undefined;
  readonly stopped: boolean;
  readonly stop: () => void;
  readonly again: () => void;
}

/**
 * Asks the microscope as `useInspection` does; the person may stop it, and ask again.
 * @param key everything that the answer depends on; undefined asks nothing.
 */
export function useAsked<I extends Inspection>(key: string | undefined, make: () => I): Asking<I['kind']> {
  const [stoppedKey, setStopped] = useState<string>();
  const stopped = key !== undefined && key === stoppedKey;
  const answer = useInspection(stopped ? undefined : key, make);
  return {
    answer,
    stopped,
    stop: () => {
      setStopped(key);
      if (key !== undefined) cancelAsking(key);
    },
    again: () => {
      setStopped(undefined);
      if (key !== undefined) ask(key, make());
    },
  };
}

interface AskedProps<K extends Inspection['kind']> {
  readonly asking: Asking<K>;
  /** What is computed, in words: "The distributions of this rollout". */
  readonly what: string;
  /** In one line, as in a table. */
  readonly line?: boolean;
  readonly children: (result: Extract<Answer<K>, { state: 'ready' }>['result']) => ReactNode;
}

/** The answer where it is there; else how far it is, with a way to stop; or why there is none, and what to do. */
export function Asked<K extends Inspection['kind']>({ asking: { answer, stopped, stop, again }, what, line = false, children }: AskedProps<K>): ReactNode {
  if (stopped) {
    return (
      <div className={styles.asked} data-line={line || undefined}>
        <p>{t('asked.stopped', { what })}</p>
        <Button onClick={again}>{t('asked.again')}</Button>
      </div>
    );
  }
  if (answer === undefined) return null;
  switch (answer.state) {
    case 'ready':
      return children(answer.result);
    case 'waiting': {
      const { phase, done, of } = answer;
      return (
        <div className={styles.asked} data-line={line || undefined}>
          <p role="status">{t(`asked.${phase ?? 'asked'}`, { what, done, of })}</p>
          <div className={styles.bar}><Bar label={t('asked.progress')} value={done} most={of} /></div>
          <Button onClick={stop}>{t('asked.stop')}</Button>
        </div>
      );
    }
    case 'failed':
      return (
        <div className={styles.asked} data-line={line || undefined}>
          <Notice kind="fault" detail={answer.message}>{t('asked.failed', { what })}</Notice>
          <Button onClick={again}>{t('asked.again')}</Button>
        </div>
      );
  }
}
