import type { ReactNode } from 'react';
import { t } from '../../text/text.ts';
import { BeforeAfter } from './BeforeAfter.tsx';
import { Doors } from './Doors.tsx';
import { Readiness } from './Readiness.tsx';
import styles from './HomeView.module.css';

const LOOP = ['ask', 'write', 'score', 'update'] as const;

/** The way in: three doors, whether this machine is ready, and below them what will happen. */
export function HomeView(): ReactNode {
  return (
    <div className={styles.view}>
      <header>
        <h1 className={styles.title}>{t('home.title')}</h1>
        <p className={styles.words}>{t('home.lead')}</p>
      </header>
      <Doors />
      <Readiness />
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
      <BeforeAfter />
    </div>
  );
}
