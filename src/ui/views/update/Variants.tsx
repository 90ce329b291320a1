import { useMemo, useState, type ReactNode } from 'react';
import { Choice } from '../../components/Choice.tsx';
import type { GroupRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import { VARIANTS, type GrpoSettings, type VariantName } from '../../../grpo/settings.ts';
import type { UpdateMember, UpdateView } from '../../../lab/inspection.ts';
import { format, t } from '../../text/text.ts';
import { push } from './arrays.ts';
import { short } from './numbers.ts';
import { differingTerms } from './operations.ts';
import { Written } from './Panes.tsx';
import { Shown } from './Shown.tsx';
import { TokenTable } from './TokenTable.tsx';
import { Tokens, type Bars } from './Tokens.tsx';
import styles from './Variants.module.css';

export const VARIANT_NAMES = Object.keys(VARIANTS) as readonly VariantName[];
export type Pair = readonly [VariantName, VariantName];

interface VariantsProps {
  readonly grpo: GrpoSettings;
  readonly group: GroupRecord;
  readonly rollout: TrainedTrajectory;
  readonly number: number;
  readonly token: number;
  /** One update of the same batch under each variant. */
  readonly views: Readonly<Record<VariantName, UpdateView>>;
  readonly pair: Pair;
  readonly onPair: (pair: Pair) => void;
  readonly onPick: (token: number) => void;
}

/** The same batch under two algorithms: where the formulas differ, and what that makes of each token. */
export function Variants({ grpo, group, rollout, number, token, views, pair, onPair, onPick }: VariantsProps): ReactNode {
  const [preview, setPreview] = useState<number>();
  const bars = useMemo((): readonly Bars[] => [...new Set(pair)].flatMap((name): Bars[] => {
    const { members } = views[name];
    const member = members[number - 1];
    if (member === undefined) return [];
    // The variants' units differ: each has a scale of its own, one for the whole group.
    const most = Math.max(0, ...members.flatMap((m) => Array.from(m.weights, (_, i) => Math.abs(push(m, i)))));
    return [{ label: t(`variant.${name}`), values: Float64Array.from(member.weights, (_, i) => push(member, i)), scale: { kind: 'diverging', most: most || 1 } }];
  }), [views, pair, number]);
  const [first, second] = pair;
  const members = pair.map((name) => views[name].members[number - 1]);
  const [a, b] = members;
  if (a === undefined || b === undefined) return null;
  const at = preview ?? token;
  return (
    <section className={styles.variants} aria-label={t('update.tab.variants')}>
      <div className={styles.formulas}>
        {([0, 1] as const).map((side) => (
          <Formula key={side} name={pair[side]} than={pair[1 - side] ?? first} view={views[pair[side]]} onName={(name) => {
            onPair(side === 0 ? [name, second] : [first, name]);
          }} label={t(side === 0 ? 'update.variants.first' : 'update.variants.second')} />
        ))}
      </div>
      <p className={styles.words}>{lengthWords(pair, views)}</p>
      <Tokens rollout={rollout} weights={a.weights} paint={undefined} values={undefined} bars={bars} selected={token} onPick={onPick} onPreview={setPreview} />
      <Shown rollout={rollout} number={number} member={a} token={at} grpo={{ ...grpo, ...views[first].settings }} preview={preview !== undefined}
        extra={bars.flatMap(({ label, values }, i) => [
          [t('update.variants.column.weight', { variant: label }), short(members[i]?.weights[at] ?? NaN)] as const,
          [t('update.variants.push', { variant: label }), short(values[at] ?? NaN)] as const,
        ])} />
      <ByRollout group={group} pair={pair} views={views} chosen={number} />
      <p className={styles.words}>{t('update.variants.rest')}</p>
      <TokenTable
        label={t('update.variants.table')}
        rollout={rollout}
        columns={[a, b].flatMap((member, side) => {
          const variant = t(`variant.${side === 0 ? first : second}`);
          return [
            { name: t('update.variants.column.weight', { variant }), value: (i: number) => member.weights[i] ?? 0 },
            { name: t('update.variants.column.push', { variant }), value: (i: number) => member.tokens?.dLogProb[i] ?? NaN },
          ];
        })}
      />
    </section>
  );
}

interface FormulaProps {
  readonly name: VariantName;
  readonly than: VariantName;
  readonly view: UpdateView;
  readonly label: string;
  readonly onName: (name: VariantName) => void;
}

function Formula({ name, than, view, label, onName }: FormulaProps): ReactNode {
  const other = new Map(differingTerms({ ...VARIANTS[than].settings, beta: 0 }));
  return (
    <div className={styles.formula}>
      <div className={styles.choice}>
        <Choice label={label} value={name} items={VARIANT_NAMES.map((value) => ({ value, label: t(`variant.${value}`) }))} onChange={onName} />
        <span className={styles.norm}>{t('update.norm')} <b>{short(view.gradNorm)}</b></span>
      </div>
      <ul className={styles.terms}>
        {differingTerms({ ...VARIANTS[name].settings, beta: 0 }).map(([symbol, term]) => (
          <li key={symbol}>
            <i>{symbol}</i> = {other.get(symbol) === term ? <span><Written text={term} /></span> : <mark><Written text={term} /></mark>}
          </li>
        ))}
      </ul>
      <p className={styles.source}>{t(`variant.${name}.what`)}</p>
    </div>
  );
}

const tokensOf = (member: UpdateMember): number => member.weights.reduce((n, w) => n + (w === 0 ? 0 : 1), 0);
const weightOf = (member: UpdateMember): number => member.weights.reduce((a, w) => Math.max(a, w), 0);
const pushOf = (member: UpdateMember): number => member.tokens?.dLogProb.reduce((sum, d) => sum + Math.abs(d), 0) ?? 0;

/** What length makes of a token's weight, on the shortest and the longest rollout of the group. */
function lengthWords(pair: Pair, views: VariantsProps['views']): string {
  const ratioUnder = (name: VariantName): { readonly short: number; readonly long: number; readonly ratio: number } | undefined => {
    const trained = views[name].members.filter((m) => tokensOf(m) > 0).sort((a, b) => tokensOf(a) - tokensOf(b));
    const [least, most] = [trained[0], trained.at(-1)];
    return least && most && tokensOf(least) < tokensOf(most)
      ? { short: tokensOf(least), long: tokensOf(most), ratio: weightOf(least) / weightOf(most) }
      : undefined;
  };
  const [a, b] = pair.map(ratioUnder);
  if (a === undefined || b === undefined) return t('update.variants.sameLength');
  return t('update.variants.length', {
    short: a.short, long: a.long,
    first: t(`variant.${pair[0]}`), firstRatio: format.fixed(a.ratio, 1),
    second: t(`variant.${pair[1]}`), secondRatio: format.fixed(b.ratio, 1),
  });
}

interface ByRolloutProps {
  readonly group: GroupRecord;
  readonly pair: Pair;
  readonly views: VariantsProps['views'];
  readonly chosen: number;
}

/** The rollouts of the group under both: what a token weighs, and how much of the group's push the rollout has. */
function ByRollout({ group, pair, views, chosen }: ByRolloutProps): ReactNode {
  const sums = pair.map((name) => views[name].members.reduce((sum, member) => sum + pushOf(member), 0));
  return (
    // A region that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.scroll} role="region" aria-label={t('update.variants.byRollout')} tabIndex={0}>
      <table className={styles.table}>
        <caption>{t('update.variants.byRollout')}</caption>
        <thead>
          <tr>
            <th rowSpan={2} scope="col" className="figure">{t('column.rollout')}</th>
            <th rowSpan={2} scope="col" className="figure">{t('column.total')}</th>
            <th rowSpan={2} scope="col" className="figure">{t('update.variants.tokens')}</th>
            {pair.map((name, side) => <th key={side} colSpan={4} scope="colgroup">{t(`variant.${name}`)}</th>)}
          </tr>
          <tr>
            {pair.map((name, side) => (['advantage', 'weight', 'sum', 'share'] as const).map((column) => (
              <th key={`${side}${name}${column}`} scope="col" className={column === 'share' ? undefined : 'figure'}>{t(`update.variants.${column}`)}</th>
            )))}
          </tr>
        </thead>
        <tbody>
          {group.members.map(({ reward }, i) => (
            <tr key={i} data-chosen={i + 1 === chosen || undefined}>
              <th scope="row" className="figure">{format.integer(i + 1)}</th>
              <td className="figure">{format.fixed(reward.total, 2)}</td>
              <td className="figure">{format.integer(tokensOf(views[pair[0]].members[i] ?? EMPTY))}</td>
              {pair.map((name, side) => {
                const member = views[name].members[i] ?? EMPTY;
                const share = (sums[side] ?? 0) === 0 ? 0 : pushOf(member) / (sums[side] ?? 1);
                return [
                  <td key={`${side}a`} className="figure">{format.signed(member.advantage, 2)}</td>,
                  <td key={`${side}w`} className="figure">{short(weightOf(member))}</td>,
                  <td key={`${side}s`} className="figure">{short(pushOf(member))}</td>,
                  <td key={`${side}p`}>
                    <span className={styles.share}>
                      <span className={styles.bar} aria-hidden="true"><span data-sign={member.advantage < 0 ? 'down' : 'up'} style={{ width: `${100 * share}%` }} /></span>
                      {format.percent(share)}
                    </span>
                  </td>,
                ];
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const EMPTY: UpdateMember = { weights: new Float32Array(), advantage: NaN, oldLogProbs: new Float32Array(), referenceLogProbs: undefined, tokens: undefined };
