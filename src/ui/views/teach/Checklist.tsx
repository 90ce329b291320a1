import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { RECORDED } from '../../../lesson/recorded.ts';
import { t } from '../../text/text.ts';
import { CHECKLIST, teach, useTeach } from './store.ts';
import styles from './TeachView.module.css';

const TROUBLES = ['gpu', 'network', 'many'] as const;

/** What to do before class, and what to do when the room is not as it should be. */
export function Checklist(): ReactNode {
  const done = useTeach((s) => s.done);
  return (
    <div className={styles.before}>
      <section className={styles.part} aria-labelledby="teach-before">
        <h2 id="teach-before">{t('teach.before')}</h2>
        <ul className={styles.checks}>
          {CHECKLIST.map((item) => (
            <li key={item}>
              <label>
                <input type="checkbox" checked={done.includes(item)} onChange={(event) => {
                  teach.check(item, event.target.checked);
                }} />
                <span>{t(`teach.before.${item}`)}</span>
              </label>
            </li>
          ))}
        </ul>
        <p className={styles.note}><Link to="/">{t('teach.before.home')}</Link></p>
      </section>
      <section className={styles.part} aria-labelledby="teach-trouble">
        <h2 id="teach-trouble">{t('teach.trouble')}</h2>
        <dl className={styles.troubles}>
          {TROUBLES.map((trouble) => (
            <div key={trouble}>
              <dt>{t(`teach.trouble.${trouble}`)}</dt>
              <dd>{trouble === 'gpu' ? t('teach.trouble.gpu.what', RECORDED.loop) : t(`teach.trouble.${trouble}.what`)}</dd>
            </div>
          ))}
        </dl>
      </section>
    </div>
  );
}
