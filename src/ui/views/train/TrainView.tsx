import type { ReactNode } from 'react';
import { Hideable } from '../../hiding/Hideable.tsx';
import { t } from '../../text/text.ts';
import { Curves } from './Curves.tsx';
import { Setup } from './Setup.tsx';
import { StoredRuns } from './StoredRuns.tsx';
import { Transport } from './Transport.tsx';
import styles from './TrainView.module.css';

/** The live loop: set up, train, watch. It subscribes to nothing itself: a step draws only what it changes. */
export function TrainView(): ReactNode {
  return (
    <div className={styles.view}>
      <h1 className="hidden">{t('view.train')}</h1>
      <Transport />
      <section className={styles.curves} aria-label={t('curves.title')}><Curves /></section>
      <div className={styles.setup}>
        <Setup />
        <Hideable name="runs"><StoredRuns /></Hideable>
      </div>
    </div>
  );
}
