import { memo, useEffect, useId, useMemo, useRef, type KeyboardEvent, type MouseEvent, type PointerEvent, type ReactNode } from 'react';
import { Link } from 'wouter';
import type { GroupRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import type { RewardParts } from '../../../reward/reward.ts';
import { partsOf, type RewardPartName } from '../../../reward/score.ts';
import { POLICY } from '../../../rollout/trajectory.ts';
import { useKeys } from '../../keys.ts';
import { navigate, stepAddress, type Selection } from '../../routes.ts';
import { format, t } from '../../text/text.ts';
import { TokenStrip, type SignalPaint } from '../step/TokenStrip.tsx';
import { draggedTo, keyed, type Axis, type GroupNow, type RowNow } from './play.ts';
import styles from './Rollouts.module.css';

interface RolloutsProps {
  readonly group: GroupRecord;
  readonly now: GroupNow;
  readonly axis: Axis;
  /** Mean and σ in words. */
  readonly statistics: string;
  readonly paint: SignalPaint | undefined;
  readonly selection: Selection;
  readonly onPreview: (token: { readonly rollout: number; readonly token: number } | undefined) => void;
  /** Gives a reward to a member, by its place in the group; undefined: the one it had. Must be stable. */
  readonly onDrag: (member: number, reward: number | undefined) => void;
  /** Default: in the address of the group view. */
  readonly onPick?: (place: Place) => void;
}

interface Place {
  readonly rollout: number;
  readonly token: number;
}

const cellsOf = (rollout: number): string => `rollout-${rollout}`;

/** Aligned rows: reward in parts against the group's mean, the advantage, and the tokens. One grid for the keyboard. */
export function Rollouts({ group, now, axis, statistics, paint, selection, onPreview, onDrag, onPick }: RolloutsProps): ReactNode {
  const grid = useRef<HTMLDivElement>(null);
  const keys = useId();
  const { rollout, token } = selection;
  // Listed in the order in which they are met; the figure handles them where it has the focus.
  useKeys(useMemo(() => [
    { keys: ['ArrowLeft', 'ArrowRight'], label: t('group.keys.tokens') },
    { keys: ['ArrowUp', 'ArrowDown'], label: t('group.keys.rollouts') },
    { keys: ['PageUp', 'PageDown'], label: t('group.keys.parts') },
    { keys: ['Enter'], label: t('group.keys.open') },
    { keys: ['Escape'], label: t('group.keys.sampled') },
  ], []));

  useEffect(() => {
    if (token === undefined || document.activeElement !== grid.current) return;
    document.getElementById(`${cellsOf(rollout)}-${token}`)?.scrollIntoView({ block: 'nearest' });
  }, [rollout, token]);

  const pick = onPick ?? ((to: Place): void => {
    navigate(stepAddress('group', { ...selection, ...to }), { replace: true });
  });
  const under = (target: EventTarget): Place | undefined => {
    if (!(target instanceof HTMLElement)) return undefined;
    const at = target.closest<HTMLElement>('[data-token]')?.dataset.token;
    const row = target.closest<HTMLElement>('[data-rollout]')?.dataset.rollout;
    return at === undefined || row === undefined ? undefined : { rollout: Number(row), token: Number(at) };
  };
  /** Anywhere else in a row chooses the rollout, at its first token of the policy. */
  const rowUnder = (target: EventTarget): Place | undefined => {
    const row = target instanceof HTMLElement ? Number(target.closest<HTMLElement>('[data-rollout]')?.dataset.rollout) : NaN;
    const member = group.members[row - 1];
    return member && { rollout: row, token: Math.max(0, member.owner.indexOf(POLICY)) };
  };
  const onClick = (event: MouseEvent): void => {
    const hit = under(event.target) ?? rowUnder(event.target);
    if (hit !== undefined) pick(hit);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // Handles and links in the rows have keys of their own.
    if (event.target !== event.currentTarget) return;
    if (event.key === 'Enter' && token !== undefined) {
      event.preventDefault();
      navigate(stepAddress('rollout', selection));
      return;
    }
    const to = walk(event.key, group, rollout, token);
    if (to === undefined) return;
    event.preventDefault();
    pick(to);
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
        <span className={styles.title}>{t('group.reward', { low: format.significant(axis.low, 3), high: format.significant(axis.high, 3) })}<br />{statistics}</span>
        <span className={styles.title}>{t('group.advantage')}</span>
        <span className={styles.title}>{t('group.tokens')}</span>
      </div>
      {now.rows.map((row, i) => {
        const member = group.members[i];
        const number = i + 1;
        return member && (
          <Row key={i} number={number} member={member} row={row} axis={axis} mean={now.mean} std={now.counted > 1 ? now.std : 0} paint={paint}
            chosen={rollout === number} selected={rollout === number ? token : undefined} onDrag={onDrag}
            // From the row's first token, or where one stands in it.
            to={stepAddress('rollout', { ...selection, rollout: number, token: rollout === number ? token : undefined })} />
        );
      })}
    </div>
  );
}

/** Where a key leads from a token: along the row, to the next span, or to the same place of another rollout. */
function walk(key: string, group: GroupRecord, rollout: number, token: number | undefined): Place | undefined {
  const member = group.members[rollout - 1];
  if (member === undefined) return undefined;
  const last = member.tokens.length - 1;
  const first = Math.max(0, member.owner.indexOf(POLICY));
  const along = (to: number): Place => ({ rollout, token: Math.min(last, Math.max(0, to)) });
  const across = (by: number): Place => {
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
  readonly row: RowNow;
  readonly axis: Axis;
  readonly mean: number;
  readonly std: number;
  readonly paint: SignalPaint | undefined;
  readonly chosen: boolean;
  readonly selected: number | undefined;
  readonly to: string;
  readonly onDrag: RolloutsProps['onDrag'];
}

const Row = memo(function Row({ number, member, row, axis, mean, std, paint, chosen, selected, to, onDrag }: RowProps): ReactNode {
  const { reward, advantage } = wordsOf(row);
  return (
    <div className={styles.row} role="row" data-rollout={number} data-chosen={chosen || undefined}>
      <span role="rowheader" className={styles.number} data-token={Math.max(0, member.owner.indexOf(POLICY))}>
        <span aria-hidden="true">{format.integer(number)}</span>
        <span className="hidden">{t('group.rowFacts', { number, reward, advantage })}</span>
      </span>
      <RewardBar number={number} row={row} ghost={member.reward} axis={axis} mean={mean} std={std} onDrag={onDrag} />
      <Lollipop row={row} axis={axis} />
      <Tokens number={number} member={member} paint={paint} selected={selected} to={to} />
    </div>
  );
});

/** What of a row does not follow the hand. */
const Tokens = memo(function Tokens({ number, member, paint, selected, to }: Pick<RowProps, 'number' | 'member' | 'paint' | 'selected' | 'to'>): ReactNode {
  return (
    <span className={styles.tokens}>
      <TokenStrip rollout={member} paint={paint} selected={selected} cells={cellsOf(number)} />
      {member.stop !== 'end' && <span className={styles.stop}>{t(`stop.${member.stop}`)}</span>}
      <span role="gridcell" className={styles.open}>
        <Link to={to} aria-label={t('group.openNamed', { number })}>{t('group.open')}</Link>
      </span>
    </span>
  );
});

function wordsOf({ reward, advantage }: RowNow): { readonly reward: string; readonly advantage: string } {
  return { reward: reward === null ? t('reward.leftOut') : format.fixed(reward, 2), advantage: advantage === undefined ? t('reward.leftOut') : format.signed(advantage, 2) };
}

const FILLS: Readonly<Record<Exclude<RewardPartName, 'callCost'>, number>> = {
  answer: 1, state: 1, formatRelaxed: 2, formatStrict: 2, functions: 3, execution: 3,
};

interface RewardBarProps {
  readonly number: number;
  readonly row: RowNow;
  /** The parts as sampled: what stays visible where a rule or a hand gives another sum. */
  readonly ghost: RewardParts;
  readonly axis: Axis;
  readonly mean: number;
  readonly std: number;
  readonly onDrag: RolloutsProps['onDrag'];
}

/** The parts side by side, the group's mean as a rule through all rows, one σ around it, and a handle at the end. */
function RewardBar({ number, row, ghost, axis, mean, std, onDrag }: RewardBarProps): ReactNode {
  const plot = useRef<HTMLSpanElement>(null);
  const at = (x: number): number => (100 * (x - axis.low)) / (axis.high - axis.low);
  const between = (a: number, b: number): { left: string; width: string } => ({ left: `${at(Math.min(a, b))}%`, width: `${at(Math.max(a, b)) - at(Math.min(a, b))}%` });
  const { reward, dragged, sampled } = row;
  const whole = dragged || row.parts === undefined;
  const moved = reward !== sampled.reward;
  const words = wordsOf(row);

  const onKeyDown = (event: KeyboardEvent): void => {
    const to = event.key === 'Escape' ? sampled.reward : keyed(event.key, reward ?? axis.low, axis);
    if (to === undefined || (event.key === 'Escape' && !dragged)) return;
    event.preventDefault();
    onDrag(number - 1, event.key === 'Escape' ? undefined : to);
  };
  const onPointerMove = (event: PointerEvent<HTMLElement>): void => {
    const box = plot.current?.getBoundingClientRect();
    if (box === undefined || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onDrag(number - 1, draggedTo((event.clientX - box.left) / box.width, axis, sampled.reward));
  };
  const parts = partsOf(row.parts ?? ghost);
  return (
    <span role="gridcell" className={styles.reward}>
      <span ref={plot} className={styles.plot}>
        {!Number.isNaN(mean) && <span className={styles.sigma} style={{ left: `${Math.max(0, at(mean - std))}%`, right: `${Math.max(0, 100 - at(mean + std))}%` }} />}
        {parts.map(({ name, value }, i) => {
          const start = parts.slice(0, i).reduce((sum, part) => sum + part.value, 0);
          const place = between(start, start + value);
          if (name === 'callCost') return <span key={name} className={styles.cost} style={place} />;
          return value <= 0 ? null : (
            <span key={name} className={styles.part} data-ghost={whole || undefined} style={{ ...place, background: `var(--parts-${FILLS[name]})` }} />
          );
        })}
        {whole && reward !== null && <span className={styles.given} style={between(0, reward)} />}
        {!Number.isNaN(mean) && <span className={styles.mean} style={{ left: `${at(mean)}%` }} />}
        {moved && <span className={styles.ghost} style={{ left: `${at(sampled.reward)}%` }} />}
        <span
          className={styles.handle}
          role="slider"
          tabIndex={0}
          aria-label={t('group.drag', { number })}
          aria-valuemin={axis.low}
          aria-valuemax={axis.high}
          aria-valuenow={reward ?? axis.low}
          aria-valuetext={reward === null
            ? t('group.drag.none', { sampled: format.fixed(sampled.reward, 2) })
            : t('group.drag.value', { ...words, sampled: format.fixed(sampled.reward, 2) })}
          data-none={reward === null || undefined}
          style={{ left: `${at(reward ?? axis.low)}%` }}
          onKeyDown={onKeyDown}
          onPointerDown={(event) => {
            if (event.button !== 0) return;
            event.currentTarget.setPointerCapture(event.pointerId);
            event.currentTarget.focus();
            // No selection of text, and no scrolling, by the same hand.
            event.preventDefault();
          }}
          onPointerMove={onPointerMove}
          // A press of the handle does not choose the row: nothing but the reward is meant.
          onClick={(event) => {
            event.stopPropagation();
          }}
        />
      </span>
      <Value words={words.reward} was={moved ? format.fixed(sampled.reward, 2) : undefined} />
    </span>
  );
}

/** A number of a row, and the one it had when it was sampled. Said by the handle; here for the eye. */
function Value({ words, was }: { readonly words: string; readonly was: string | undefined }): ReactNode {
  return (
    <span className={styles.value} aria-hidden="true">
      {words}
      {was !== undefined && <span className={styles.was}>{t('group.was', { value: was })}</span>}
    </span>
  );
}

function Lollipop({ row: { advantage, sampled }, axis }: { readonly row: RowNow; readonly axis: Axis }): ReactNode {
  const half = (a: number): number => 46 * Math.min(1, Math.max(-1, a / axis.mostAdvantage));
  const shown = advantage ?? 0;
  const sign = shown > 0 ? 'up' : shown < 0 ? 'down' : 'zero';
  const moved = advantage === undefined || Math.abs(advantage - sampled.advantage) > 1e-9;
  return (
    <span className={styles.advantage} aria-hidden="true">
      <span className={styles.plot}>
        <span className={styles.zero} />
        {moved && <span className={styles.ghostBob} style={{ left: `${50 + half(sampled.advantage)}%` }} />}
        {advantage !== undefined && (
          <>
            <span className={styles.stick} data-sign={sign} style={{ left: `${50 + Math.min(0, half(shown))}%`, width: `${Math.abs(half(shown))}%` }} />
            <span className={styles.bob} data-sign={sign} style={{ left: `${50 + half(shown)}%` }} />
          </>
        )}
      </span>
      <Value words={advantage === undefined ? '–' : format.signed(advantage, 2)} was={moved ? format.signed(sampled.advantage, 2) : undefined} />
    </span>
  );
}
