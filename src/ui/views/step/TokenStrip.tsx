import { memo, startTransition, useEffect, useMemo, useRef, useState, type CSSProperties, type ReactNode } from 'react';
import type { Tokenizer } from '../../../policy/tokenizer.ts';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import { useWidth } from '../../figures/useWidth.ts';
import type { Signal } from '../../routes.ts';
import { diverging, sequential, type Ground, type ThemeName } from '../../theme/palette.ts';
import { t } from '../../text/text.ts';
import { blocksOf, parseRanges, rangesWithin, type Ranges, type StripBlock, type StripPart } from './strip.ts';
import { clipState, GLYPHS, inLoss, position, signalValue, visible, type Deltas, type SignalScale } from './tokens.ts';
import { tokenizerOf } from './tokenizers.ts';
import styles from './TokenStrip.module.css';

/** Colours of one signal for all tokens of a group. */
export interface SignalPaint {
  readonly signal: Signal;
  readonly scale: SignalScale;
  readonly theme: ThemeName;
  readonly grpo: GrpoSettings;
  /** For the signal `delta`. */
  readonly delta?: Deltas | undefined;
}

/** What is marked beside owner, loss, signal and selection. */
export interface StripMarks {
  /** Tokens that are selected together, [start, end): drawn as one ring. */
  readonly range?: readonly [number, number] | undefined;
  /** What was searched for: a bar above the tokens. */
  readonly matches?: Ranges | undefined;
  /** The first so many tokens are shared with what is drawn above: muted. */
  readonly shared?: number | undefined;
  /** What the person wrote, [start, end). */
  readonly own?: readonly [number, number] | undefined;
}

interface TokenStripProps {
  readonly rollout: TrainedTrajectory;
  readonly paint?: SignalPaint | undefined;
  readonly selected?: number | undefined;
  /** For a strip inside a grid: cells, with ids that begin with this. */
  readonly cells?: string;
  readonly marks?: StripMarks | undefined;
}

/** Shades of a scale on either side of its middle: more cannot be told apart. */
const SHADES = 64;
const grounds = new Map<string, Map<number, Ground>>();

export function ground(paint: SignalPaint, value: number): Ground {
  const diverges = paint.scale.kind === 'diverging' || paint.scale.kind === 'ratio';
  const key = `${paint.theme} ${diverges}`;
  let known = grounds.get(key);
  if (known === undefined) {
    known = new Map();
    grounds.set(key, known);
  }
  const shade = Math.round(position(value, paint.scale) * SHADES);
  let made = known.get(shade);
  if (made === undefined) {
    made = (diverges ? diverging : sequential)(paint.theme, shade / SHADES);
    known.set(shade, made);
  }
  return made;
}

/** One object a ground: React passes over a style that is the same. */
const painted = new WeakMap<Ground, CSSProperties>();

function styleOf(of: Ground): CSSProperties {
  let style = painted.get(of);
  if (style === undefined) {
    style = { backgroundColor: of.background, color: of.ink };
    painted.set(of, style);
  }
  return style;
}

const texts = new WeakMap<Tokenizer, string[]>();

function textOf(of: Tokenizer, id: number): string {
  let known = texts.get(of);
  if (known === undefined) {
    known = [];
    texts.set(of, known);
  }
  return (known[id] ??= visible(of.token(id)));
}

/** A strip of more tokens is cut in blocks, of which those near the screen are drawn. */
const LONG = 1500;
const BLOCK = 200;
/** Tokens that are drawn anew together. */
const PIECE = 64;
/** Pixels beyond the scrolled region in which blocks are drawn. */
const AHEAD = 250;
const NO_MARKS: StripMarks = {};

/**
 * The tokens of a rollout. Four channels that never mix: the edge and glyph of a span say who wrote it; hatched and
 * muted ink says "context only"; the background is the one signal; a ring is the selection.
 */
export const TokenStrip = memo(function TokenStrip({ rollout, paint, selected, cells, marks = NO_MARKS }: TokenStripProps): ReactNode {
  if (rollout.tokens.length > LONG) return <LongStrip rollout={rollout} paint={paint} selected={selected} cells={cells} marks={marks} />;
  return (
    <span className={styles.strip} dir="ltr">
      <Parts rollout={rollout} paint={paint} selected={selected} cells={cells} marks={marks}
        parts={rollout.spans.map((span) => ({ span, from: span.start, to: span.end }))} />
    </span>
  );
});

