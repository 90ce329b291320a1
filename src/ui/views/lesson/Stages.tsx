import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { Icon } from '../../components/Icon.tsx';
import { STAGES, type StageId } from '../../../lesson/stages.ts';
import { useLesson } from '../../stores/lesson.ts';
import { format, t } from '../../text/text.ts';
import { lessonAddress } from './address.ts';
import { isRight } from './words.ts';
import styles from './Stages.module.css';

/** All stages, and how far each is. */
export function Stages({ current }: { readonly current: StageId }): ReactNode {
  const said = useLesson((s) => s.said);
  const found = useLesson((s) => s.found);
  return (
    <nav className={styles.stages} aria-label={t('lesson.stages')}>
      <ol>
        {STAGES.map((stage, i) => {
          const option = said[stage];
          const right = option === undefined ? undefined : isRight(stage, option, found[stage]);
          const state = option === undefined ? 'open' : right === undefined ? 'predicted' : right ? 'right' : 'wrong';
          return (
            <li key={stage}>
              <Link to={lessonAddress(stage, option)} className={styles.stage} aria-current={stage === current ? 'step' : undefined} data-state={state} title={t(`lesson.${stage}.title`)}>
                <span className={styles.number}>
                  {format.integer(i + 1)}
                  {state !== 'open' && <span className={styles.mark}>{state === 'predicted' ? '…' : <Icon name="check" size={12} />}</span>}
                </span>
                <span className={styles.title}>{t(`lesson.${stage}.title`)}</span>
                <span className="hidden">, {t(`lesson.state.${state}`)}</span>
              </Link>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}
