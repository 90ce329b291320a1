import { useEffect, useMemo, type ReactNode } from 'react';
import { compared } from '../../../../lesson/findings.ts';
import { PLACES, RECORDED_RUN } from '../../../../lesson/stages.ts';
import { Segments } from '../../../components/Segments.tsx';
import { parseSelection } from '../../../routes.ts';
import { useRecord, useRunView } from '../../../stores/runs.ts';
import { t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { Hand } from '../../group/Hand.tsx';
import { scoringOfRun } from '../../group/play.ts';
import { wholeAt } from '../address.ts';
import type { FigureProps } from '../figure-props.ts';
import { plainly } from '../plain.ts';
import { NoRecord } from './NoRecord.tsx';
import styles from './Figures.module.css';

const GROUPS = ['mixed', 'equal'] as const;

/** The group view's own figure, on two groups of the recorded run. */
export function Comparing({ kept, onKept, onFound }: FigureProps<'comparing'>): ReactNode {
  const view = useRunView(RECORDED_RUN);
  const groups = {
    mixed: useRecord(view, PLACES.mixed.step)?.groups[PLACES.mixed.question - 1],
    equal: useRecord(view, PLACES.equal.step)?.groups[PLACES.equal.question - 1],
  };
  const { mixed, equal } = groups;
  useEffect(() => {
    if (mixed !== undefined && equal !== undefined) onFound(compared(mixed, equal));
  }, [mixed, equal, onFound]);
  const chosen = GROUPS.find((name) => name === kept.group) ?? 'equal';
  const recorded = groups[chosen];
  const group = useMemo(() => recorded && { ...recorded, members: recorded.members.map(plainly) }, [recorded]);
  const scoring = useMemo(() => group && scoringOfRun(group), [group]);
  if (view === undefined || group === undefined || scoring === undefined) return <NoRecord />;
  const { step, question } = PLACES[chosen];
  const selection = {
    ...parseSelection(''), run: RECORDED_RUN, step, question,
    rollout: wholeAt(kept.rollout, 1, group.members.length, 1),
    token: kept.token === undefined ? undefined : wholeAt(kept.token, 0, 9999, 0),
  };
  return (
    <div className={styles.stack}>
      <div className={styles.bar}>
        <Segments label={t('lesson.comparing.groups')} value={chosen} items={GROUPS.map((value) => ({ value, label: t(`lesson.comparing.group.${value}`) }))} onChange={(value) => {
          onKept({ group: value, rollout: '', token: '' });
        }} />
        <p className={styles.line}><Badge source="recorded" /><span>{t('lesson.recordedRun', { step, question: group.task.question })}</span></p>
      </div>
      <Hand
        group={group} scoring={scoring} norm={view.summary.settings.grpo.advantage} grpo={view.summary.settings.grpo} paint={undefined} selection={selection} switches={null}
        onPreview={() => undefined}
        onReset={() => undefined}
        onPick={({ rollout, token }) => {
          onKept({ group: chosen, rollout: String(rollout), token: String(token) });
        }}
      >{null}</Hand>
    </div>
  );
}
