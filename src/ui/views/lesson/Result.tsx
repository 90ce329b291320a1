import { useEffect, useRef, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import type { OptionId, StageId } from '../../../lesson/stages.ts';
import { lessonStore, useLesson } from '../../stores/lesson.ts';
import { format, t } from '../../text/text.ts';
import { lessonAddress, stageOf } from './address.ts';
import { explainWords, foundWords, isRight } from './words.ts';
import styles from './Lesson.module.css';

interface ResultProps {
  readonly stage: StageId;
  readonly said: string;
  readonly next: StageId | undefined;
  /** The prediction was made just now. */
  readonly fresh: boolean;
  readonly onAgain: () => void;
}

/** What the person said beside what the engine found, and why. */
export function Result({ stage, said, next, fresh, onAgain }: ResultProps): ReactNode {
  const finding = useLesson((s) => s.found[stage]);
  const root = useRef<HTMLElement>(null);
  useEffect(() => {
    // The form that had the focus is gone; what took its place is read on from here.
    if (fresh) root.current?.focus({ preventScroll: true });
  }, [fresh]);
  const right = isRight(stage, said, finding);
  const option = said as OptionId;
  return (
    <section ref={root} tabIndex={-1} className={styles.card} aria-label={t('lesson.result')} data-grade={finding === undefined ? 'waiting' : right === undefined ? 'none' : right ? 'right' : 'wrong'}>
      <dl className={styles.said}>
        <div><dt>{t('lesson.said')}</dt><dd>{t(`lesson.option.${option}`)}</dd></div>
        <div>
          <dt>{t('lesson.found')}</dt>
          <dd><span role="status">{finding === undefined ? <span className={styles.waiting}>{t(stage === 'interleaving' ? 'lesson.waiting.interleaving' : 'lesson.waiting')}</span> : <b data-testid="found">{foundWords(stage, finding)}</b>}</span></dd>
        </div>
      </dl>
      {finding !== undefined && (
        <>
          <p className={styles.verdict} data-right={right}>
            {right !== undefined && <Icon name={right ? 'check' : 'cross'} size={16} />}
            <b>{t(right === undefined ? 'lesson.ungraded' : right ? 'lesson.right' : 'lesson.wrong')}</b>
            {right === false && format.sentences(['', t(`lesson.rejoinder.${option}`)])}
          </p>
          <p>{explainWords(stage, finding)}</p>
        </>
      )}
      <div className={styles.ways}>
        {next !== undefined && finding !== undefined && <Link to={lessonAddress(next, lessonStore.getState().said[next])} className={styles.way}>{t('lesson.next', { title: t(`lesson.${next}.title`) })}</Link>}
        <Button kind="quiet" onClick={onAgain}>{t('lesson.again')}</Button>
        <Link to={stageOf(stage).address}>{t('lesson.inLab')}</Link>
      </div>
    </section>
  );
}
