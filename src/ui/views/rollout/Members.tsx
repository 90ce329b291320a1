import { memo, type ReactNode } from 'react';
import type { GroupRecord } from '../../../grpo/record.ts';
import { mostOf } from '../../../reward/score.ts';
import { Icon } from '../../components/Icon.tsx';
import { format, t } from '../../text/text.ts';
import styles from './Members.module.css';

interface MembersProps {
  readonly group: GroupRecord;
  /** From 1. */
  readonly chosen: number;
  readonly onChoose: (rollout: number) => void;
}

/** The rollouts of the group, with what each earned. */
export const Members = memo(function Members({ group, chosen, onChoose }: MembersProps): ReactNode {
  return (
    <ul className={styles.members} aria-label={t('rollout.members')}>
      {group.members.map(({ reward }, i) => (
        <li key={i}>
          <button type="button" className={styles.member} aria-current={chosen === i + 1} onClick={() => {
            onChoose(i + 1);
          }}>
            <b>{t('detail.title', { number: i + 1 })}</b>
            <span className={styles.bar} aria-hidden="true"><span style={{ width: `${Math.max(0, Math.min(100, (100 * reward.total) / mostOf(reward)))}%` }} /></span>
            <span className={styles.reward}>{format.fixed(reward.total, 2)}</span>
            <Icon name={reward.correct ? 'check' : 'cross'} size={14} />
            <span className="hidden">{t(reward.correct ? 'rollout.right' : 'rollout.wrong')}</span>
          </button>
        </li>
      ))}
    </ul>
  );
});
