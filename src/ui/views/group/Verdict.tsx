import { Fragment, useMemo, type ReactNode } from 'react';
import { Icon } from '../../components/Icon.tsx';
import { expectedEqualShare } from '../../../grpo/advantages.ts';
import type { GroupRecord, StepRecord } from '../../../grpo/record.ts';
import { PAPER_REWARD, type RewardSettings } from '../../../reward/reward.ts';
import { format, t } from '../../text/text.ts';
import { equalShareOf, verdictOf, type GroupNow, type Scoring } from './play.ts';
import styles from './Verdict.module.css';

export interface VerdictProps {
  readonly group: GroupRecord;
  readonly now: GroupNow;
  readonly scoring: Scoring;
  /** The switches of the run's own rule. */
  readonly reward: RewardSettings;
}

/** What the comparison comes to, in words. Always there, and as high: the rows above do not move. */
export function VerdictLine({ group, now, scoring, reward }: VerdictProps): ReactNode {
  const sentences = sentencesOf(group, now, scoring, reward.noCall === PAPER_REWARD.noCall && reward.callCost === PAPER_REWARD.callCost);
  return (
    <div className={styles.verdict} role="status" data-kind={sentences.length > 1 ? 'warning' : undefined}>
      {sentences.map((sentence, i) => (
        <Fragment key={i}>
          {i === 1 && <Icon name="warning" size={16} />}
          <p>{sentence}</p>
        </Fragment>
      ))}
    </div>
  );
}

/** One sentence; a second where wrong answers are rewarded. */
function sentencesOf(group: GroupRecord, now: GroupNow, scoring: Scoring, isPaper: boolean): string[] {
  const verdict = verdictOf(group, now);
  switch (verdict.kind) {
    case 'none':
      return [t('group.nobody')];
    case 'alone':
      return [t('group.alone')];
    case 'equal': {
      const words = t('group.equal', { n: now.counted, reward: format.fixed(now.mean, 2) });
      return [group.dropped && scoring.by === 'run' ? format.sentences([words, t('group.dropped')]) : words];
    }
    case 'pushes': {
      const { up, down, wrongUp } = verdict;
      const pushes = t('group.pushes', { up, down });
      return wrongUp.length === 0 ? [pushes] : [pushes, format.sentences([t('group.wrongUp', { numbers: wrongUp }), t(`group.wrongUp.${causeOf(group, now, scoring, wrongUp, isPaper)}`)])];
    }
  }
}

function causeOf(group: GroupRecord, now: GroupNow, { by }: Scoring, wrongUp: readonly number[], isPaper: boolean): 'dragged' | 'own' | 'ownToo' | 'paper' | 'run' {
  if (wrongUp.some((number) => now.rows[number - 1]?.dragged === true)) return 'dragged';
  if (by === 'own') return group.members.some(({ reward, advantage }) => !reward.correct && advantage > 0) ? 'ownToo' : 'own';
  return by === 'paper' || (by === 'run' && isPaper) ? 'paper' : 'run';
}

/** How many groups of the step had equal rewards, beside what chance alone would give. */
export function EqualShareLine({ record }: { readonly record: StepRecord }): ReactNode {
  const { equal, groups, correct, group } = useMemo(() => equalShareOf(record), [record]);
  return (
    <p className={styles.share}>
      {format.sentences([
        t('group.equalShare', { equal, of: groups, share: format.percent(equal / Math.max(groups, 1)) }),
        t('group.equalShare.expected', { correct: format.percent(correct), group, share: format.percent(expectedEqualShare(correct, group)) }),
      ])}
    </p>
  );
}
