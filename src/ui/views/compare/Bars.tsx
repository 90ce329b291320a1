import { useId, type ReactNode } from 'react';
import { linear, ticks, type Domain } from '../../figures/scale.ts';
import { useWidth } from '../../figures/useWidth.ts';
import { format } from '../../text/text.ts';
import { fillOf, Hatching, type Look } from './Look.tsx';
import styles from './Bars.module.css';

export interface BarSeries {
  readonly key: string;
  readonly label: string;
  readonly look: Look;
  /** One a group; undefined: not known, which is not 0. */
  readonly values: readonly (BarValue | undefined)[];
}

export interface BarValue {
  readonly value: number;
  /** Lower and upper end, in the unit of the value. */
  readonly interval?: readonly [number, number];
}

interface BarsProps {
  readonly title: string;
  readonly unit: string;
  readonly groups: readonly string[];
  readonly series: readonly BarSeries[];
  readonly domain: Domain;
  readonly digits: number;
  readonly height: number;
  /** What the picture says, for those who do not see it; the numbers stand in a table beside it. */
  readonly sentence: string;
}

const MARGIN = { top: 18, right: 4, bottom: 22, left: 34 };
const WIDEST = 34;
/** Pixels that a number above a bar takes, by its length. */
const CHARACTER = 6.4;

/** Bars side by side in groups, each with its interval. */
export function Bars({ title, unit, groups, series, domain, digits, height, sentence }: BarsProps): ReactNode {
  const [ref, width] = useWidth<HTMLDivElement>();
  const id = useId();
  const y = linear(domain, [height - MARGIN.bottom, MARGIN.top]);
  const span = Math.max(0, width - MARGIN.left - MARGIN.right) / Math.max(1, groups.length);
  const bar = Math.min(WIDEST, (span * 0.9) / Math.max(1, series.length));
  const from = (g: number, s: number): number => MARGIN.left + span * (g + 0.5) + (s - series.length / 2) * bar;
  const [low] = domain;
  return (
    <figure className={styles.bars}>
      <figcaption className={styles.caption}><b>{title}</b> <span className={styles.unit}>{unit}</span></figcaption>
      <div ref={ref} style={{ height }} role="img" aria-label={sentence}>
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true" className={styles.svg}>
            <defs><Hatching id={id} /></defs>
            {ticks(domain, 4).map((tick) => (
              <g key={tick}>
                <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y(tick)} y2={y(tick)} className={styles.grid} />
                <text x={MARGIN.left - 6} y={y(tick)} dy="0.32em" textAnchor="end" className={styles.tick}>{format.significant(tick, 3)}</text>
              </g>
            ))}
            {groups.map((group, g) => (
              <text key={group} x={MARGIN.left + span * (g + 0.5)} y={height - 6} textAnchor="middle" className={styles.group}>{group}</text>
            ))}
            {series.map(({ key, look, values }, s) => groups.map((group, g) => {
              const known = values[g];
              const left = from(g, s);
              const middle = left + bar / 2;
              if (known === undefined || Number.isNaN(known.value)) {
                return <line key={`${key} ${group}`} x1={middle - 3} x2={middle + 3} y1={y(low) - 6} y2={y(low) - 6} className={styles.none} />;
              }
              const { value, interval = [value, value] } = known;
              const words = format.fixed(value, digits);
              return (
                <g key={`${key} ${group}`}>
                  <rect x={left + 1} y={y(value)} width={Math.max(0, bar - 2)} height={Math.max(0, y(low) - y(value))} style={fillOf(look, id)} strokeWidth="1.25" />
                  {interval[1] > interval[0] && (
                    [styles.halo, styles.interval].map((name) => (
                      <path key={name} d={`M${middle - 3} ${y(interval[0])}h6m-3 0V${y(interval[1])}m-3 0h6`} className={name} />
                    ))
                  )}
                  {words.length * CHARACTER <= bar + 1 && (
                    <text x={middle} y={y(Math.max(value, interval[1])) - 4} textAnchor="middle" className={styles.value}>{words}</text>
                  )}
                </g>
              );
            }))}
          </svg>
        )}
      </div>
    </figure>
  );
}
