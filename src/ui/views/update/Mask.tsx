import { useMemo, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { Segments } from '../../components/Segments.tsx';
import type { GroupRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import type { UpdateView } from '../../../lab/inspection.ts';
import { ENVIRONMENT } from '../../../rollout/trajectory.ts';
import { Hideable } from '../../hiding/Hideable.tsx';
import { format, t } from '../../text/text.ts';
import { maskCounts } from '../step/tokens.ts';
import { signedGradient } from './arrays.ts';
import { short } from './numbers.ts';
import { Shown } from './Shown.tsx';
import { TokenTable } from './TokenTable.tsx';
import { Tokens, type Bars } from './Tokens.tsx';
import styles from './Mask.module.css';

interface MaskProps {
  readonly grpo: GrpoSettings;
  readonly group: GroupRecord;
  readonly rollout: TrainedTrajectory;
  readonly number: number;
  readonly token: number;
  readonly on: UpdateView;
  readonly off: UpdateView;
  /** Whether the run trains with the mask. */
  readonly own: boolean;
  readonly difference: UpdateView['difference'];
  readonly masked: boolean;
  readonly onMasked: (masked: boolean) => void;
  readonly onPick: (token: number) => void;
  readonly onRollout: (rollout: number) => void;
}

/** The same batch with and without the mask: both gradients and their difference, token by token. */
export function Mask({ grpo, group, rollout, number, token, on, off, own, difference, masked, onMasked, onPick, onRollout }: MaskProps): ReactNode {
  const [preview, setPreview] = useState<number>();
  const members = useMemo(() => {
    const [a, b] = [on.members[number - 1], off.members[number - 1]];
    return a && b && { on: a, off: b };
  }, [on, off, number]);
  const bars = useMemo((): readonly Bars[] => {
    if (members === undefined) return [];
    const of = (value: (i: number) => number): Float64Array => Float64Array.from(rollout.tokens, (_, i) => value(i));
    const [with_, without] = [of((i) => signedGradient(members.on, i)), of((i) => signedGradient(members.off, i))];
    // One scale for the three of this rollout: what a switch changes is compared, not one rollout with another.
    const most = [...with_, ...without].reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const scale = { kind: 'diverging', most: most || 1 } as const;
    return [
      { label: t('update.mask.bars.on'), values: with_, scale },
      { label: t('update.mask.bars.off'), values: without, scale },
      { label: t('update.mask.bars.difference'), values: without.map((x, i) => x - (with_[i] ?? 0)), scale },
    ];
  }, [members, rollout]);
  if (members === undefined) return null;
  const shown = masked ? members.on : members.off;
  const observed = maskCounts(rollout).observed;
  const elsewhere = observed > 0 ? -1 : group.members.findIndex((member) => member.owner.includes(ENVIRONMENT) && member.advantage !== 0);
  return (
    <section className={styles.mask} aria-label={t('update.tab.mask')}>
      <div className={styles.line}>
        <Hideable name="mask"><Segments
          label={t('update.mask.switch')}
          value={masked ? 'on' : 'off'}
          items={[{ value: 'on', label: t('update.mask.on') }, { value: 'off', label: t('update.mask.off') }]}
          onChange={(value) => {
            onMasked(value === 'on');
          }}
        /></Hideable>
        <p className={styles.words}>
          {observed === 0 ? t('update.mask.none') : shown.advantage === 0 ? t('update.mask.equal') : t(masked ? 'update.mask.onWords' : 'update.mask.offWords', { observed })}
        </p>
        {elsewhere >= 0 && <Button onClick={() => {
          onRollout(elsewhere + 1);
        }}>{t('update.mask.elsewhere', { rollout: elsewhere + 1 })}</Button>}
      </div>
      <Tokens rollout={rollout} weights={shown.weights} paint={undefined} values={undefined} bars={bars} selected={token} onPick={onPick} onPreview={setPreview} />
      <p className={styles.scale}>{t('update.mask.scale', { most: short(bars[0]?.scale.kind === 'diverging' ? bars[0].scale.most : NaN) })}</p>
      <Shown rollout={rollout} number={number} member={shown} token={preview ?? token} grpo={{ ...grpo, ...(masked ? on : off).settings }} preview={preview !== undefined}
        extra={[
          [t('update.mask.gradientOn'), short(bars[0]?.values[preview ?? token] ?? NaN)],
          [t('update.mask.gradientOff'), short(bars[1]?.values[preview ?? token] ?? NaN)],
          [t('update.mask.gradientDifference'), short(bars[2]?.values[preview ?? token] ?? NaN)],
        ]} />
      <div className={styles.tables}>
        <Counts rollout={rollout} on={members.on.weights} off={members.off.weights} masked={masked} />
        <Norms on={on} off={off} own={own} difference={difference} masked={masked} />
      </div>
      <TokenTable
        label={t('update.mask.table')}
        rollout={rollout}
        columns={[
          { name: t('update.mask.column.weightOn'), value: (i) => members.on.weights[i] ?? 0 },
          { name: t('update.mask.column.weightOff'), value: (i) => members.off.weights[i] ?? 0 },
          { name: t('update.mask.column.on'), value: (i) => bars[0]?.values[i] ?? NaN },
          { name: t('update.mask.column.off'), value: (i) => bars[1]?.values[i] ?? NaN },
          { name: t('update.mask.column.difference'), value: (i) => bars[2]?.values[i] ?? NaN },
          { name: t('update.mask.column.pushOn'), value: (i) => members.on.tokens?.dLogProb[i] ?? NaN },
          { name: t('update.mask.column.pushOff'), value: (i) => members.off.tokens?.dLogProb[i] ?? NaN },
        ]}
      />
    </section>
  );
}

interface CountsProps {
  readonly rollout: TrainedTrajectory;
  readonly on: Float32Array;
  readonly off: Float32Array;
  readonly masked: boolean;
}

/** `think 41/41 · output 0/9`, with and without the mask. */
function Counts({ rollout, on, off, masked }: CountsProps): ReactNode {
  const [with_, without] = [maskCounts({ ...rollout, weights: on }), maskCounts({ ...rollout, weights: off })];
  return (
    <table className={styles.table}>
      <caption>{t('update.mask.counts')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('column.kind')}</th>
          <th scope="col" className="figure" data-now={masked || undefined}>{t('update.mask.on')}</th>
          <th scope="col" className="figure" data-now={!masked || undefined}>{t('update.mask.off')}</th>
        </tr>
      </thead>
      <tbody>
        {with_.kinds.map(({ kind, trained, all }) => (
          <tr key={kind}>
            <th scope="row">{t(`kind.${kind}`)}</th>
            <td className="figure">{t('update.mask.of', { trained, all })}</td>
            <td className="figure">{t('update.mask.of', { trained: without.kinds.find((k) => k.kind === kind)?.trained ?? 0, all })}</td>
          </tr>
        ))}
        <tr>
          <th scope="row"><b>{t('column.inLoss')}</b></th>
          <td className="figure"><b>{t('update.mask.of', { trained: with_.trained, all: with_.all })}</b></td>
          <td className="figure"><b>{t('update.mask.of', { trained: without.trained, all: without.all })}</b></td>
        </tr>
      </tbody>
    </table>
  );
}

interface NormsProps {
  readonly on: UpdateView;
  readonly off: UpdateView;
  readonly own: boolean;
  readonly difference: UpdateView['difference'];
  readonly masked: boolean;
}

/** What the whole batch's gradient is, either way. */
function Norms({ on, off, own, difference, masked }: NormsProps): ReactNode {
  return (
    <div className={styles.norms}>
      <table className={styles.table}>
        <caption>{t('update.mask.norms', { rollouts: on.rollouts })}</caption>
        <thead>
          <tr>
            <th scope="col" />
            <th scope="col" className="figure" data-now={masked || undefined}>{t('update.mask.on')}</th>
            <th scope="col" className="figure" data-now={!masked || undefined}>{t('update.mask.off')}</th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">{t('update.norm')}</th>
            <td className="figure">{short(on.gradNorm)}</td>
            <td className="figure">{short(off.gradNorm)}</td>
          </tr>
          <tr>
            <th scope="row">{t('update.tokensInLoss')}</th>
            <td className="figure">{format.integer(on.tokensInLoss)}</td>
            <td className="figure">{format.integer(off.tokensInLoss)}</td>
          </tr>
          <tr>
            <th scope="row">{t('update.observed')}</th>
            <td className="figure">{format.integer(on.observationTokensInLoss)}</td>
            <td className="figure">{format.integer(off.observationTokensInLoss)}</td>
          </tr>
        </tbody>
      </table>
      <p className={styles.words}>{t('update.mask.difference', { norm: short(difference.norm), cosine: format.fixed(difference.cosine, 3), own })}</p>
    </div>
  );
}
