import type { ReactNode } from 'react';
import { format, t } from '../../text/text.ts';
import { RATIO_ROUNDING } from '../../../grpo/explain.ts';
import { usePlaying } from '../../transport/store.ts';
import { ratioReach } from './arrays.ts';
import { sayTerm, type Subject } from './numbers.ts';
import { clips, FLOW, OPERATIONS, type Operation, type Term } from './operations.ts';
import { ClipCurve, RatioAxis } from './plots.tsx';
import styles from './Card.module.css';

export interface CardFacts {
  readonly subject: Subject;
  readonly example: boolean;
  readonly operation: Operation;
  /** Ratios of the whole rollout, for the axis. */
  readonly ratios: Float64Array;
  readonly token: number;
  /** All rewards of the group are equal. */
  readonly equal: boolean;
  /** Passes and minibatches make several updates: the first alone has ratios of 1. */
  readonly first: boolean;
  readonly gradNorm: number;
  readonly reward: { readonly own: number; readonly mean: number; readonly std: number } | undefined;
}

interface CardProps extends CardFacts {
  /** What the last operation shows in the place of a plot. */
  readonly children?: ReactNode;
}

/** One operation: what it is in one sentence, what goes in, what comes out, and a picture where one helps. */
export function Card(facts: CardProps): ReactNode {
  const { subject, operation, ratios, token, children } = facts;
  const { into, out } = FLOW[operation];
  const noted = note(facts);
  const playing = usePlaying();
  return (
    <section className={styles.card} aria-label={t('update.card')}>
      <h2>{t(`update.op.${operation}`)} <span className={styles.of}>{t('update.place', { place: OPERATIONS.indexOf(operation) + 1, of: OPERATIONS.length })}</span></h2>
      <p className="hidden" aria-live={playing ? 'off' : 'polite'}>
        {t('update.now', { operation: t(`update.op.${operation}`), out: format.clauses(out.filter(isShown).map((term) => t('update.termIs', { symbol: '', term: t(`update.term.${term}`), value: sayTerm(subject, term) }))) })}
      </p>
      <p className={styles.what}>{t(`update.what.${operation}`)}</p>
      <p className={styles.note} role="note">{noted}</p>
      <dl className={styles.flow}>
        <Flow title={t('update.into')} terms={into} subject={subject} />
        <Flow title={t('update.out')} terms={out} subject={subject} />
      </dl>
      {operation === 'ratio' && <RatioAxis ratios={ratios} of={token} rule={subject.rule} reach={ratioReach([ratios], subject.rule)} />}
      {(operation === 'clip' || operation === 'advantage') && clips(subject.rule) && (
        <ClipCurve ratio={subject.numbers.weight === 0 ? NaN : subject.walk.ratio} advantage={subject.numbers.advantage} rule={subject.rule} />
      )}
      {children}
    </section>
  );
}

/** The numbers of a weight stand beside it, with the step that made them. */
const isShown = (term: Term): boolean => !['g', 'm', 'v', 'theta'].includes(term);

function Flow({ title, terms, subject }: { readonly title: string; readonly terms: readonly Term[]; readonly subject: Subject }): ReactNode {
  const shown = terms.filter(isShown);
  if (shown.length === 0) return null;
  return (
    <>
      <dt className={styles.side}>{title}</dt>
      {shown.map((term) => (
        <dd key={term} className={styles.fact}>
          <span>{t(`update.term.${term}`)}</span>
          <b>{sayTerm(subject, term)}</b>
        </dd>
      ))}
    </>
  );
}

/** What is surprising here, in one plain sentence; else how to read what is seen. */
function note({ subject, example, operation, equal, first, gradNorm, reward }: CardFacts): string {
  const { numbers, walk, rule, total } = subject;
  const masked = numbers.weight === 0;
  const one = Math.abs(walk.ratio - 1) < RATIO_ROUNDING;
  const outside = walk.ratio > 1 + rule.epsilonHigh || walk.ratio < 1 - rule.epsilonLow;
  if (masked && operation !== 'sum' && operation !== 'adam') return t('update.note.masked');
  switch (operation) {
    case 'old':
      return t('update.note.old', { probability: format.significant(Math.exp(numbers.oldLogProb), 3) });
    case 'new':
      return t('update.note.new', { probability: format.significant(Math.exp(numbers.logProb), 3) });
    case 'ratio':
      return t(one ? (first || example ? 'update.note.one' : 'update.note.oneLater') : walk.ratio > 1 ? 'update.note.above' : 'update.note.below');
    case 'clip':
      return t(!clips(rule) ? 'update.note.noClip' : outside ? 'update.note.beyond' : 'update.note.within');
    case 'advantage':
      if (equal || numbers.advantage === 0) return t('update.note.equal');
      if (walk.clipped) return t('update.note.clipped', { up: numbers.advantage > 0 });
      if (outside) return t('update.note.free', { up: numbers.advantage > 0 });
      return reward === undefined ? t('update.note.inside') : t('update.note.reward', {
        own: format.fixed(reward.own, 2), mean: format.fixed(reward.mean, 2), std: rule.advantage === 'mean' ? undefined : format.fixed(reward.std, 2),
        advantage: format.signed(numbers.advantage, 2),
      });
    case 'kl':
      return t(rule.beta === 0 ? 'update.note.noKl' : 'update.note.kl');
    case 'weight':
      return t(`update.note.${rule.aggregation}`);
    case 'sum':
      return t(example ? 'update.note.sumExample' : Math.abs(total) < 1e-3 && gradNorm > 0.01 ? 'update.note.zeroLoss' : 'update.note.sum', { norm: format.significant(gradNorm, 3) });
    case 'gradient':
      if (walk.clipped) return rule.beta === 0 ? t('update.note.clipped', { up: numbers.advantage > 0 }) : t('update.note.pulled');
      if (walk.dLogProb === 0) return t('update.note.equal');
      return t('update.note.push', { up: walk.dLogProb < 0 });
    case 'adam':
      return t(example ? 'update.note.adamExample' : 'update.note.adam');
  }
}
