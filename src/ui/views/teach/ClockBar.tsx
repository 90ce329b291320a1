import { useEffect, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { Choice } from '../../components/Choice.tsx';
import { Icon } from '../../components/Icon.tsx';
import { t } from '../../text/text.ts';
import { elapsed, standing, taught, totalOf } from './plan.ts';
import { teach, useTeach } from './store.ts';
import { titleOf } from './words.ts';
import styles from './ClockBar.module.css';

/** Less than half a minute is on time: nobody teaches to the second. */
const ON_TIME = 30;

function useNow(going: boolean): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!going) return undefined;
    const tick = (): void => {
      setNow(Date.now());
    };
    tick();
    const timer = setInterval(tick, 1000);
    return () => {
      clearInterval(timer);
    };
  }, [going]);
  return now;
}

const clockText = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;

/** The clock of the lesson: where the class is, how long it may stay, how far it is behind or ahead. */
export function ClockBar({ choose = true }: { readonly choose?: boolean }): ReactNode {
  const plan = useTeach((s) => s.plan);
  const at = useTeach((s) => s.at);
  const clock = useTeach((s) => s.clock);
  const going = clock.since !== undefined;
  const now = useNow(going);
  const seconds = elapsed(clock, Math.max(now, clock.since ?? 0));
  const { lag, left } = standing(plan, at, seconds);
  const started = going || seconds > 0;
  const sections = taught(plan);
  return (
    <div className={styles.bar} role="group" aria-label={t('teach.clock')}>
      <span className={styles.time} role="timer" aria-label={t('teach.clock.time')}>
        <b>{clockText(seconds)}</b> {t('teach.clock.of', { minutes: totalOf(plan) })}
      </span>
      <span className={styles.ways}>
        {going
          ? <Button onClick={teach.pause}><Icon name="pause" size={14} />{t('teach.clock.pause')}</Button>
          : <Button kind={started ? 'plain' : 'primary'} onClick={teach.start}><Icon name="play" size={14} />{t(started ? 'teach.clock.resume' : 'teach.clock.start')}</Button>}
        {started && <Button kind="quiet" onClick={teach.stop}>{t('teach.clock.reset')}</Button>}
      </span>
      {choose && (
        <span className={styles.where}>
          <span aria-hidden="true">{t('teach.clock.at')}</span>
          <Choice label={t('teach.clock.at')} value={at} items={[...new Set([...sections, at])].map((value) => ({ value, label: titleOf(value) }))} onChange={teach.visit} />
        </span>
      )}
      {/* Said once for each change of words, not each second. */}
      <span className={styles.lag} data-late={lag > ON_TIME || undefined} role="status">
        {!started ? t('teach.clock.idle')
          : Math.abs(lag) <= ON_TIME ? t('teach.clock.onTime', { minutes: Math.max(1, Math.ceil(left / 60)) })
            : t(lag > 0 ? 'teach.clock.behind' : 'teach.clock.ahead', { minutes: Math.max(1, Math.round(Math.abs(lag) / 60)) })}
      </span>
    </div>
  );
}
