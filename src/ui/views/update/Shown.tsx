import type { ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import type { UpdateMember } from '../../../lab/inspection.ts';
import { t } from '../../text/text.ts';
import { usePlaying } from '../../transport/store.ts';
import { describeToken } from '../step/describe.ts';
import styles from './Shown.module.css';

interface ShownProps {
  readonly rollout: TrainedTrajectory;
  readonly number: number;
  readonly member: UpdateMember;
  readonly token: number;
  readonly grpo: GrpoSettings;
  /** Under the pointer, not chosen. */
  readonly preview: boolean;
  /** Further numbers, in their order. */
  readonly extra: readonly (readonly [string, string])[];
}

/** The token that is looked at, in one sentence. Always as high, so that nothing jumps. */
export function Shown({ rollout, number, member, token, grpo, preview, extra }: ShownProps): ReactNode {
  const playing = usePlaying();
  const trained = { ...rollout, weights: member.weights, advantage: member.advantage, update: member.tokens };
  return (
    <section className={styles.shown} aria-label={t('inspector.title')}>
      <p aria-live={preview || playing ? 'off' : 'polite'}>
        {t('inspector.sentence', { number, sentence: describeToken(trained, token, grpo) })}
      </p>
      <dl className={styles.extra}>
        {extra.map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}
      </dl>
    </section>
  );
}
