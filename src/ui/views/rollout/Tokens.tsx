import { useEffect, useMemo, useRef, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { t } from '../../text/text.ts';
import type { Ranges } from '../step/strip.ts';
import { TokenStrip, type SignalPaint, type StripMarks } from '../step/TokenStrip.tsx';
import { firstDrawn } from './turns.ts';
import { walk } from '../step/tokens.ts';
import styles from './Tokens.module.css';

interface TokensProps {
  readonly rollout: TrainedTrajectory;
  readonly paint: SignalPaint | undefined;
  readonly token: number | undefined;
  /** Where a range began that ends at the token; undefined: the token alone. */
  readonly anchor?: number | undefined;
  /** @param anchor the other end, where several are selected. */
  readonly onPick: (token: number, anchor?: number) => void;
  readonly label: string;
  /** Tells the strips of a page apart. */
  readonly id: string;
  readonly matches?: Ranges;
  readonly shared?: number | undefined;
  readonly own?: readonly [number, number] | undefined;
}

/** Tokens from one end to the other, both in it. */
export function rangeOf(token: number, anchor: number): readonly [number, number] {
  return [Math.min(token, anchor), Math.max(token, anchor) + 1];
}

/** All tokens of a trajectory in a region of their own that scrolls; one grid for the keyboard. */
export function Tokens({ rollout, paint, token, anchor, onPick, label, id, matches, shared, own }: TokensProps): ReactNode {
  const region = useRef<HTMLDivElement>(null);
  const cells = `${id}-token`;
  // Without a range, a step leaves the marks as they are.
  const [from, to] = token === undefined || anchor === undefined ? [0, 0] : rangeOf(token, anchor);
  const marks = useMemo((): StripMarks => ({ range: from < to ? [from, to] : undefined, matches, shared, own }), [from, to, matches, shared, own]);

  const row = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  useEffect(() => {
    const follow = (): void => {
      const cell = token === undefined ? null : document.getElementById(`${cells}-${token}`);
      if (region.current === null || cell === null) return;
      // Only this region moves, never the page.
      const [box, at] = [region.current.getBoundingClientRect(), cell.getBoundingClientRect()];
      if (at.top < box.top + 8) region.current.scrollTop -= box.top + 8 - at.top;
      else if (at.bottom > box.bottom - 8) region.current.scrollTop += at.bottom - box.bottom + 8;
    };
    following.current = true;
    follow();
    if (row.current === null) return undefined;
    // A long strip finds its height bit by bit: the token stays in sight until the person scrolls.
    const observer = new ResizeObserver(() => {
      if (following.current) follow();
    });
    observer.observe(row.current);
    return () => {
      observer.disconnect();
    };
  }, [cells, token, rollout]);
  const leave = (): void => {
    following.current = false;
  };

  const last = rollout.tokens.length - 1;
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === 'Escape' && anchor !== undefined && token !== undefined) {
      onPick(token);
      return;
    }
    const to = walk(event.key, rollout, token ?? firstDrawn(rollout.owner) - 1);
    if (to === undefined) return;
    event.preventDefault();
    onPick(Math.min(last, Math.max(0, to)), event.shiftKey ? (anchor ?? token) : undefined);
  };
  const under = (node: Node | null): number | undefined => {
    const element = node instanceof Element ? node : node?.parentElement;
    const at = element?.closest<HTMLElement>('[data-token]')?.dataset.token;
    return at === undefined || region.current?.contains(element ?? null) !== true ? undefined : Number(at);
  };
  const onClick = (event: MouseEvent): void => {
    const selection = document.getSelection();
    // Text that was drawn over with the mouse is a range of tokens.
    const [from, to] = selection === null || selection.isCollapsed ? [undefined, undefined] : [under(selection.anchorNode), under(selection.focusNode)];
    if (from !== undefined && to !== undefined && from !== to) {
      onPick(to, from);
      return;
    }
    const hit = under(event.target instanceof Node ? event.target : null);
    if (hit !== undefined) onPick(hit, event.shiftKey ? (anchor ?? token) : undefined);
  };
  return (
    <div
      ref={region}
      className={styles.region}
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-multiselectable
      aria-colcount={rollout.tokens.length}
      aria-activedescendant={token === undefined ? undefined : `${cells}-${token}`}
      onKeyDown={onKeyDown}
      onClick={onClick}
      onWheel={leave}
      onPointerDown={leave}
    >
      <div ref={row} role="row">
        <TokenStrip rollout={rollout} paint={paint} selected={token} cells={cells} marks={marks} />
        {rollout.tokens.length === 0 && <span role="gridcell" className={styles.nothing}>{t('rollout.empty')}</span>}
        {rollout.stop !== 'end' && <span className={styles.stop}>{t(`stop.${rollout.stop}`)}</span>}
      </div>
    </div>
  );
}