interface StripProps {
  readonly rollout: TrainedTrajectory;
  readonly paint: SignalPaint | undefined;
  readonly selected: number | undefined;
  readonly cells: string | undefined;
  readonly marks: StripMarks;
}

function LongStrip({ rollout, selected, ...rest }: StripProps): ReactNode {
  const [root, width] = useWidth<HTMLDivElement>();
  const [watch] = useState(() => new Watch());
  const blocks = useMemo(() => blocksOf(rollout.spans, BLOCK, (i) => /\s/.test(tokenizerOf(rollout.task).token(rollout.tokens[i] ?? 0))), [rollout]);
  useEffect(() => () => {
    watch.end();
  }, [watch]);
  return (
    <div ref={root} className={styles.strip} dir="ltr">
      {width > 0 && blocks.map((block, i) => (
        <Block key={block.from} block={block} rollout={rollout} watch={watch} width={width} early={i < 6}
          selected={selected !== undefined && selected >= block.from && selected < block.to ? selected : undefined} {...rest} />
      ))}
    </div>
  );
}

/** Tells blocks when they come near the scrolled region, and when they leave it. */
class Watch {
  private observer: IntersectionObserver | undefined;
  private readonly told = new Map<Element, (entry: IntersectionObserverEntry) => void>();

  on(element: Element, tell: (entry: IntersectionObserverEntry) => void): () => void {
    this.observer ??= new IntersectionObserver((entries) => {
      for (const entry of entries) this.told.get(entry.target)?.(entry);
    }, { root: scrollerOf(element), rootMargin: `${AHEAD}px 0px` });
    this.told.set(element, tell);
    this.observer.observe(element);
    return () => {
      this.told.delete(element);
      this.observer?.unobserve(element);
    };
  }

  end(): void {
    this.observer?.disconnect();
    this.observer = undefined;
  }
}

/** The margin of an observer counts from the region that scrolls, not from the window. */
function scrollerOf(element: Element): Element | null {
  for (let at = element.parentElement; at !== null; at = at.parentElement) {
    if (/auto|scroll/.test(getComputedStyle(at).overflowY)) return at;
  }
  return null;
}

interface BlockProps extends StripProps {
  readonly block: StripBlock;
  readonly watch: Watch;
  readonly width: number;
  /** Drawn before anything is known of its place. */
  readonly early: boolean;
}

/** Width and height of what is drawn in the strip's face, for blocks that were never drawn. */
const CHARACTER = 7.8;
const LINE = 23;

const Block = memo(function Block({ block, watch, width, early, rollout, selected, ...rest }: BlockProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState<{ readonly is: boolean; readonly height?: number }>({ is: early });
  useEffect(() => {
    if (ref.current === null) return undefined;
    return watch.on(ref.current, ({ isIntersecting, boundingClientRect }) => {
      // What goes keeps its height: nothing moves.
      startTransition(() => {
        setNear((was) => (was.is === isIntersecting ? was : isIntersecting ? { is: true } : { is: false, height: boundingClientRect.height }));
      });
    });
  }, [watch]);
  const drawn = near.is || selected !== undefined;
  const height = near.height ?? estimate(block, rollout, width);
  return (
    <div ref={ref} className={styles.block} style={drawn ? undefined : { height }}>
      {drawn && <Parts rollout={rollout} selected={selected} parts={block.parts} {...rest} />}
    </div>
  );
});

function estimate({ from, to }: StripBlock, { task, tokens }: TrainedTrajectory, width: number): number {
  const tokenizer = tokenizerOf(task);
  let length = 0;
  for (let i = from; i < to; i++) length += textOf(tokenizer, tokens[i] ?? 0).length;
  return LINE * Math.ceil((CHARACTER * length) / Math.max(width, CHARACTER));
}

function Parts({ parts, rollout, selected, ...rest }: StripProps & { readonly parts: readonly StripPart[] }): ReactNode {
  return parts.map((part) => (
    <Part key={part.from} rollout={rollout} part={part} {...rest}
      selected={selected !== undefined && selected >= part.from && selected < part.to ? selected : undefined} />
  ));
}

