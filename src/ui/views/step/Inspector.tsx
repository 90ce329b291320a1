import type { ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import { format, t } from '../../text/text.ts';
import { describeToken } from './describe.ts';
import { inLoss } from './tokens.ts';
import styles from './Inspector.module.css';

interface InspectorProps {
  readonly rollout: TrainedTrajectory | undefined;
  readonly token: number | undefined;
  /** The rollout's number in its group. */
  readonly number: number | undefined;
  readonly grpo: GrpoSettings;
  /** Under the pointer, not pinned. */
  readonly preview: boolean;
}

/** One token in words and numbers. Always as high, so that nothing jumps. */
export function Inspector({ rollout, token, number, grpo, preview }: InspectorProps): ReactNode {
  const there = rollout !== undefined && token !== undefined && token < rollout.tokens.length;
  return (
    <section className={styles.inspector} aria-label={t('inspector.title')} data-preview={preview || undefined}>
      <p className={styles.sentence} aria-live={preview ? 'off' : 'polite'}>
        {there ? t('inspector.sentence', { number: number ?? 0, sentence: describeToken(rollout, token, grpo) }) : t('inspector.none')}
      </p>
      <dl className={styles.numbers}>
        {there && numbersOf(rollout, token).map(([name, value]) => (
          <div key={name}>
            <dt>{t(`number.${name}`)}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

type NumberName = 'logProb' | 'probability' | 'entropy' | 'kl' | 'weight' | 'dLogProb' | 'gradient';

/** 0 is written as 0 where it is exactly that: a token outside of the loss has no gradient at all. */
const exact = (x: number): string => (x === 0 ? t('number.exactZero') : format.significant(x, 3));

function numbersOf(rollout: TrainedTrajectory, token: number): (readonly [NumberName, string])[] {
  const { update } = rollout;
  const sampled = rollout.logProbs[token] ?? NaN;
  const logProb = Number.isNaN(sampled) && inLoss(rollout, token) ? (update?.logProbs[token] ?? NaN) : sampled;
  return [
    ['logProb', format.fixed(logProb, 3)],
    ['probability', format.fixed(Math.exp(logProb), 3)],
    ['entropy', format.fixed(update?.entropy[token] ?? NaN, 3)],
    ['kl', format.significant(update?.kl[token] ?? NaN, 3)],
    ['weight', exact(rollout.weights[token] ?? 0)],
    ['dLogProb', update === undefined ? '–' : exact(update.dLogProb[token] ?? 0)],
    ['gradient', update === undefined ? '–' : exact(update.gradient[token] ?? 0)],
  ];
}
