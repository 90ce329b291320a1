import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import type { Findings, StageId } from '../../../lesson/stages.ts';
import { navigate, splitHash } from '../../routes.ts';
import { lesson } from '../../stores/lesson.ts';
import { t } from '../../text/text.ts';
import { lessonAddress, parseLessonPlace, type Kept } from './address.ts';
import { loadFigure, type Figure } from './figure.ts';
import styles from './Lesson.module.css';

interface SlotProps {
  readonly stage: StageId;
  /** The prediction was made. */
  readonly open: boolean;
  /** It was made just now. */
  readonly fresh: boolean;
  readonly kept: Kept;
}

type Loaded = { readonly state: 'loading' | 'failed' } | { readonly state: 'ready'; readonly Content: Figure };

/** The place of the figure. Its code comes while the person reads. */
export function FigureSlot({ stage, open, fresh, kept }: SlotProps): ReactNode {
  const [loaded, setLoaded] = useState<Loaded>({ state: 'loading' });
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    let gone = false;
    loadFigure(stage).then((Content) => {
      if (!gone) setLoaded({ state: 'ready', Content });
    }, () => {
      if (!gone) setLoaded({ state: 'failed' });
    });
    return () => {
      gone = true;
    };
  }, [stage, attempt]);
  const onFound = useCallback((finding: Findings[StageId]): void => {
    lesson.find(stage, finding);
  }, [stage]);
  const onKept = useCallback((change: Kept): void => {
    // What stands there now, not what stood there when this was drawn.
    const now = parseLessonPlace(splitHash(location.hash).search);
    navigate(lessonAddress(stage, now.said, { ...now.kept, ...change }), { replace: true });
  }, [stage]);
  return (
    <section className={styles.figure} data-open={open || undefined} aria-label={t('lesson.figure', { title: t(`lesson.${stage}.title`) })}>
      {!open
        ? <p className={styles.first}>{t('lesson.first')}</p>
        : loaded.state === 'ready'
          ? <loaded.Content kept={kept} onKept={onKept} onFound={onFound} fresh={fresh} />
          : (
              <div className={styles.first} role="status">
                <p>{t(loaded.state === 'loading' ? 'lesson.figure.loading' : 'lesson.figure.failed')}</p>
                {loaded.state === 'failed' && <Button onClick={() => {
                  setLoaded({ state: 'loading' });
                  setAttempt((n) => n + 1);
                }}>{t('lesson.figure.retry')}</Button>}
              </div>
            )}
    </section>
  );
}
