import type { ReactNode } from 'react';
import { RECORDED } from '../../../lesson/recorded.ts';
import { CHECKS, CLAIMS, grade, LESSON, OPTIONS, type Findings, type OptionId, type StageId } from '../../../lesson/stages.ts';
import { useLesson } from '../../stores/lesson.ts';
import { format, t } from '../../text/text.ts';
import { evidenceWords } from './Closing.tsx';
import { termWhat, termWord } from './terms.ts';
import { explainWords, foundWords } from './words.ts';
import styles from './Reading.module.css';

/** The lesson on paper: all stages with their words, predictions and answers, and nothing to press. Printed only. */
export function Reading(): ReactNode {
  const found = useLesson((s) => s.found);
  const said = useLesson((s) => s.said);
  return (
    <div className={styles.reading} data-testid="reading">
      <h1>{t('view.lesson')}</h1>
      <p>{t('lesson.lead')}</p>
      {LESSON.map(({ id, terms }, i) => {
        const own = found[id];
        const finding: Findings[StageId] = own ?? RECORDED[id];
        const borne = grade(id, finding as never);
        const options: readonly OptionId[] = OPTIONS[id];
        return (
          <section key={id} className={styles.stage}>
            <h2>{format.integer(i + 1)}. {t(`lesson.${id}.title`)}</h2>
            <p>{t(`lesson.${id}.text`)}</p>
            <dl className={styles.terms}>{terms.map((term) => <div key={term}><dt>{termWord(term)}</dt><dd>{termWhat(term)}</dd></div>)}</dl>
            <h3>{t('lesson.named', { what: t('lesson.predict'), which: t(`lesson.${id}.predict`) })}</h3>
            <ul className={styles.options}>
              {options.map((option) => (
                <li key={option} data-right={option === borne || undefined}>
                  {option === borne ? '●' : '○'} {t(`lesson.option.${option}`)}
                  {option === said[id] && <> {t('lesson.saidMark')}</>}
                  {option !== borne && borne !== undefined && <span className={styles.rejoinder}>{t(`lesson.rejoinder.${option}`)}</span>}
                </li>
              ))}
            </ul>
            <p>{t('lesson.named', { what: t(own === undefined ? 'lesson.found.recorded' : 'lesson.found'), which: foundWords(id, finding as never) })}</p>
            <p>{explainWords(id, finding as never)}</p>
          </section>
        );
      })}
      <section className={styles.stage}>
        <h2>{t('lesson.checks')}</h2>
        <ol className={styles.list}>{CHECKS.map((id) => <li key={id}><b>{t(`lesson.check.${id}`)}</b> {t(`lesson.check.${id}.answer`)}</li>)}</ol>
      </section>
      <section className={styles.stage}>
        <h2>{t('lesson.claims')}</h2>
        <ol className={styles.list}>{CLAIMS.map((id) => <li key={id}><b>{t(`lesson.claim.${id}`)}</b> {evidenceWords(id, found)}</li>)}</ol>
      </section>
    </div>
  );
}
