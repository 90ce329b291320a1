import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { Link, useSearch } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { STAGES, type StageId } from '../../../lesson/stages.ts';
import { useKeys } from '../../keys.ts';
import { navigate } from '../../routes.ts';
import { lesson, lessonStore, useLesson } from '../../stores/lesson.ts';
import { t } from '../../text/text.ts';
import { lessonAddress, numberOf, parseLessonPlace, stageOf, type Kept } from './address.ts';
import { Closing } from './Closing.tsx';
import { FigureSlot } from './FigureSlot.tsx';
import { Prediction } from './Prediction.tsx';
import { Reading } from './Reading.tsx';
import { Result } from './Result.tsx';
import { Stages } from './Stages.tsx';
import { termWhat, termWord } from './terms.ts';
import styles from './Lesson.module.css';

/** One stage a screen: read, predict, run, explain. */
export function LessonView(): ReactNode {
  const place = parseLessonPlace(useSearch());
  const last = useLesson((s) => s.stage);
  const stage = place.stage ?? last ?? STAGES[0];
  const remembered = useLesson((s) => s.said[stage]);
  const said = place.said ?? remembered;
  const linked = place.said;
  useEffect(() => {
    lesson.visit(stage);
    // A link brings its prediction along.
    if (linked !== undefined && lessonStore.getState().said[stage] !== linked) lesson.predict(stage, linked);
  }, [stage, linked]);
  return (
    <>
      <div className={styles.screen}>
        <Stages current={stage} />
        <StageScreen key={stage} stage={stage} said={said} kept={place.kept} />
      </div>
      <Reading />
    </>
  );
}

function useStageKeys(stage: StageId): void {
  useKeys(useMemo(() => {
    const by = (step: number) => (): void => {
      const to = STAGES[STAGES.indexOf(stage) + step];
      if (to !== undefined) navigate(lessonAddress(to, lessonStore.getState().said[to]));
    };
    return [
      { keys: ['p'], label: t('lesson.keys.previous'), run: by(-1) },
      { keys: ['n'], label: t('lesson.keys.next'), run: by(1) },
    ];
  }, [stage]));
}

/** Whether a stage was open before on this page: only then does the focus move. */
let opened = false;

interface ScreenProps {
  readonly stage: StageId;
  readonly said: string | undefined;
  readonly kept: Kept;
}

function StageScreen({ stage, said, kept }: ScreenProps): ReactNode {
  const heading = useRef<HTMLHeadingElement>(null);
  const [fresh, setFresh] = useState(false);
  useStageKeys(stage);
  useLayoutEffect(() => {
    if (opened) {
      heading.current?.focus({ preventScroll: true });
      heading.current?.closest('main')?.scrollTo(0, 0);
    }
    opened = true;
    document.title = `${t(`lesson.${stage}.title`)} – ${t('app.name')}`;
  }, [stage]);
  const { minutes, terms } = stageOf(stage);
  const number = numberOf(stage);
  const previous = STAGES[number - 2];
  const next = STAGES[number];
  const option = lessonStore.getState().said;
  return (
    <article className={styles.stage} aria-labelledby="lesson-heading">
      <div className={styles.top}>
        <section className={styles.read}>
          <p className={styles.where}>{t('lesson.stage', { number, of: STAGES.length })} · {t('lesson.minutes', { minutes })}</p>
          <h1 id="lesson-heading" ref={heading} tabIndex={-1} className={styles.heading}>{t(`lesson.${stage}.title`)}</h1>
          <p className={styles.text}>{t(`lesson.${stage}.text`)}</p>
          <Words terms={terms} />
        </section>
        {said === undefined
          ? <Prediction stage={stage} onSaid={(option) => {
              setFresh(true);
              lesson.predict(stage, option);
              navigate(lessonAddress(stage, option, kept), { replace: true });
            }} />
          : <Result stage={stage} said={said} next={next} fresh={fresh} onAgain={() => {
              setFresh(false);
              lesson.again(stage);
              navigate(lessonAddress(stage), { replace: true });
              heading.current?.focus();
            }} />}
      </div>
      <FigureSlot stage={stage} open={said !== undefined} fresh={fresh} kept={kept} />
      {stage === STAGES.at(-1) && <Closing />}
      <nav className={styles.foot} aria-label={t('lesson.stages')}>
        {previous !== undefined && <Link to={lessonAddress(previous, option[previous])}>{t('lesson.previous', { title: t(`lesson.${previous}.title`) })}</Link>}
        <span className={styles.paper}>
          <Button kind="quiet" onClick={() => {
            print();
          }}>{t('lesson.print')}</Button>
          <Button kind="quiet" onClick={() => {
            lesson.forget();
            navigate(lessonAddress(STAGES[0]));
          }}>{t('lesson.forget')}</Button>
        </span>
        {next !== undefined && <Link to={lessonAddress(next, option[next])}>{t('lesson.next', { title: t(`lesson.${next}.title`) })}</Link>}
      </nav>
    </article>
  );
}

/** Words that stand here for the first time; the text explains each in passing, and this once more. */
function Words({ terms }: { readonly terms: readonly string[] }): ReactNode {
  const words = terms.map((id) => ({ id, word: termWord(id), what: termWhat(id) }));
  return (
    <details className={styles.words}>
      <summary>{t('lesson.words', { words: words.map(({ word }) => word) })}</summary>
      <dl>{words.map(({ id, word, what }) => <div key={id}><dt>{word}</dt><dd>{what}</dd></div>)}</dl>
    </details>
  );
}
