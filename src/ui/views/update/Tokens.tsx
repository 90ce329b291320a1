import { memo, useEffect, useMemo, useRef, useState, type CSSProperties, type KeyboardEvent, type MouseEvent, type PointerEvent, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { SpanKind } from '../../../rollout/trajectory.ts';
import { t } from '../../text/text.ts';
import { ground, type SignalPaint } from '../step/TokenStrip.tsx';
import { GLYPHS, tokenText, walk, type SignalScale } from '../step/tokens.ts';
import { barHeight } from './arrays.ts';
import styles from './Tokens.module.css';

/** One row of bars below the tokens. */
export interface Bars {
  readonly label: string;
  readonly values: Float64Array;
  readonly scale: SignalScale;
}

interface TokensProps {
  readonly rollout: TrainedTrajectory;
  /** Each token's share in the loss of the update that is shown: 0 is drawn as context only. */
  readonly weights: Float32Array;
  /** What the background shows, with its values. */
  readonly paint: SignalPaint | undefined;
  readonly values: Float64Array | undefined;
  readonly bars: readonly Bars[];
  readonly selected: number;
  readonly onPick: (token: number) => void;
  readonly onPreview: (token: number | undefined) => void;
}

const CELL = 'update-token';

/** The tokens of one rollout, each with bars below it. A token keeps its place, whatever is drawn. */
export function Tokens({ rollout, weights, paint, values, bars, selected, onPick, onPreview }: TokensProps): ReactNode {
  const blocks = useMemo(() => blocksOf(rollout.tokens.length), [rollout]);
  useEffect(() => {
    document.getElementById(`${CELL}-${selected}`)?.scrollIntoView({ block: 'nearest' });
  }, [selected]);
  const under = (target: EventTarget): number | undefined => {
    const at = target instanceof HTMLElement ? target.closest<HTMLElement>('[data-token]')?.dataset.token : undefined;
    return at === undefined ? undefined : Number(at);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = walk(event.key, rollout, selected);
    if (to === undefined) return;
    event.preventDefault();
    onPick(Math.min(rollout.tokens.length - 1, Math.max(0, to)));
  };
  return (
    <div className={styles.figure} data-one={bars.length < 2 || undefined} dir="ltr">
      <span className={styles.labels} aria-hidden="true">
        {bars.map(({ label }) => <span key={label}>{label}</span>)}
      </span>
      <div
        className={styles.tokens}
        role="grid"
        tabIndex={0}
        aria-label={t('update.tokens')}
        aria-activedescendant={`${CELL}-${selected}`}
        onKeyDown={onKeyDown}
        onClick={(event: MouseEvent) => {
          const token = under(event.target);
          if (token !== undefined) onPick(token);
        }}
        onPointerOver={(event: PointerEvent) => {
          onPreview(event.pointerType === 'mouse' ? under(event.target) : undefined);
        }}
        onPointerLeave={() => {
          onPreview(undefined);
        }}
      >
        {blocks.map(([from, to]) => (
          <Block key={from} from={from} to={to} alone={blocks.length === 1} rollout={rollout} weights={weights} paint={paint} values={values} bars={bars}
            selected={selected >= from && selected < to ? selected : undefined} />
        ))}
      </div>
    </div>
  );
}

/** A longer rollout is drawn in blocks, of which those near the part that is seen. */
const BLOCK = 400;

function blocksOf(n: number): readonly (readonly [from: number, to: number])[] {
  if (n <= 2 * BLOCK) return [[0, n]];
  return Array.from({ length: Math.ceil(n / BLOCK) }, (_, i) => [i * BLOCK, Math.min(n, (i + 1) * BLOCK)] as const);
}

interface BlockProps extends Pick<TokensProps, 'rollout' | 'weights' | 'paint' | 'values' | 'bars'> {
  readonly from: number;
  readonly to: number;
  readonly alone: boolean;
  readonly selected: number | undefined;
}

const Block = memo(function Block({ from, to, alone, rollout, weights, paint, values, bars, selected }: BlockProps): ReactNode {
  const ref = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState<{ readonly is: boolean; readonly height: number }>({ is: alone || from === 0, height: 200 });
  useEffect(() => {
    const { current } = ref;
    if (alone || current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      const entry = entries.at(-1);
      // What goes keeps its height: nothing moves.
      if (entry !== undefined) setNear((was) => (was.is === entry.isIntersecting ? was : { is: entry.isIntersecting, height: entry.boundingClientRect.height }));
    }, { root: current.parentElement, rootMargin: '400px 0px' });
    observer.observe(current);
    return () => {
      observer.disconnect();
    };
  }, [alone]);
  const drawn = near.is || selected !== undefined;
  const plain = bars.every(({ scale }) => scale.kind === 'sequential');
  return (
    <div ref={ref} role="row" className={styles.row} style={drawn ? undefined : { height: near.height }}>
      {drawn && rollout.spans.map((span) => Array.from({ length: Math.max(0, Math.min(span.end, to) - Math.max(span.start, from)) }, (_, k) => {
        const i = Math.max(span.start, from) + k;
        const value = values?.[i] ?? NaN;
        const trained = (weights[i] ?? 0) !== 0;
        const colours = paint === undefined || Number.isNaN(value) || (!trained && value === 0) ? undefined : ground(paint, value);
        const flag = i + 1 < span.end ? undefined : span.forged ? t('span.forged') : span.closed ? undefined : t('span.unclosed');
        const heights = bars.map(({ values: of, scale }) => barHeight(of[i] ?? NaN, scale));
        return (
          <Token key={i} at={i} text={tokenText(rollout, i)} kind={span.kind} glyph={i === span.start ? GLYPHS[span.kind] : undefined} trained={trained}
            background={colours?.background} ink={colours?.ink} heights={heights.join(' ')} plain={plain} selected={i === selected} flag={flag} />
        );
      }))}
    </div>
  );
});

