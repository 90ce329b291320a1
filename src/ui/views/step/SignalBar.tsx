import type { ReactNode } from 'react';
import { Segments } from '../../components/Segments.tsx';
import { NO_CLIP } from '../../../grpo/settings.ts';
import { navigate, SIGNALS, stepAddress, type Selection, type StepView } from '../../routes.ts';
import { format, t } from '../../text/text.ts';
import { ground, type SignalPaint } from './TokenStrip.tsx';
import type { SignalScale } from './tokens.ts';
import styles from './SignalBar.module.css';

interface SignalBarProps {
  readonly on: StepView;
  readonly selection: Selection;
  readonly paint: SignalPaint | undefined;
}

/** Which one signal colours the tokens, with its legend; and the marks that always hold. */
export function SignalBar({ on, selection, paint }: SignalBarProps): ReactNode {
  const { signal } = selection;
  return (
    <div className={styles.bar}>
      <Segments
        label={t('signal.choose')}
        value={signal}
        items={SIGNALS.map((value, key) => ({ value, label: t(`signal.${value}`), hotkey: String(key) }))}
        onChange={(value) => {
          navigate(stepAddress(on, { ...selection, signal: value }), { replace: true });
        }}
      />
      <div className={styles.explained}>
        {paint !== undefined && <Legend paint={paint} scale={paint.scale} />}
        <p className={styles.what}>{signal !== 'none' && paint === undefined ? t('signal.noValue') : t(`signal.${signal}.what`)}</p>
      </div>
    </div>
  );
}

const STOPS = 24;

export function Legend({ paint, scale }: { readonly paint: SignalPaint; readonly scale: SignalScale }): ReactNode {
  if (scale.kind === 'classes') {
    return (
      <span className={styles.legend}>
        {([0, 1, 2] as const).map((value) => {
          const { background, ink } = ground(paint, value);
          return <span key={value} className={styles.class} style={{ background, color: ink }}>{t(value === 0 ? 'clip.inside' : value === 1 ? 'clip.outside' : 'clip.clipped')}</span>;
        })}
      </span>
    );
  }
  const diverges = scale.kind !== 'sequential';
  const colours = Array.from({ length: STOPS + 1 }, (_, i) => ground(paint, valueAt(scale, i / STOPS)).background);
  const say = (x: number): string => (scale.kind === 'diverging' ? format.signed(x, x !== 0 && scale.most < 0.01 ? 5 : 2) : format.significant(x, 3));
  const [from, to] = [valueAt(scale, 0), valueAt(scale, 1)];
  const middle = diverges ? say(valueAt(scale, 0.5)) : scale.logarithmic ? t('signal.log') : '';
  return (
    <span className={styles.legend}>
      <span className={styles.end}>{diverges && '▼ '}{say(from)}</span>
      <span className={styles.ramp} style={{ background: `linear-gradient(to right, ${colours.join(', ')})` }}>
        {scale.kind === 'ratio' && <Ticks scale={scale} paint={paint} />}
      </span>
      <span className={styles.end}>{say(to)}{diverges && ' ▲'}</span>
      <span className={styles.middle}>{diverges ? t('signal.middle', { value: middle }) : middle}</span>
    </span>
  );
}

/** The trust region on the ratio's axis. */
function Ticks({ scale, paint }: { readonly scale: Extract<SignalScale, { kind: 'ratio' }>; readonly paint: SignalPaint }): ReactNode {
  const bounds = [1 - paint.grpo.epsilonLow, 1, 1 + paint.grpo.epsilonHigh].filter((r) => r > 0 && r < NO_CLIP);
  return bounds.map((ratio) => {
    const at = 50 + (50 * Math.log(ratio)) / Math.log(scale.most);
    return <span key={ratio} className={styles.tick} style={{ insetInlineStart: `${Math.min(100, Math.max(0, at))}%` }} title={format.significant(ratio, 3)} />;
  });
}

/** The value at a place of the legend, 0 (left) to 1. */
function valueAt(scale: SignalScale, at: number): number {
  switch (scale.kind) {
    case 'diverging':
      return scale.most * (2 * at - 1);
    case 'ratio':
      return scale.most ** (2 * at - 1);
    case 'sequential':
      return scale.logarithmic ? scale.from * (scale.to / scale.from) ** at : scale.from + (scale.to - scale.from) * at;
    case 'classes':
      return 2 * at;
  }
}
