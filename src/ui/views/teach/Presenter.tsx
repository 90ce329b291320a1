import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { useKeys, type KeyBinding } from '../../keys.ts';
import { navigate } from '../../routes.ts';
import { STAGES } from '../../../lesson/stages.ts';
import { t } from '../../text/text.ts';
import { ClockBar } from './ClockBar.tsx';
import { SECTIONS, taught, type SectionId } from './plan.ts';
import { Answers, Note } from './RunSheet.tsx';
import { teach, teachStore, useTeach } from './store.ts';
import { isStage, numberOf, optionsOf, titleOf } from './words.ts';
import { useVisit } from './useVisit.ts';
import styles from './Presenter.module.css';

const NOTES_KEY = 's';

const addressOf = (section: SectionId): string => `/teach?present=1&stage=${SECTIONS.indexOf(section) + 1}`;

function go(from: SectionId, by: 1 | -1): void {
  const sections = taught(teachStore.getState().plan);
  const to = sections[sections.indexOf(from) + by];
  if (to !== undefined) navigate(addressOf(to), { replace: true });
}

/** One section at a time in large type, with the teacher's notes below; the notes can be put away. */
export function Presenter({ number }: { readonly number: number }): ReactNode {
  const sections = taught(useTeach((s) => s.plan));
  const asked = SECTIONS[number - 1];
  return <Presented section={asked !== undefined && sections.includes(asked) ? asked : (sections[0] ?? 'closing')} sections={sections} />;
}

/** Shows the notes and puts them away, with the key that does the same. */
export function NotesButton(): ReactNode {
  const shown = useTeach((s) => s.shown);
  return (
    <Button aria-pressed={shown} aria-keyshortcuts={NOTES_KEY} onClick={() => {
      teach.show(!shown);
    }}>{t(shown ? 'teach.notes.hide' : 'teach.notes.show')}<kbd className={styles.key} aria-hidden="true">{NOTES_KEY}</kbd></Button>
  );
}

function Presented({ section, sections }: { readonly section: SectionId; readonly sections: readonly SectionId[] }): ReactNode {
  const shown = useTeach((s) => s.shown);
  useVisit(section);
  useKeys(useMemo((): readonly KeyBinding[] => [
    { keys: ['ArrowRight', 'PageDown'], label: t('teach.key.next'), run: () => {
      go(section, 1);
    } },
    { keys: ['ArrowLeft', 'PageUp'], label: t('teach.key.previous'), run: () => {
      go(section, -1);
    } },
    { keys: [NOTES_KEY], label: t('teach.key.notes'), run: () => {
      teach.show(!teachStore.getState().shown);
    } },
    { keys: ['Escape'], label: t('teach.key.leave'), run: () => {
      navigate('/teach?present=');
    } },
  ], [section]));
  const at = sections.indexOf(section);
  return (
    <div className={styles.presenter}>
      <div className={styles.top}>
        <ClockBar choose={false} />
        <Button kind="quiet" onClick={() => {
          navigate('/teach?present=');
        }}><Icon name="cross" size={14} />{t('teach.leave')}</Button>
      </div>
      <section className={styles.slide} aria-label={titleOf(section)}>
        <p className={styles.count}>{t('teach.section', { at: at + 1, of: sections.length })}</p>
        <h1 className={styles.title}>{titleOf(section)}</h1>
        {isStage(section)
          ? (
              <>
                <p className={styles.question}>{t(`lesson.${section}.predict`)}</p>
                <ol className={styles.options}>{optionsOf(section).map(({ id, label }) => <li key={id}>{label}</li>)}</ol>
                <p className={styles.links}>
                  <Link to={`/lesson?stage=${numberOf(section)}&present=1`}>{t('teach.open.stage', { number: numberOf(section) })}</Link>
                </p>
              </>
            )
          : (
              <>
                <p className={styles.question}>{t('teach.closing.ask')}</p>
                <p className={styles.links}>
                  <Link to={`/lesson?stage=${STAGES.length}&present=1&see=checks`}>{t('lesson.checks')}</Link>
                  <Link to={`/lesson?stage=${STAGES.length}&present=1&see=claims`}>{t('lesson.claims')}</Link>
                </p>
              </>
            )}
      </section>
      {shown && (
        <section className={styles.notes} aria-label={t('teach.notes')}>
          <Note key={section} id={section} large />
          {isStage(section) && <div className={styles.answers}><Answers id={section} asked /></div>}
        </section>
      )}
      <nav className={styles.steps} aria-label={t('teach.steps')}>
        <Button disabled={at === 0} onClick={() => {
          go(section, -1);
        }}><Icon name="previous" size={14} />{t('teach.previous')}</Button>
        <NotesButton />
        <Button disabled={at === sections.length - 1} onClick={() => {
          go(section, 1);
        }}>{t('teach.next')}<Icon name="next" size={14} /></Button>
      </nav>
    </div>
  );
}
