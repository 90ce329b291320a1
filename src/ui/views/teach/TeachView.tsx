import { useMemo, type ReactNode } from 'react';
import { Link, useSearch } from 'wouter';
import { t } from '../../text/text.ts';
import { Checklist } from './Checklist.tsx';
import { ClockBar } from './ClockBar.tsx';
import { LinkBuilder } from './LinkBuilder.tsx';
import { NotesFile } from './NotesFile.tsx';
import { Presenter } from './Presenter.tsx';
import { LengthChoice, RunSheet } from './RunSheet.tsx';
import { Sheet } from './Sheet.tsx';
import { SECTIONS } from './plan.ts';
import { useTeach } from './store.ts';
import styles from './TeachView.module.css';

/** Everything for a class: the run-sheet and its clock, links, sheets to print, and the presenter. */
export function TeachView(): ReactNode {
  const search = useSearch();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const sheet = query.get('sheet');
  if (sheet === 'worksheet' || sheet === 'key') return <Sheet kind={sheet} />;
  if (query.get('present') === '1') return <Presenter number={Number(query.get('stage') ?? 1)} />;
  return <Teach />;
}

function Teach(): ReactNode {
  const at = useTeach((s) => s.at);
  return (
    <div className={styles.view}>
      <header className={styles.head}>
        <h1>{t('teach.title')}</h1>
        <p className={styles.lead}>{t('teach.lead')}</p>
        <p className={styles.ways}>
          <Link to={`/teach?present=1&stage=${SECTIONS.indexOf(at) + 1}`} className={styles.way}>{t('teach.present')}</Link>
          <Link to="/teach?sheet=worksheet" className={styles.way}>{t('teach.worksheet')}</Link>
          <Link to="/teach?sheet=key" className={styles.way}>{t('teach.key')}</Link>
        </p>
      </header>
      <Checklist />
      <section className={styles.part} aria-labelledby="teach-plan">
        <h2 id="teach-plan">{t('teach.plan')}</h2>
        <LengthChoice />
        <ClockBar />
        <RunSheet />
        <NotesFile />
      </section>
      <LinkBuilder />
      <section className={styles.part} aria-labelledby="teach-after">
        <h2 id="teach-after">{t('teach.after')}</h2>
        <ul className={styles.after}>
          {(['checks', 'runs', 'question', 'keep'] as const).map((item) => <li key={item}>{t(`teach.after.${item}`)}</li>)}
        </ul>
      </section>
    </div>
  );
}
