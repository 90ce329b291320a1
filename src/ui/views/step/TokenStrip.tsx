import { memo, type CSSProperties, type ReactNode } from 'react';
import { Tokenizer } from '../../../policy/tokenizer.ts';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import type { Span } from '../../../rollout/trajectory.ts';
import type { Signal } from '../../routes.ts';
import { diverging, sequential, type Ground, type ThemeName } from '../../theme/palette.ts';
import { t } from '../../text/text.ts';
import { clipState, GLYPHS, inLoss, position, signalValue, tokenText, type Deltas, type SignalScale } from './tokens.ts';
import styles from './TokenStrip.module.css';

export const tokenizer = new Tokenizer();

/** Colours of one signal for all tokens of a group. */
export interface SignalPaint {
  readonly signal: Signal;
  readonly scale: SignalScale;
  readonly theme: ThemeName;
  readonly grpo: GrpoSettings;
  /** For the signal `delta`. */
  readonly delta?: Deltas | undefined;
}

interface TokenStripProps {
  readonly rollout: TrainedTrajectory;
  readonly paint?: SignalPaint | undefined;
  readonly selected?: number | undefined;
  /** For a strip inside a grid: cells, with ids that begin with this. */
  readonly cells?: string;
}

export function ground(paint: SignalPaint, value: number): Ground {
  const at = position(value, paint.scale);
  return paint.scale.kind === 'diverging' || paint.scale.kind === 'ratio' ? diverging(paint.theme, at) : sequential(paint.theme, at);
}

/**
 * The tokens of a rollout. Four channels that never mix: the edge and glyph of a span say who wrote it; hatched and
 * muted ink says "context only"; the background is the one signal; a ring is the selection.
 */
export const TokenStrip = memo(function TokenStrip({ rollout, paint, selected, cells }: TokenStripProps): ReactNode {
  return (
    <span className={styles.strip} dir="ltr">
      {rollout.spans.map((span) => (
        <SpanOfTokens key={span.start} rollout={rollout} span={span} paint={paint} cells={cells}
          selected={selected !== undefined && selected >= span.start && selected < span.end ? selected : undefined} />
      ))}
    </span>
  );
});

interface SpanProps {
  readonly rollout: TrainedTrajectory;
  readonly span: Span;
  readonly paint: SignalPaint | undefined;
  readonly selected: number | undefined;
  readonly cells: string | undefined;
}

const SpanOfTokens = memo(function SpanOfTokens({ rollout, span, paint, selected, cells }: SpanProps): ReactNode {
  const tokens: ReactNode[] = [];
  for (let i = span.start; i < span.end; i++) {
    const value = paint && signalValue(rollout, i, paint.signal, paint.grpo, paint.delta);
    const trained = inLoss(rollout, i);
    let style: CSSProperties | undefined;
    if (paint !== undefined && value !== undefined && (trained || value !== 0)) {
      const { background, ink } = ground(paint, value);
      style = { background, color: ink };
    }
    const text = tokenText(tokenizer, rollout, i);
    tokens.push(
      <span
        key={i}
        data-token={i}
        className={styles.token}
        data-context={!trained || undefined}
        data-tag={text.length > 1 || undefined}
        data-clip={paint?.signal === 'clip' ? clipState(rollout, i, paint.grpo) : undefined}
        style={style}
        {...(cells === undefined ? {} : { id: `${cells}-${i}`, role: 'gridcell', 'aria-selected': selected === i })}
      >
        {text}
      </span>,
    );
  }
  return (
    <span className={styles.span} data-kind={span.kind} data-forged={span.forged || undefined}>
      <span className={styles.start}>
        <span className={styles.glyph} aria-hidden="true">{GLYPHS[span.kind]}</span>
        {tokens[0]}
      </span>
      {tokens.slice(1)}
      {span.forged && <span className={styles.flag}>{t('span.forged')}</span>}
      {!span.closed && <span className={styles.flag}>{t('span.unclosed')}</span>}
    </span>
  );
});