function Part({ part: { span, from, to }, selected, marks, ...rest }: StripProps & { readonly part: StripPart }): ReactNode {
  const pieces: ReactNode[] = [];
  const own = marks.own === undefined ? [] : [marks.own];
  for (let at = from; at < to; at += PIECE) {
    const end = Math.min(to, at + PIECE);
    const [rangeFrom, rangeTo] = marks.range ?? [0, 0];
    pieces.push(
      <Piece key={at} {...rest} from={at} to={end} selected={selected !== undefined && selected >= at && selected < end ? selected : undefined}
        glyph={at === span.start ? GLYPHS[span.kind] : undefined}
        rangeFrom={Math.min(end, Math.max(at, rangeFrom))} rangeTo={Math.min(end, Math.max(at, rangeTo))}
        matches={rangesWithin(marks.matches ?? [], at, end)} own={rangesWithin(own, at, end)}
        shared={Math.min(end, Math.max(at, marks.shared ?? 0))} fork={marks.shared} />,
    );
  }
  return (
    <span className={styles.span} data-kind={span.kind} data-forged={span.forged || undefined}>
      {pieces}
      {span.forged && to === span.end && <span className={styles.flag}>{t('span.forged')}</span>}
      {!span.closed && to === span.end && <span className={styles.flag}>{t('span.unclosed')}</span>}
    </span>
  );
}

interface PieceProps {
  readonly rollout: TrainedTrajectory;
  readonly from: number;
  readonly to: number;
  readonly paint: SignalPaint | undefined;
  readonly cells: string | undefined;
  readonly selected: number | undefined;
  readonly glyph: string | undefined;
  readonly rangeFrom: number;
  readonly rangeTo: number;
  readonly matches: string;
  readonly own: string;
  readonly shared: number;
  readonly fork: number | undefined;
}

const Piece = memo(function Piece({ rollout, from, to, paint, cells, selected, glyph, rangeFrom, rangeTo, matches, own, shared, fork }: PieceProps): ReactNode {
  const tokens: ReactNode[] = [];
  const tokenizer = tokenizerOf(rollout.task);
  const [found, written] = [parseRanges(matches), parseRanges(own)];
  const within = (ranges: Ranges, i: number): boolean => ranges.some(([start, end]) => i >= start && i < end);
  for (let i = from; i < to; i++) {
    const value = paint && signalValue(rollout, i, paint.signal, paint.grpo, paint.delta);
    const trained = inLoss(rollout, i);
    const text = textOf(tokenizer, rollout.tokens[i] ?? 0);
    const inRange = i >= rangeFrom && i < rangeTo;
    const cell = (
      <span
        key={i}
        data-token={i}
        className={styles.token}
        data-context={!trained || undefined}
        data-tag={text.length > 1 || undefined}
        data-clip={paint?.signal === 'clip' ? clipState(rollout, i, paint.grpo) : undefined}
        data-range={inRange || undefined}
        data-match={(found.length > 0 && within(found, i)) || undefined}
        data-shared={i < shared || undefined}
        data-own={(written.length > 0 && within(written, i)) || undefined}
        style={paint !== undefined && value !== undefined && (trained || value !== 0) ? styleOf(ground(paint, value)) : undefined}
        {...(cells === undefined ? {} : { id: `${cells}-${i}`, role: 'gridcell', ...(selected === i || inRange ? { 'aria-selected': true } : {}) })}
        data-at={selected === i || undefined}
      >
        {text}
      </span>
    );
    if (i === fork && !written.some(([start]) => start === i)) tokens.push(<span key="fork" className={styles.fork} aria-hidden="true">{t('span.fork')}</span>);
    if (written.some(([start]) => start === i)) tokens.push(<span key="own" className={styles.pen} aria-hidden="true">{t('span.own')}</span>);
    if (i === from && glyph !== undefined) {
      tokens.push(
        <span key="start" className={styles.start}>
          <span className={styles.glyph} aria-hidden="true">{glyph}</span>
          {cell}
        </span>,
      );
    } else tokens.push(cell);
  }
  return tokens;
});
