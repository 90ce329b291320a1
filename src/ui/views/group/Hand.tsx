import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import type { GroupRecord } from '../../../grpo/record.ts';
import type { AdvantageRule, GrpoSettings } from '../../../grpo/settings.ts';
import type { Selection } from '../../routes.ts';
import { format, t } from '../../text/text.ts';
import type { SignalPaint } from '../step/TokenStrip.tsx';
import { axisOf, groupNow, type Dragged, type Scoring } from './play.ts';
import { RewardTable } from './RewardTable.tsx';
import { Rollouts } from './Rollouts.tsx';
import { VerdictLine } from './Verdict.tsx';
import styles from './Hand.module.css';

interface HandProps {
  readonly group: GroupRecord;
  readonly scoring: Scoring;
  readonly norm: AdvantageRule;
  readonly grpo: GrpoSettings;
  readonly paint: SignalPaint | undefined;
  readonly selection: Selection;
  readonly onPreview: (token: { readonly rollout: number; readonly token: number } | undefined) => void;
  readonly switches: ReactNode;
  /** Takes back all but what was dragged. */
  readonly onReset: () => void;
  /** Picks a token. Default: in the address of the group view. */
  readonly onPick?: (place: { readonly rollout: number; readonly token: number }) => void;
  /** What stands between the rollouts and their table. */
  readonly children: ReactNode;
}

const NOTHING: Dragged = new Map();

/**
 * The comparison of a group, with rewards that a hand can move. While it does, only this is drawn again: `switches` and
 * `children` are made outside, and the tokens of a row stay.
 */
export function Hand({ group, scoring, norm, grpo, paint, selection, onPreview, switches, onReset, onPick, children }: HandProps): ReactNode {
  const [of, setOf] = useState(scoring);
  const [dragged, setDragged] = useState(NOTHING);
  if (of !== scoring) {
    setOf(scoring);
    setDragged(NOTHING);
  }
  const base = useMemo(() => groupNow(group, scoring, NOTHING, norm), [group, scoring, norm]);
  const axis = useMemo(() => axisOf(group, scoring, base, norm), [group, scoring, base, norm]);
  const now = useMemo(() => (dragged.size === 0 ? base : groupNow(group, scoring, dragged, norm)), [group, scoring, base, dragged, norm]);
  const onDrag = useCallback((member: number, reward: number | undefined) => {
    setDragged((was) => {
      if (was.get(member) === reward) return was;
      const next = new Map(was);
      if (reward === undefined) next.delete(member);
      else next.set(member, reward);
      return next;
    });
  }, []);
  const all = now.counted === group.members.length;
  const asSampled = dragged.size === 0 && scoring.by === 'run' && norm === grpo.advantage;
  const statistics = now.counted === 0 ? '' : format.list([
    t('group.statistics', { mean: format.fixed(now.mean, 2), std: format.fixed(now.counted > 1 ? now.std : 0, 2) }),
    ...(all ? [] : [t('group.leftOut', { counted: now.counted, of: group.members.length })]),
  ]);
  return (
    <>
      <div className={styles.controls}>
        {switches}
        <div className={styles.hand}>
          <div className={styles.buttons}>
            <Button disabled={now.equal && all} onClick={() => {
              const mean = now.counted === 0 ? 0 : now.mean;
              setDragged(new Map(group.members.map((_, i) => [i, mean])));
            }}>{t('group.makeEqual')}</Button>
            <Button disabled={asSampled} onClick={() => {
              setDragged(NOTHING);
              onReset();
            }}><Icon name="reset" size={16} />{t('group.asSampled')}</Button>
          </div>
          <p className={styles.hint}>{t('group.drag.hint')}</p>
        </div>
      </div>
      <Rollouts group={group} now={now} axis={axis} statistics={statistics} paint={paint} selection={selection} onPreview={onPreview} onDrag={onDrag} {...(onPick === undefined ? {} : { onPick })} />
      <div className={styles.words}>
        <p className="hidden">{statistics}</p>
        <VerdictLine group={group} now={now} scoring={scoring} reward={grpo.reward} />
      </div>
      {children}
      <RewardTable group={group} now={now} />
    </>
  );
}
