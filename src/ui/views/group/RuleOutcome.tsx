import type { ReactNode } from 'react';
import { format, t } from '../../text/text.ts';
import styles from './RuleOutcome.module.css';
import { VerdictLine, type VerdictProps } from './Verdict.tsx';

/** What a rule made of the group, beside the code: each reward before and after, and what that comes to. */
export function RuleOutcome(props: VerdictProps): ReactNode {
  return (
    <div className={styles.outcome}>
      <ol className={styles.rewards}>
        {props.now.rows.map(({ reward, sampled }, i) => (
          <li key={i}>
            <span className={styles.number}>{t('detail.title', { number: i + 1 })}</span>
            {t('rule.change', { was: format.fixed(sampled.reward, 2), now: reward === null ? t('reward.leftOut') : format.fixed(reward, 2) })}
          </li>
        ))}
      </ol>
      <VerdictLine {...props} />
    </div>
  );
}
