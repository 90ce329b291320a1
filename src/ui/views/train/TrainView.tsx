import { useState, type ReactNode } from 'react';
import { useRunView } from '../../stores/runs.ts';
import { t } from '../../text/text.ts';
import { Curves } from './Curves.tsx';
import { Setup } from './Setup.tsx';
import { StoredRuns } from './StoredRuns.tsx';
import { Transport } from './Transport.tsx';
import styles from './TrainView.module.css';

/** The live loop: set up, train, watch. */
export function TrainView(): ReactNode {
  const view = useRunView();
  const [inParts, setInParts] = useState(true);
  return (
    <div className={styles.view}>
      <h1 className="hidden">{t('view.train')}</h1>
      <Transport />
      <section className={styles.curves} aria-label={t('curves.title')}>
        <Curves view={view} inParts={inParts} onInParts={setInParts} />
      </section>
      <div className={styles.setup}>
        <Setup />
        <StoredRuns />
      </div>
    </div>
  );
}
