import { useId, type ReactNode } from 'react';
import { linear, ticks, type Domain } from '../../figures/scale.ts';
import { useWidth } from '../../figures/useWidth.ts';
import { format } from '../../text/text.ts';
import { fillOf, Hatching, type Look } from './Look.tsx';
import styles from './Dots.module.css';

export interface DotRow {
  readonly key: string;
  readonly label: string;
  readonly look: Look;
  /** One a seed; NaN where there is none. */
  readonly values: readonly number[];
}

interface DotsProps {
  readonly title: string;
  readonly rows: readonly DotRow[];
  readonly domain: Domain;
  readonly digits: number;
  readonly sentence: string;
  /** Whether the rows are named here; else they are those of the figure beside this one. */
  readonly named: boolean;
}

const ROW = 24;
const FOOT = 18;
const MARGIN = { left: 8, named: 140, right: 46 };

const meanOf = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** A row a setting, a dot a seed: the spread is what it is. The mean is a rule, and the number at the end. */
export function Dots({ title, rows, domain, digits, sentence, named }: DotsProps): ReactNode {
  const [ref, width] = useWidth<HTMLDivElement>();
  const id = useId();
  const height = rows.length * ROW + FOOT;
  const left = named ? MARGIN.named : MARGIN.left;
  const x = linear(domain, [left, Math.max(left + 1, width - MARGIN.right)]);
  return (
    <figure className={styles.dots}>
      <figcaption className={styles.title} style={{ paddingInlineStart: left - MARGIN.left }}>{title}</figcaption>
      <div ref={ref} style={{ height }} role="img" aria-label={sentence}>
        {width > 0 && (
          <svg width={width} height={height} aria-hidden="true" className={styles.svg}>
            <defs><Hatching id={id} /></defs>
            {ticks(domain, 3).map((tick) => (
              <g key={tick}>
                <line x1={x(tick)} x2={x(tick)} y1={0} y2={rows.length * ROW} className={styles.grid} />
                <text x={x(tick)} y={height - 4} textAnchor="middle" className={styles.tick}>{format.significant(tick, 3)}</text>
              </g>
            ))}
            {rows.map(({ key, label, look, values }, i) => {
              const known = values.filter(Number.isFinite);
              const y = ROW * (i + 0.5);
              const mean = meanOf(known);
              return (
                <g key={key}>
                  {named && <text x={0} y={y} dy="0.34em" className={styles.value}>{label}</text>}
                  {known.length > 0 && <line x1={x(mean)} x2={x(mean)} y1={y - 9} y2={y + 9} className={styles.mean} />}
                  {known.map((value, k) => <circle key={k} cx={x(value)} cy={y} r="4.5" strokeWidth="1.5" style={{ ...fillOf(look, id), ...(look === 'solid' ? { stroke: 'var(--surface)' } : {}) }} />)}
                  <text x={width} y={y} dy="0.34em" textAnchor="end" className={styles.value}>{format.fixed(mean, digits)}</text>
                </g>
              );
            })}
          </svg>
        )}
      </div>
    </figure>
  );
}
