import { memo, type ReactNode } from 'react';
import { Choice } from '../../components/Choice.tsx';
import { Segments } from '../../components/Segments.tsx';
import type { GroupRecord } from '../../../grpo/record.ts';
import { NO_CLIP } from '../../../grpo/settings.ts';
import { Hideable } from '../../hiding/Hideable.tsx';
import { navigate, OTHERS, selectionNow, SIGNALS, stepAddress, type Other, type Selection, type StepView } from '../../routes.ts';
import type { RunView } from '../../stores/runs.ts';
import { format, t } from '../../text/text.ts';
import { Asked, useAsked } from './Asked.tsx';
import { policyScores } from './scores.ts';
import { ground, type SignalPaint } from './TokenStrip.tsx';
import type { SignalScale } from './tokens.ts';
import styles from './SignalBar.module.css';

/** What the scores of another policy are of: for the signal `delta`. */
interface Scored {
  readonly view: RunView;
  readonly step: number;
  readonly group: GroupRecord;
}

interface SignalBarProps {
  readonly on: StepView;
  readonly selection: Selection;
  readonly paint: SignalPaint | undefined;
  /** Where it is given, the policy to compare with can be chosen, and waiting for it is shown. */
  readonly scored?: Scored | undefined;
}

const sameBar = (a: SignalBarProps, b: SignalBarProps): boolean =>
  a.on === b.on && a.paint === b.paint && a.selection.signal === b.selection.signal && a.selection.other === b.selection.other
  && a.selection.run === b.selection.run && a.selection.step === b.selection.step
  && a.scored?.view === b.scored?.view && a.scored?.step === b.scored?.step && a.scored?.group === b.scored?.group;

/** Which one signal colours the tokens, with its legend; and the marks that always hold. Not drawn anew at each token. */
export const SignalBar = memo(function SignalBar({ on, selection: { run, step, signal, other }, paint, scored }: SignalBarProps): ReactNode {
  const go = (to: Partial<Selection>): void => {
    navigate(stepAddress(on, { ...selectionNow(), run, step, ...to }), { replace: true });
  };
  return (
    <div className={styles.bar}>
      <Hideable name="signals"><Segments
        label={t('signal.choose')}
        value={signal}
        items={SIGNALS.map((value, key) => ({ value, label: t(`signal.${value}`), hotkey: String(key) }))}
        onChange={(value) => {
          go({ signal: value });
        }}
      /></Hideable>
      <div className={styles.explained}>
        {paint !== undefined && <Legend paint={paint} scale={paint.scale} />}
        {signal === 'delta' && scored !== undefined && <Compared scored={scored} other={other} onOther={(to) => {
          go({ other: to });
        }} />}
        <p className={styles.what}>{signal !== 'none' && signal !== 'delta' && paint === undefined ? t('signal.noValue') : t(`signal.${signal}.what`)}</p>
      </div>
    </div>
  );
}, sameBar);

/** The policy that the tokens are compared with; while its scores are on their way, how far they are. */
function Compared({ scored: { view, step, group }, other, onOther }: { readonly scored: Scored; readonly other: Other; readonly onOther: (other: Other) => void }): ReactNode {
  const { key, inspection } = policyScores(view, step, group, other);
  const asking = useAsked(key, () => inspection);
  return (
    <>
      <Choice label={t('signal.other')} value={other} items={OTHERS.map((value) => ({ value, label: t(`other.${value}`) }))} onChange={onOther} />
      <Asked line asking={asking} what={t('signal.other.what')}>{() => null}</Asked>
    </>
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
