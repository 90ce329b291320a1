import { useId, useMemo, type KeyboardEvent, type PointerEvent, type ReactNode } from 'react';
import { format } from '../text/text.ts';
import { bandPath, linear, linePath, nearest, spread, thin, ticks, type Domain, type Point } from './scale.ts';
import { useWidth } from './useWidth.ts';
import styles from './Chart.module.css';

export interface Series {
  readonly key: string;
  readonly label: string;
  /** A character or two at the end of the line. */
  readonly tag?: string;
  /** One a step; NaN where there is none. */
  readonly values: readonly number[];
  /** A CSS colour, usually a custom property. */
  readonly colour: string;
  readonly dashed?: boolean;
  /** `band`: stacked on the bands before it. */
  readonly draw?: 'line' | 'band';
  /** Around a line: lower and upper edge of what it is the mean of. */
  readonly spread?: { readonly low: readonly number[]; readonly high: readonly number[] };
}

export interface ChartProps {
  readonly title: string;
  /** What the vertical axis counts. */
  readonly unit: string;
  /** Step numbers, ascending. */
  readonly steps: readonly number[];
  /** Steps of the whole run: the axis does not grow while it goes on. */
  readonly last: number;
  readonly series: readonly Series[];
  readonly domain: Domain;
  readonly digits: number;
  readonly height: number;
  /** Steps with a remark, marked at the foot. */
  readonly marks?: readonly number[];
  /** The step that is pointed at, in all charts alike. */
  readonly cursor: number | undefined;
  readonly onCursor: (step: number | undefined) => void;
  readonly onOpen: (step: number) => void;
  /** What Enter does, for screen readers. */
  readonly openHint: string;
  readonly stepName: (step: number) => string;
  readonly empty: string;
}

const MARGIN = { top: 8, right: 20, bottom: 20, left: 40 };
const MOST_POINTS = 500;

/** Lines or stacked bands over the steps of a run; a slider over its steps for keyboard and screen reader. */
export function Chart(props: ChartProps): ReactNode {
  const { title, unit, steps, last, series, domain, digits, height, marks = [], cursor, onCursor, onOpen, openHint, stepName, empty } = props;
  const [ref, width] = useWidth<HTMLDivElement>();
  const id = useId();
  const x = useMemo(() => linear([1, Math.max(last, 2)], [MARGIN.left, Math.max(width - MARGIN.right, MARGIN.left + 1)]), [last, width]);
  const y = useMemo(() => linear(domain, [height - MARGIN.bottom, MARGIN.top]), [domain, height]);
  const drawn = useMemo(() => layOut(series, steps, x, y), [series, steps, x, y]);
  const at = cursor === undefined ? -1 : steps.indexOf(cursor);
  const shown = at >= 0 ? at : steps.length - 1;
  const shownStep = steps[shown];
  const blank = !series.some(({ values }) => values.some(Number.isFinite));

  const move = (step: number): void => {
    const next = steps[nearest(steps, step)];
    if (next !== undefined) onCursor(next);
  };
  const onPointerMove = (event: PointerEvent<HTMLDivElement>): void => {
    const [x0, x1] = [x(1), x(2)];
    const offset = event.clientX - event.currentTarget.getBoundingClientRect().left;
    move(1 + (offset - x0) / (x1 - x0));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (shownStep === undefined) return;
    const jump = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10, Home: -Infinity, End: Infinity }[event.key];
    if (jump !== undefined) {
      event.preventDefault();
      const next = Math.min(steps.length - 1, Math.max(0, shown + jump));
      onCursor(steps[next]);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onOpen(shownStep);
    }
  };

  const value = (s: Series): string => (shown >= 0 ? format.fixed(s.values[shown] ?? NaN, digits) : '–');
  const spoken = shownStep === undefined ? empty : format.named(stepName(shownStep), format.list(series.map((s) => `${s.label} ${value(s)}`)));
  return (
    <figure className={styles.chart}>
      <figcaption className={styles.caption}>
        <span className={styles.title} id={id}>{title}</span>
        <span className={styles.unit}>{unit}</span>
        <span className="hidden" id={`${id}-hint`}>{openHint}</span>
        <span className={styles.legend} aria-hidden="true">
          {series.map((s) => (
            <span key={s.key} className={styles.key}>
              {series.length > 1 && <span className={s.draw === 'band' ? styles.swatch : styles.stroke} style={{ color: s.colour }} data-dashed={s.dashed} />}
              {series.length > 1 && (s.tag ?? s.label)} <b className={styles.value}>{value(s)}</b>
            </span>
          ))}
        </span>
      </figcaption>
      <div
        ref={ref}
        className={styles.plot}
        style={{ height }}
        role="slider"
        tabIndex={0}
        aria-labelledby={id}
        aria-describedby={`${id}-hint`}
        aria-valuemin={steps[0] ?? 0}
        aria-valuemax={steps.at(-1) ?? 0}
        aria-valuenow={shownStep ?? 0}
        aria-valuetext={spoken}
        onPointerMove={onPointerMove}
        onPointerLeave={() => {
          onCursor(undefined);
        }}
        onClick={() => {
          if (shownStep !== undefined) onOpen(shownStep);
        }}
        onKeyDown={onKeyDown}
        data-open={steps.length > 0}
      >
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true" className={styles.svg}>
            {ticks(domain, height > 160 ? 4 : 2).map((tick) => (
              <g key={tick}>
                <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} className={styles.grid} />
                <text x={MARGIN.left - 8} y={y(tick)} dy="0.32em" textAnchor="end" className={styles.tick}>{format.significant(tick, 3)}</text>
              </g>
            ))}
            {ticks([1, Math.max(last, 2)], width > 360 ? 6 : 3).filter((tick) => Number.isInteger(tick)).map((tick) => (
              <text key={tick} x={x(tick)} y={height - 4} textAnchor="middle" className={styles.tick}>{format.integer(tick)}</text>
            ))}
            {drawn.map(({ series: s, spread: area }) => area !== '' && <path key={s.key} d={area} className={styles.spread} style={{ fill: s.colour }} />)}
            {drawn.map(({ series: s, path, fill }) => (
              fill === ''
                ? <path key={s.key} d={path} className={styles.line} style={{ stroke: s.colour }} strokeDasharray={s.dashed === true ? '3 4' : undefined} />
                : <path key={s.key} d={fill} className={styles.band} style={{ fill: s.colour }} />
            ))}
            {marks.map((step) => (
              <path key={step} d={`M${x(step) - 3} ${height - MARGIN.bottom + 5}l3 -5l3 5z`} className={styles.mark} />
            ))}
            {shownStep !== undefined && (
              <g>
                {at >= 0 && <line x1={x(shownStep)} x2={x(shownStep)} y1={MARGIN.top} y2={height - MARGIN.bottom} className={styles.cursor} />}
                {drawn.map(({ series: s, points }) => {
                  const point = points[shown];
                  return point === undefined || !Number.isFinite(point.y) || s.draw === 'band' ? null : (
                    <circle key={s.key} cx={point.x} cy={point.y} r={3} style={{ fill: s.colour }} className={styles.dot} />
                  );
                })}
              </g>
            )}
            <Tags drawn={drawn} height={height} right={width - MARGIN.right + 6} />
          </svg>
        )}
        {blank && <span className={styles.empty}>{empty}</span>}
      </div>
    </figure>
  );
}

