import { memo, useEffect, useId, useMemo, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import type { GroupRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import { MAX_REWARD, type RewardParts } from '../../../reward/reward.ts';
import { POLICY } from '../../../rollout/trajectory.ts';
import { groupAddress, navigate, type Selection } from '../../routes.ts';
import { format, t } from '../../text/text.ts';
import { TokenStrip, type SignalPaint } from '../step/TokenStrip.tsx';
import styles from './Rollouts.module.css';

interface RolloutsProps {
  readonly group: GroupRecord;
  readonly paint: SignalPaint | undefined;
  readonly selection: Selection;
  readonly onPreview: (token: { readonly rollout: number; readonly token: number } | undefined) => void;
}

/** What the bars of all rollouts are drawn against. */
interface Axis {
  readonly low: number;
  readonly high: number;
  readonly mean: number;
  readonly std: number;
  readonly mostAdvantage: number;
}

const cellsOf = (rollout: number): string => `rollout-${rollout}`;

/** Aligned rows: reward in parts against the group's mean, the advantage, and the tokens. One grid for the keyboard. */
export function Rollouts({ group, paint, selection, onPreview }: RolloutsProps): ReactNode {
  const grid = useRef<HTMLDivElement>(null);
  const keys = useId();
  const { rollout, token } = selection;
  const axis = useMemo((): Axis => {
    const totals = group.members.map(({ reward }) => reward.total);
    return {
      low: Math.min(0, ...totals),
      high: Math.max(MAX_REWARD, ...totals),
      mean: group.mean,
      std: group.members.length > 1 ? group.std : 0,
      mostAdvantage: Math.max(1, ...group.members.map(({ advantage }) => Math.abs(advantage))),
    };
  }, [group]);

  useEffect(() => {
    if (token === undefined || document.activeElement !== grid.current) return;
    document.getElementById(`${cellsOf(rollout)}-${token}`)?.scrollIntoView({ block: 'nearest' });
  }, [rollout, token]);

  const pick = (toRollout: number, toToken: number): void => {
    navigate(groupAddress({ ...selection, rollout: toRollout, token: toToken }), { replace: true });
  };
  const under = (target: EventTarget): { rollout: number; token: number } | undefined => {
    if (!(target instanceof HTMLElement)) return undefined;
    const at = target.closest<HTMLElement>('[data-token]')?.dataset.token;
    const row = target.closest<HTMLElement>('[data-rollout]')?.dataset.rollout;
    return at === undefined || row === undefined ? undefined : { rollout: Number(row), token: Number(at) };
  };
  /** Anywhere else in a row chooses the rollout, at its first token of the policy. */
  const rowUnder = (target: EventTarget): { rollout: number; token: number } | undefined => {
    const row = target instanceof HTMLElement ? Number(target.closest<HTMLElement>('[data-rollout]')?.dataset.rollout) : NaN;
    const member = group.members[row - 1];
    return member && { rollout: row, token: Math.max(0, member.owner.indexOf(POLICY)) };
  };
  const onClick = (event: MouseEvent): void => {
    const hit = under(event.target) ?? rowUnder(event.target);
    if (hit !== undefined) pick(hit.rollout, hit.token);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const member = group.members[rollout - 1];
    if (member === undefined) return;
    const to = walk(event.key, group, rollout, token);
    if (to === undefined) return;
    event.preventDefault();
    pick(to.rollout, to.token);
  };
  return (
    <div
      ref={grid}
      className={styles.grid}
      role="grid"
      tabIndex={0}
      aria-label={t('group.grid')}
      aria-describedby={keys}
      aria-activedescendant={token === undefined ? undefined : `${cellsOf(rollout)}-${token}`}
      onClick={onClick}
      onKeyDown={onKeyDown}
      onPointerOver={(event) => {
        onPreview(event.pointerType === 'mouse' ? under(event.target) : undefined);
      }}
      onPointerLeave={() => {
        onPreview(undefined);
      }}
    >
      <div className={styles.head} aria-hidden="true">
        <span><span id={keys} className="hidden">{t('group.grid.keys')}</span></span>
        <span className={styles.title}>{t('group.reward', { most: MAX_REWARD })}</span>
        <span className={styles.title}>{t('group.advantage')}</span>
        <span className={styles.title}>{t('group.tokens')}</span>
      </div>
      {group.members.map((member, i) => (
        <Row key={i} number={i + 1} member={member} axis={axis} paint={paint} chosen={rollout === i + 1} selected={rollout === i + 1 ? token : undefined} />
      ))}
    </div>
  );
}

/** Where a key leads from a token: along the row, to the next span, or to the same place of another rollout. */
function walk(key: string, group: GroupRecord, rollout: number, token: number | undefined): { rollout: number; token: number } | undefined {
  const member = group.members[rollout - 1];
  if (member === undefined) return undefined;
  const last = member.tokens.length - 1;
  const first = Math.max(0, member.owner.indexOf(POLICY));
  const along = (to: number): { rollout: number; token: number } => ({ rollout, token: Math.min(last, Math.max(0, to)) });
  const across = (by: number): { rollout: number; token: number } => {
    const to = Math.min(group.members.length, Math.max(1, rollout + by));
    return { rollout: to, token: Math.min(token ?? first, (group.members[to - 1]?.tokens.length ?? 1) - 1) };
  };
  switch (key) {
    case 'ArrowRight':
      return along(token === undefined ? first : token + 1);
    case 'ArrowLeft':
      return along(token === undefined ? first : token - 1);
    case 'ArrowDown':
      return across(1);
    case 'ArrowUp':
      return across(-1);
    case 'PageDown':
      return along(member.spans.find(({ start }) => start > (token ?? -1))?.start ?? last);
    case 'PageUp':
      return along(member.spans.findLast(({ start }) => start < (token ?? 0))?.start ?? 0);
    case 'Home':
      return along(0);
    case 'End':
      return along(last);
    default:
      return undefined;
  }
}

interface RowProps {
  readonly number: number;
  readonly member: TrainedTrajectory;
  readonly axis: Axis;
  readonly paint: SignalPaint | undefined;
  readonly chosen: boolean;
  readonly selected: number | undefined;
}

const Row = memo(function Row({ number, member, axis, paint, chosen, selected }: RowProps): ReactNode {
  const { reward, advantage } = member;
  return (
    <div className={styles.row} role="row" data-rollout={number} data-chosen={chosen || undefined}>
      <span role="rowheader" className={styles.number} data-token={Math.max(0, member.owner.indexOf(POLICY))}>
        <span aria-hidden="true">{format.integer(number)}</span>
        <span className="hidden">
          {t('group.rowFacts', { number, reward: format.fixed(reward.total, 2), advantage: format.signed(advantage, 2) })}
        </span>
      </span>
      <RewardBar reward={reward} axis={axis} />
      <Lollipop advantage={advantage} axis={axis} />
      <span className={styles.tokens}>
        <TokenStrip rollout={member} paint={paint} selected={selected} cells={cellsOf(number)} />
        {member.stop !== 'end' && <span className={styles.stop}>{t(`stop.${member.stop}`)}</span>}
      </span>
    </div>
  );
});

/** The parts side by side, the group's mean as a rule through all rows, and one σ around it. */
function RewardBar({ reward, axis }: { readonly reward: RewardParts; readonly axis: Axis }): ReactNode {
  const at = (x: number): number => (100 * (x - axis.low)) / (axis.high - axis.low);
  // Where execution is left out, the other parts are stretched to the same maximum.
  const stretch = reward.execution === null ? MAX_REWARD / 3 : 1;
  const parts = [
    { name: 'answer', value: reward.answer, fill: 1 },
    { name: 'relaxed', value: reward.formatRelaxed, fill: 2 },
    { name: 'strict', value: reward.formatStrict, fill: 2 },
    { name: 'execution', value: reward.execution ?? 0, fill: 3 },
  ].map((part) => ({ ...part, value: part.value * stretch }));
  let from = 0;
  return (
    <span className={styles.reward} aria-hidden="true">
      <span className={styles.plot}>
        <span className={styles.sigma} style={{ left: `${Math.max(0, at(axis.mean - axis.std))}%`, right: `${Math.max(0, 100 - at(axis.mean + axis.std))}%` }} />
        {parts.map(({ name, value, fill }) => {
          const left = at(from);
          from += value;
          return value <= 0 ? null : (
            <span key={name} className={styles.part} style={{ left: `${left}%`, width: `${at(from) - left}%`, background: `var(--parts-${fill})` }} />
          );
        })}
        {reward.callCost < 0 && <span className={styles.cost} style={{ left: `${at(from + reward.callCost)}%`, width: `${at(from) - at(from + reward.callCost)}%` }} />}
        <span className={styles.mean} style={{ left: `${at(axis.mean)}%` }} />
      </span>
      <span className={styles.value}>{format.fixed(reward.total, 2)}</span>
    </span>
  );
}

function Lollipop({ advantage, axis }: { readonly advantage: number; readonly axis: Axis }): ReactNode {
  const half = (46 * advantage) / axis.mostAdvantage;
  const sign = advantage > 0 ? 'up' : advantage < 0 ? 'down' : 'zero';
  return (
    <span className={styles.advantage} aria-hidden="true">
      <span className={styles.plot}>
        <span className={styles.zero} />
        <span className={styles.stick} data-sign={sign} style={{ left: `${50 + Math.min(0, half)}%`, width: `${Math.abs(half)}%` }} />
        <span className={styles.bob} data-sign={sign} style={{ left: `${50 + half}%` }} />
      </span>
      <span className={styles.value}>{format.signed(advantage, 2)}</span>
    </span>
  );
}
