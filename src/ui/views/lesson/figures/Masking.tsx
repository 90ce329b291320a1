import { useEffect, type ReactNode } from 'react';
import { masked } from '../../../../lesson/findings.ts';
import { PLACES, RECORDED_RUN } from '../../../../lesson/stages.ts';
import { useRecord, useRunView } from '../../../stores/runs.ts';
import { t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { Asked, useAsked } from '../../step/Asked.tsx';
import { strongestToken } from '../../update/arrays.ts';
import { Mask } from '../../update/Mask.tsx';
import { wholeAt } from '../address.ts';
import type { FigureProps } from '../figure-props.ts';
import { NoRecord } from './NoRecord.tsx';
import styles from './Figures.module.css';

const { step, question } = PLACES.masked;

/** The update view's mask, on an update of the recorded run. */
export function Masking({ kept, onKept, onFound }: FigureProps<'masking'>): ReactNode {
  const view = useRunView(RECORDED_RUN);
  const group = useRecord(view, step)?.groups[question - 1];
  // Under the key of the update view: who goes on there finds it computed.
  const asking = useAsked(group === undefined ? undefined : `update/${RECORDED_RUN}/${step}/${question}/0/mask`, () => ({
    kind: 'update', at: { run: RECORDED_RUN, step, group: question - 1 }, changes: [{ mask: false }], update: 0,
  }));
  const number = wholeAt(kept.rollout, 1, group?.members.length ?? 1, PLACES.masked.rollout);
  const asked = group?.members[PLACES.masked.rollout - 1];
  const views = asking.answer?.state === 'ready' ? asking.answer.result.views : undefined;
  useEffect(() => {
    const [on, off] = views ?? [];
    const finding = asked && on && off && masked(asked, PLACES.masked.rollout - 1, on, off);
    if (finding !== undefined) onFound(finding);
  }, [asked, views, onFound]);
  const rollout = group?.members[number - 1];
  if (view === undefined || group === undefined || rollout === undefined) return <NoRecord />;
  return (
    <div className={styles.stack}>
      <p className={styles.line}><Badge source="here" /><span>{t('lesson.recordedRun', { step, question: group.task.question })}</span></p>
      <Asked asking={asking} what={t('lesson.masking.asked')}>
        {({ views: [on, off] }) => on && off && (
          <Mask
            grpo={view.summary.settings.grpo} group={group} rollout={rollout} number={number} on={on} off={off} own difference={off.difference}
            token={Math.min(wholeAt(kept.token, 0, 9999, strongestToken(rollout)), rollout.tokens.length - 1)}
            masked={kept.mask !== 'off'}
            onMasked={(is) => {
              onKept({ mask: is ? '' : 'off' });
            }}
            onPick={(token) => {
              onKept({ token: String(token) });
            }}
            onRollout={(to) => {
              onKept({ rollout: String(to), token: '' });
            }}
          />
        )}
      </Asked>
    </div>
  );
}