interface Drawn {
  readonly series: Series;
  /** One a step. */
  readonly points: readonly Point[];
  readonly path: string;
  /** For bands. */
  readonly fill: string;
  readonly spread: string;
}

function layOut(series: readonly Series[], steps: readonly number[], x: (v: number) => number, y: (v: number) => number): Drawn[] {
  const base = new Array<number>(steps.length).fill(0);
  const indices = thin([...steps.keys()], MOST_POINTS);
  const some = (points: readonly Point[]): Point[] => indices.map((i) => points[i] ?? { x: 0, y: NaN });
  return series.map((s): Drawn => {
    if (s.draw !== 'band') {
      const points = steps.map((step, i): Point => ({ x: x(step), y: y(s.values[i] ?? NaN) }));
      return { series: s, points, path: linePath(some(points)), fill: '', spread: spreadPath(s, indices, steps, x, y) };
    }
    const bottom = steps.map((step, i): Point => ({ x: x(step), y: y(base[i] ?? 0) }));
    for (const [i, value] of s.values.entries()) base[i] = (base[i] ?? 0) + (Number.isFinite(value) ? value : 0);
    const top = steps.map((step, i): Point => ({ x: x(step), y: y(base[i] ?? 0) }));
    return { series: s, points: top, path: '', fill: bandPath(some(top), some(bottom)), spread: '' };
  });
}

function spreadPath({ spread: edges }: Series, indices: readonly number[], steps: readonly number[], x: (v: number) => number, y: (v: number) => number): string {
  if (edges === undefined) return '';
  const known = indices.filter((i) => Number.isFinite(edges.low[i]) && Number.isFinite(edges.high[i]));
  const edge = (values: readonly number[]): Point[] => known.map((i) => ({ x: x(steps[i] ?? 0), y: y(values[i] ?? 0) }));
  return bandPath(edge(edges.high), edge(edges.low));
}

/** Short names at the ends of the lines, moved apart where they would overlap. */
function Tags({ drawn, height, right }: { readonly drawn: readonly Drawn[]; readonly height: number; readonly right: number }): ReactNode {
  const tagged = drawn.filter(({ series: { tag }, points }) => tag !== undefined && points.some(({ y }) => Number.isFinite(y)));
  const ends = tagged.map(({ points }) => points.findLast(({ y }) => Number.isFinite(y)));
  const places = spread(ends.map((end) => end?.y ?? 0), 12, [MARGIN.top + 4, height - MARGIN.bottom - 4]);
  return tagged.map(({ series: s }, i) => (
    <text key={s.key} x={right} y={places[i]} dy="0.32em" className={styles.tag}>{s.tag}</text>
  ));
}
