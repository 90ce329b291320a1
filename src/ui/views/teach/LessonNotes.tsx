import { useMemo, type ReactNode } from 'react';
import { useSearch } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { useKeys, type KeyBinding } from '../../keys.ts';
import { navigate } from '../../routes.ts';
import { STAGES } from '../../../lesson/stages.ts';
import { t } from '../../text/text.ts';
import { ClockBar } from './ClockBar.tsx';
import { NotesButton } from './Presenter.tsx';
import { Answers, Note } from './RunSheet.tsx';
import { teach, teachStore, useTeach } from './store.ts';
import { useVisit } from './useVisit.ts';
import { numberOf } from './words.ts';
import styles from './Presenter.module.css';

/** Below the lesson while it is presented: the clock and the teacher's notes of the stage that is open. */
export function LessonNotes(): ReactNode {
  const query = new URLSearchParams(useSearch());
  const shown = useTeach((s) => s.shown);
  const last = useTeach((s) => s.at);
  // Without a number the lesson opens where the visitor was.
  const stage = STAGES[Number(query.get('stage') ?? NaN) - 1] ?? STAGES.find((id) => id === last) ?? STAGES[0];
  useVisit(stage);
  const leave = `/lesson?stage=${numberOf(stage)}&present=`;
  useKeys(useMemo((): readonly KeyBinding[] => [
    { keys: ['s'], label: t('teach.key.notes'), run: () => {
      teach.show(!teachStore.getState().shown);
    } },
    { keys: ['ArrowRight', 'ArrowLeft', 'PageDown', 'PageUp'], label: t('teach.key.pages'), run: (key) => {
      const to = numberOf(stage) + (key === 'PageDown' || key === 'ArrowRight' ? 1 : -1);
      if (to >= 1 && to <= STAGES.length) navigate(`/lesson?stage=${to}`);
    } },
    { keys: ['Escape'], label: t('teach.key.leave'), run: () => {
      navigate(leave);
    } },
  ], [stage, leave]));
  return (
    <aside className={styles.drawer} aria-label={t('teach.notes')}>
      <div className={styles.top}>
        <ClockBar choose={false} />
        <span className={styles.ways}>
          <NotesButton />
          <Button kind="quiet" onClick={() => {
            navigate(leave);
          }}><Icon name="cross" size={14} />{t('teach.leave')}</Button>
        </span>
      </div>
      {shown && (
        // A region that scrolls must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={styles.drawn} role="region" aria-label={t('teach.say')} tabIndex={0}>
          <Note key={stage} id={stage} />
          <div className={styles.answers}><Answers id={stage} asked /></div>
        </div>
      )}
    </aside>
  );
}