interface TokenProps {
  readonly at: number;
  readonly text: string;
  readonly kind: SpanKind;
  readonly glyph: string | undefined;
  readonly trained: boolean;
  readonly background: string | undefined;
  readonly ink: string | undefined;
  /** Of its bars, −1 to 1, with spaces between: a text is the same where the numbers are. */
  readonly heights: string;
  /** Bars that grow from the ground, rather than up and down from the middle. */
  readonly plain: boolean;
  readonly selected: boolean;
  readonly flag: string | undefined;
}

const Token = memo(function Token({ at, text, kind, glyph, trained, background, ink, heights, plain, selected, flag }: TokenProps): ReactNode {
  return (
    <span id={`${CELL}-${at}`} role="gridcell" aria-selected={selected} className={styles.token} data-token={at} data-kind={kind} data-first={glyph !== undefined || undefined} data-context={!trained || undefined}>
      <span className={styles.head}>
        {glyph !== undefined && <span className={styles.glyph} aria-hidden="true">{glyph}</span>}
        <span className={styles.text} style={background === undefined ? undefined : { background, color: ink }}>{text}</span>
        {flag !== undefined && <span className={styles.flag}>{flag}</span>}
      </span>
      {heights.split(' ').map(Number).map((height, i) => (
        <span key={i} className={styles.plot} data-plain={plain || undefined} aria-hidden="true">
          {height !== 0 && <span className={styles.bar} data-sign={plain ? undefined : height > 0 ? 'up' : 'down'} style={barStyle(height, plain)} />}
        </span>
      ))}
    </span>
  );
});

function barStyle(height: number, plain: boolean): CSSProperties {
  if (plain) return { bottom: 0, height: `${100 * height}%` };
  return height > 0 ? { bottom: '50%', height: `${50 * height}%` } : { top: '50%', height: `${-50 * height}%` };
}
