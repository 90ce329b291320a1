import { memo, useEffect, useRef, type KeyboardEvent, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { POLICY, type ToolCall } from '../../../rollout/trajectory.ts';
import { Icon } from '../../components/Icon.tsx';
import { format, t } from '../../text/text.ts';
import { GLYPHS, inLoss, visible } from '../step/tokens.ts';
import { tokenizerOf } from '../step/tokenizers.ts';
import styles from './Lanes.module.css';
import { innerRange, turnAt, type Turn } from './turns.ts';

interface LanesProps {
  readonly rollout: TrainedTrajectory;
  readonly turns: readonly Turn[];
  /** Undefined: the whole rollout is there. */
  readonly token: number | undefined;
  readonly onPick: (token: number) => void;
}

/** Characters shown of a turn. */
const SHOWN = 26;

/** Policy above, environment below: each turn where its writer is, a call on its way to Python and back. */
export const Lanes = memo(function Lanes({ rollout, turns, token, onPick }: LanesProps): ReactNode {
  const root = useRef<HTMLOListElement>(null);
  const now = token === undefined ? -1 : turnAt(turns, token);
  useEffect(() => {
    const [list, box] = [root.current, root.current?.querySelector<HTMLElement>('[aria-current]')];
    if (list === null || box === null || box === undefined) return;
    // Only the figure moves, and only where the turn is out of sight.
    const [left, right] = [box.offsetLeft - 120, box.offsetLeft + box.offsetWidth + 24];
    if (left < list.scrollLeft) list.scrollLeft = left;
    else if (right > list.scrollLeft + list.clientWidth) list.scrollLeft = right - list.clientWidth;
  }, [now, turns]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const to = turns[Math.max(0, now) + by];
    if (by === 0 || to === undefined) return;
    event.preventDefault();
    onPick(to.start);
    root.current?.querySelectorAll('button')[Math.max(0, now) + by]?.focus();
  };
  return (
    <figure className={styles.figure}>
      <div className={styles.names} aria-hidden="true">
        <span>{t('rollout.lane.policy')}</span>
        <span>{t('rollout.lane.environment')}</span>
      </div>
      {/* The keys move among the turns, each of which is a button. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <ol ref={root} className={styles.lanes} aria-label={t('rollout.lanes')} onKeyDown={onKeyDown}>
        {turns.map((turn, i) => (
          <TurnBox key={turn.start} turn={turn} number={i + 1} reachable={i === Math.max(0, now)} onPick={onPick}
            trained={isTrained(rollout, turn)}
            state={now < 0 || i < now ? 'done' : i === now ? 'now' : 'ahead'}
            answered={turn.call !== undefined && (token === undefined || token >= turn.end - 1)}
            written={i === now && token !== undefined && token < turn.end - 1 ? writtenSoFar(rollout, turn, token) : undefined} />
        ))}
      </ol>
      <figcaption className="hidden">{t('rollout.lanes.sentence', { turns: turns.length, calls: rollout.calls.length, now: now < 0 ? '' : t(`kind.${turns[now]?.kind ?? 'stray'}`) })}</figcaption>
    </figure>
  );
});

function isTrained(rollout: TrainedTrajectory, { start, end }: Turn): boolean {
  for (let i = start; i < end; i++) if (inLoss(rollout, i)) return true;
  return false;
}

/** The end of what the turn holds up to a token. */
function writtenSoFar(rollout: TrainedTrajectory, { start, end }: Turn, token: number): string {
  const [from, to] = innerRange(rollout, start, end);
  const until = Math.min(to, token + 1);
  return tokenizerOf(rollout.task).decode(rollout.tokens.subarray(Math.max(from, until - SHOWN), Math.max(from, until)));
}

interface TurnBoxProps {
  readonly turn: Turn;
  readonly number: number;
  readonly state: 'done' | 'now' | 'ahead';
  readonly answered: boolean;
  readonly trained: boolean;
  /** Where the turn is being written: as far as it is. A whole one shows its beginning. */
  readonly written: string | undefined;
  /** The one box that Tab reaches. */
  readonly reachable: boolean;
  readonly onPick: (token: number) => void;
}

const TurnBox = memo(function TurnBox({ turn, number, state, answered, trained, written, reachable, onPick }: TurnBoxProps): ReactNode {
  const { kind, owner, text, start, call } = turn;
  const lane = owner === POLICY ? 'policy' : 'environment';
  const whole = visible(text.slice(0, SHOWN));
  const cut = text.length > SHOWN;
  const name = turn.forged ? t('kind.forged') : t(`kind.${kind}`);
  return (
    <li className={styles.turn} style={{ gridColumn: number }}>
      <button
        type="button"
        className={styles.box}
        data-kind={kind}
        data-lane={lane}
        data-state={state}
        data-context={!trained || undefined}
        aria-current={state === 'now' ? 'step' : undefined}
        tabIndex={reachable ? 0 : -1}
        onClick={() => {
          onPick(start);
        }}
      >
        <span className={styles.name}><span className="hidden">{t('rollout.turn', { number })}</span><span className={styles.glyph} aria-hidden="true">{GLYPHS[kind]}</span> {call === undefined ? name : t('rollout.call', { number: call.number })}{!turn.closed && ` ${t('span.unclosed')}`}</span>
        <span className={styles.text}>
          {/* The whole text keeps the width while it is being written. */}
          <bdi className={written === undefined ? undefined : styles.ghost}>{whole}{cut && '…'}</bdi>
          {written !== undefined && <bdi className={styles.written}>{visible(written)}</bdi>}
        </span>
        {answered && call !== undefined && <span className="hidden">{t('rollout.answered', { answer: answerWords(call.call) })}</span>}
      </button>
      {call !== undefined && (
        <>
          <Arrow down there={answered} />
          <span className={styles.python} data-state={answered ? 'done' : 'ahead'} data-failed={!call.call.ok || undefined} aria-hidden="true">
            <Icon name={call.call.ok ? 'check' : 'cross'} size={14} />{answerWords(call.call)}
          </span>
        </>
      )}
      {lane === 'environment' && <Arrow there={state !== 'ahead'} />}
    </li>
  );
});

function Arrow({ down = false, there }: { readonly down?: boolean; readonly there: boolean }): ReactNode {
  return (
    <svg className={styles.arrow} data-state={there ? 'done' : 'ahead'} viewBox="0 0 12 20" width="12" height="20" aria-hidden="true">
      <path d={down ? 'M6 1v17m-4-5 4 5 4-5' : 'M6 19V2m-4 5 4-5 4 5'} fill="none" stroke="currentColor" strokeWidth="1.6" />
    </svg>
  );
}

/** What the runtime said of a call: "ran, 3 ms". */
export function answerWords(call: ToolCall): string {
  const how = call.ok ? t('calls.ran') : t(`calls.${call.errorKind ?? 'exception'}`, { type: call.errorType ?? '' });
  const milliseconds = 1000 * call.seconds;
  return t('rollout.python', { how, time: milliseconds < 1 ? t('rollout.underMs') : milliseconds < 1000 ? t('rollout.ms', { ms: format.fixed(milliseconds, 0) }) : t('rollout.s', { s: format.fixed(call.seconds, 1) }) });
}
