import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { navigate } from '../../routes.ts';
import { RunStatus } from '../../shell/RunStatus.tsx';
import { draft, trainAddress } from '../../stores/draft.ts';
import { useRecorded } from '../../stores/recorded.ts';
import { isGoing, lab, useLab } from '../../stores/lab.ts';
import { t } from '../../text/text.ts';
import { BeforeAfter } from './BeforeAfter.tsx';
import { Readiness } from './Readiness.tsx';
import styles from './HomeView.module.css';

const LOOP = ['ask', 'write', 'score', 'update'] as const;

/** The way in: one large button, what will happen, and whether this machine is ready. */
export function HomeView(): ReactNode {
  const begun = useLab((s) => s.run !== undefined);
  const going = useLab((s) => isGoing(s.run));
  const connection = useLab((s) => s.connection);
  const recorded = useRecorded();
  const unusable = connection === 'failed' || connection === 'other-version';
  return (
    <div className={styles.view}>
      <section className={styles.lead}>
        <h1 className={styles.title}>{t('home.title')}</h1>
        <p className={styles.words}>{t('home.lead')}</p>
        <div className={styles.doors}>
          {going
            ? <Button kind="primary" size="large" onClick={() => {
                navigate('/train');
              }}>{t('home.toRun')}</Button>
            : <Button kind="primary" size="large" disabled={unusable} onClick={() => {
                lab.train(draft.current());
                navigate(trainAddress());
              }}><Icon name="play" />{t('train.start')}</Button>}
          {(begun || recorded.state === 'ready') && <Link to="/group">{t('home.recorded')}</Link>}
        </div>
        {going && <div className={styles.status}><RunStatus /></div>}
        <ol className={styles.loop}>
          {LOOP.map((part, i) => (
            <li key={part} className={styles.part}>
              <span className={styles.number} aria-hidden="true">{i + 1}</span>
              <div>
                <h2 className={styles.name}>{t(`loop.${part}`)}</h2>
                <p className={styles.what}>{t(`loop.${part}.what`)}</p>
              </div>
            </li>
          ))}
        </ol>
      </section>
      <Readiness />
      <BeforeAfter />
    </div>
  );
}
