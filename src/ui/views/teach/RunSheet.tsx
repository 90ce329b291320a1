import { useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { Segments } from '../../components/Segments.tsx';
import { LESSON, type StageId } from '../../../lesson/stages.ts';
import { format, t } from '../../text/text.ts';
import { LEAST_TOTAL, LENGTHS, MOST_SECTION, MOST_TOTAL, planFor, SECTIONS, startOf, totalOf, type SectionId } from './plan.ts';
import { teach, useTeach } from './store.ts';
import { answerTo, foundAt, isStage, noteOf, numberOf, optionsOf, titleOf } from './words.ts';
import styles from './RunSheet.module.css';

/** How long the lesson is: three usual lengths, or any. */
export function LengthChoice(): ReactNode {
  const plan = useTeach((s) => s.plan);
  const total = totalOf(plan);
  const usual = LENGTHS.find((length) => SECTIONS.every((id) => planFor(length)[id] === plan[id]));
  return (
    <div className={styles.length}>
      <Segments label={t('teach.length')} value={usual === undefined ? undefined : String(usual)}
        items={LENGTHS.map((length) => ({ value: String(length), label: t('teach.length.of', { minutes: length }) }))}
        onChange={(value) => {
          teach.plan(Number(value));
        }} />
      <div className={styles.total}>
        <NumberField label={t('teach.total')} value={total} least={LEAST_TOTAL} most={MOST_TOTAL} whole onChange={teach.plan} />
      </div>
      <p className={styles.hint}>{t('teach.length.what')}</p>
    </div>
  );
}

/** Stage after stage: minutes, words, questions with their answers, and what to have on the screen. */
export function RunSheet(): ReactNode {
  return <ol className={styles.sheet}>{SECTIONS.map((id) => <Section key={id} id={id} />)}</ol>;
}

function Section({ id }: { readonly id: SectionId }): ReactNode {
  const plan = useTeach((s) => s.plan);
  const here = useTeach((s) => s.at === id && s.clock.since !== undefined);
  const minutes = plan[id];
  const out = minutes === 0;
  const start = startOf(plan, id);
  return (
    <li className={styles.section} data-out={out || undefined} data-here={here || undefined} aria-current={here ? 'step' : undefined}>
      <div className={styles.head}>
        <h3 className={styles.title}>{isStage(id) && <span className={styles.number}>{numberOf(id)}</span>}{titleOf(id)}</h3>
        <p className={styles.when}>{out ? t('teach.leftOut') : t('teach.when', { from: start, to: start + minutes })}</p>
        <div className={styles.minutes}>
          <NumberField label={t('teach.minutes')} value={minutes} least={0} most={MOST_SECTION} whole onChange={(count) => {
            teach.minutes(id, count);
          }} />
        </div>
      </div>
      {!out && (
        <div className={styles.body}>
          <div className={styles.column}>
            <h4>{t('teach.say')}</h4>
            <Note id={id} />
            {isStage(id) && <Screen id={id} />}
          </div>
          {isStage(id) && <div className={styles.column}><Answers id={id} /></div>}
        </div>
      )}
    </li>
  );
}

/**
 * The question of a stage with what the class will answer; what the lab finds comes from the lesson's own data.
 * @param asked the question stands elsewhere on the screen
 */
export function Answers({ id, asked = false }: { readonly id: StageId; readonly asked?: boolean }): ReactNode {
  const options = optionsOf(id);
  return (
    <>
      <h4>{t('teach.predict')}</h4>
      {!asked && <p className={styles.question}>{t(`lesson.${id}.predict`)}</p>}
      <ul className={styles.options}>
        {options.map(({ id: option, label, right, rejoinder }) => (
          <li key={option} data-right={right || undefined}>
            <span className={styles.mark} aria-hidden="true">{right ? '✓' : '✗'}</span>
            <div>
              <p><b>{label}</b> <span className="hidden">{t(right ? 'teach.right' : 'teach.wrong')}</span></p>
              <p className={styles.reply}>{right ? foundAt(id) : rejoinder}</p>
            </div>
          </li>
        ))}
      </ul>
      <h4>{t('teach.ask')}</h4>
      <p className={styles.question}>{t(`teach.${id}.ask`)}</p>
      <p className={styles.reply}>{answerTo(id)}</p>
      <h4>{t('teach.mistake')}</h4>
      <p><q>{t(`teach.${id}.mistake`)}</q></p>
      <p className={styles.reply}>{t(`teach.${id}.reply`)}</p>
    </>
  );
}

function Screen({ id }: { readonly id: StageId }): ReactNode {
  return (
    <>
      <h4>{t('teach.screen')}</h4>
      <p>{t(`teach.${id}.screen`)}</p>
      <p className={styles.links}>
        <Link to={`/lesson?stage=${numberOf(id)}`}>{t('teach.open.stage', { number: numberOf(id) })}</Link>
        <Link to={`/lesson?stage=${numberOf(id)}&present=1`}>{t('teach.open.present')}</Link>
        <Link to={LESSON.find((stage) => stage.id === id)?.address ?? '/'}>{t('teach.open.lab')}</Link>
      </p>
      <h4>{t('teach.without')}</h4>
      <p>{t(`teach.${id}.without`)}</p>
    </>
  );
}

/** The teacher's words for a section, to be changed where they stand. */
export function Note({ id, large = false }: { readonly id: SectionId; readonly large?: boolean }): ReactNode {
  const notes = useTeach((s) => s.notes);
  const [editing, setEditing] = useState(false);
  const text = noteOf(id, notes);
  const own = notes[id] !== undefined;
  const label = t('teach.note.of', { title: titleOf(id) });
  return (
    <div className={large ? styles.largeNote : styles.note}>
      {editing
        ? (
            <textarea
              className={styles.text}
              aria-label={label}
              value={text}
              rows={Math.min(16, text.split('\n').length + Math.ceil(text.length / 60))}
              // The person has just pressed Edit.
              // eslint-disable-next-line jsx-a11y/no-autofocus
              autoFocus
              onChange={(event) => {
                teach.write(id, event.target.value);
              }}
            />
          )
        : <p className={styles.words}>{text}</p>}
      <p className={styles.actions}>
        <Button kind="quiet" aria-label={format.named(t(editing ? 'teach.note.done' : 'teach.note.edit'), label)} onClick={() => {
          setEditing(!editing);
        }}>{t(editing ? 'teach.note.done' : 'teach.note.edit')}</Button>
        {own && <span className={styles.own}>{t('teach.note.own')}</span>}
        {own && <Button kind="quiet" aria-label={format.named(t('teach.note.reset'), label)} onClick={() => {
          setEditing(false);
          teach.reset(id);
        }}>{t('teach.note.reset')}</Button>}
      </p>
    </div>
  );
}
