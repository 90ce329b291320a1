import type { ReactNode } from 'react';
import type { TokenRule } from '../../../grpo/explain.ts';
import { format, t } from '../../text/text.ts';
import styles from './plots.module.css';

interface RatioAxisProps {
  /** Ratios of the rollout's tokens; NaN for those without. */
  readonly ratios: Float64Array;
  readonly of: number;
  readonly rule: TokenRule;
  /** The axis goes from 1/reach to reach. */
  readonly reach: number;
}

const WIDTH = 280;
const HEIGHT = 96;
const EDGE = 12;

/** The ratios of a rollout on a log axis, with the band of the clip. */
export function RatioAxis({ ratios, of, rule, reach }: RatioAxisProps): ReactNode {
  const x = (ratio: number): number => WIDTH / 2 + ((WIDTH / 2 - EDGE) * Math.log(ratio)) / Math.log(reach);
  const [low, high] = [1 - rule.epsilonLow, 1 + rule.epsilonHigh];
  const ticks = [
    ...(low > 1 / reach ? [{ at: low, label: t('update.tick.low') }] : []),
    { at: 1, label: '1' },
    ...(high < reach ? [{ at: high, label: t('update.tick.high') }] : []),
  ];
  // On a long axis the band is narrow: its ends then have no room for words.
  const named = ticks.filter(({ at }) => at === 1 || Math.abs(x(at) - x(1)) > 36);
  const own = ratios[of] ?? NaN;
  const others = new Map<number, number>();
  return (
    <svg className={styles.plot} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={t('update.ratioAxis', { ratio: format.fixed(own, 6) })}>
      {low > 0 && <rect className={styles.band} x={x(Math.max(low, 1 / reach))} y="8" width={x(Math.min(high, reach)) - x(Math.max(low, 1 / reach))} height="54" />}
      <line className={styles.axis} x1={EDGE} x2={WIDTH - EDGE} y1="62" y2="62" />
      {ticks.map(({ at, label }) => (
        <g key={label}>
          <line className={styles.axis} x1={x(at)} x2={x(at)} y1="62" y2="68" />
        </g>
      ))}
      {named.map(({ at, label }) => (
        <g key={label}>
          <text className={styles.label} x={x(at)} y="80">{label}</text>
          <text className={styles.label} x={x(at)} y="93">{at === 1 ? '' : format.fixed(at, 2)}</text>
        </g>
      ))}
      {reach >= 2 && [1 / reach, reach].map((at) => (
        <text key={at} className={styles.end} data-end={at > 1 || undefined} x={at > 1 ? WIDTH - 2 : 2} y="80">{format.significant(at, 2)}</text>
      ))}
      {Array.from(ratios, (ratio, i) => {
        if (!(ratio > 0) || i === of) return null;
        // Tokens at the same place are heaped up.
        const place = Math.round(x(ratio) / 3);
        const heaped = others.get(place) ?? 0;
        others.set(place, heaped + 1);
        return <circle key={i} className={styles.other} cx={x(ratio)} cy={58 - Math.min(heaped, 18) * 2.6} r="2.5" />;
      })}
      {own > 0 && <circle className={styles.own} cx={x(Math.min(reach, Math.max(1 / reach, own)))} cy="58" r="5" />}
    </svg>
  );
}

interface ClipCurveProps {
  readonly ratio: number;
  readonly advantage: number;
  readonly rule: TokenRule;
}

/** The clipped objective over the ratio, for either sign of the advantage, with the token's place on it. */
export function ClipCurve({ ratio, advantage, rule }: ClipCurveProps): ReactNode {
  const reach = 2;
  return (
    <div className={styles.curves}>
      {[1, -1].map((sign) => {
        const own = sign * advantage > 0 && ratio > 0;
        const x = (r: number): number => 8 + (124 * Math.min(reach, Math.max(0, r))) / reach;
        const gain = (r: number): number => Math.min(r * sign, Math.min(Math.max(r, 1 - rule.epsilonLow), 1 + rule.epsilonHigh) * sign);
        // The objective for |A| = 1: from −2 to 2 would waste half of the plot.
        const y = (g: number): number => (sign > 0 ? 84 - 34 * g : 16 - 34 * g);
        const knee = sign > 0 ? 1 + rule.epsilonHigh : 1 - rule.epsilonLow;
        const flat = sign > 0 ? [knee, reach] : [0, knee];
        const stops = [0, ...(knee > 0 && knee < reach ? [knee] : []), reach];
        return (
          <svg key={sign} className={styles.curve} viewBox="0 0 140 110" role="img"
            aria-label={t(own ? 'update.curve.own' : 'update.curve', { up: sign > 0, ratio: format.fixed(ratio, 2) })}>
            {knee > 0 && knee < reach && <rect className={styles.stopped} x={x(flat[0] ?? 0)} y="8" width={x(flat[1] ?? 0) - x(flat[0] ?? 0)} height="82" />}
            <line className={styles.axis} x1="8" x2="132" y1={y(0)} y2={y(0)} />
            <line className={styles.guide} x1={x(1)} x2={x(1)} y1="8" y2="90" />
            <polyline className={styles.gain} points={stops.map((r) => `${x(r)},${y(gain(r))}`).join(' ')} />
            {own && <circle className={styles.own} cx={x(ratio)} cy={y(gain(Math.min(ratio, reach)))} r="5" />}
            <text className={styles.label} x="70" y="106">{t(sign > 0 ? 'update.curve.up' : 'update.curve.down')}</text>
          </svg>
        );
      })}
    </div>
  );
}
