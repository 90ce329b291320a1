import type { ReactNode } from 'react';
import { CONDITIONS, type Condition } from '../../../evaluation/conditions.ts';
import type { Figures } from '../../../evaluation/evaluate.ts';
import { suiteOf } from '../../../lab/suites.ts';
import { useShipped } from '../../stores/evaluations.ts';
import { format, t } from '../../text/text.ts';
import { Badge, BadgeKey } from './Badge.tsx';
import { Bars } from './Bars.tsx';
import { Changes } from './Changes.tsx';
import { byTier } from './figures.ts';
import { Legend, LOOKS } from './Look.tsx';
import { BENCHMARKS, CALLS, REWARDS, TABLE_1, WORKFLOWS, type Method } from './paper.ts';
import { OurSteps } from './Steps.tsx';
import styles from './Paper.module.css';

const KINDS = ['plain', 'prompted', 'artist'] as const;

function methodName({ kind, name }: Method): string {
  return kind === 'other' ? name : t(`paper.method.${kind}`, { size: name });
}

/** The paper's own numbers, what they say, and this lab's beside them on an axis of their own. */
export function Paper(): ReactNode {
  const of = (kind: Method['kind']): Method | undefined => TABLE_1.find((method) => method.kind === kind && method.name === '7B');
  const shown = KINDS.map((kind, i) => ({ key: kind, look: LOOKS[i] ?? 'solid', label: t(`paper.method.${kind}`, { size: '7B' }), method: of(kind) }));
  const heads = { from: t('paper.from'), to: t('paper.to') };
  return (
    <div className={styles.part}>
      <section className={styles.block} aria-label={t('paper.math')}>
        <h2>{t('paper.math')}</h2>
        <p className={styles.source}><Badge source="paper" /> {t('paper.math.what')}</p>
        <div className={styles.pair}>
          <div className={styles.block}>
            <Legend items={shown} />
            <Bars
              title={t('paper.accuracy')} unit={t('paper.accuracy.unit')} groups={BENCHMARKS} domain={[0, 1]} digits={2} height={200}
              series={shown.map(({ key, look, label, method }) => ({ key, look, label, values: BENCHMARKS.map((_, i) => ({ value: method?.values[i] ?? NaN })) }))}
              sentence={t('paper.accuracy.said')}
            />
          </div>
          <Ours />
        </div>
        <p className={styles.note}>{t('paper.axes')}</p>
        <div className={styles.reading}>
          <p>{t('paper.read.leaders')}</p>
          <p>{t('paper.read.gains')}</p>
        </div>
        <Table />
      </section>
      <section className={styles.block} aria-label={t('paper.behaviour')}>
        <h2>{t('paper.behaviour')}</h2>
        <p className={styles.reading}>{t('paper.behaviour.what')}</p>
        <div className={styles.tables}>
          <Changes {...heads} title={t('paper.calls')} rows={CALLS.map((row) => ({ ...row, label: row.name, digits: 1 }))} />
          <Changes {...heads} title={t('paper.rewards')} rows={REWARDS.map((row) => ({ ...row, label: row.name, digits: 1 }))} />
        </div>
      </section>
      <section className={styles.block} aria-label={t('paper.workflows')}>
        <h2>{t('paper.workflows')}</h2>
        <p className={styles.reading}>{t('paper.workflows.what')}</p>
        <div className={styles.tables}>
          <Changes {...heads} title={t('paper.workflows.table')} rows={WORKFLOWS.map((row) => ({ ...row, label: t(`paper.workflow.${row.figure}`) }))} />
          <RecordedSteps />
        </div>
        <p className={styles.note}>{t('steps.axes')}</p>
      </section>
      <section className={styles.block} aria-label={t('paper.sources')}>
        <h2>{t('paper.sources')}</h2>
        <BadgeKey sources={['paper', 'chart', 'article', 'recorded', 'here']} />
      </section>
    </div>
  );
}

/** The lab's three conditions, recorded; an axis of its own. */
function Ours(): ReactNode {
  const file = useShipped('evaluation');
  const tiers = suiteOf('arithmetic').tiers;
  const shown = CONDITIONS.map((name, i) => ({
    key: name, look: LOOKS[i] ?? 'solid', label: t(`condition.${name}`),
    result: file.state === 'ready' ? file.it.evaluations.find((each) => each.suite === 'arithmetic' && each.condition === name) : undefined,
  }));
  return (
    <div className={styles.block}>
      <Legend items={shown} />
      <Bars
        title={t('paper.ours')} unit={t('paper.ours.unit')} groups={[...tiers.map((tier) => t('series.tier', { tier })), t('evaluate.all')]} domain={[0, 1]} digits={2} height={200}
        series={shown.map(({ key, look, label, result }) => ({ key, look, label, values: byTier(result, tiers, (f) => ({ value: f.accuracy, interval: f.accuracyInterval })) }))}
        sentence={t('evaluate.accuracy.said', { said: format.clauses(shown.map(({ label, result }) => format.named(label, format.fixed(result?.accuracy ?? NaN, 2)))) })}
      />
      <p className={styles.source}><Badge source="recorded" /> {t(file.state === 'missing' ? 'paper.ours.missing' : 'paper.ours.what')}</p>
    </div>
  );
}

/** What the paper counts on τ-bench, of this lab's workflows, recorded. */
function RecordedSteps(): ReactNode {
  const file = useShipped('evaluation');
  const of = (condition: Condition): Figures | undefined =>
    (file.state === 'ready' ? file.it.evaluations.find((each) => each.suite === 'workflow' && each.condition === condition) : undefined);
  return <OurSteps before={{ label: t('condition.prompted'), figures: of('prompted') }} after={{ label: t('condition.trained'), figures: of('trained') }} source="recorded" />;
}

function Table(): ReactNode {
  const best = BENCHMARKS.map((_, i) => TABLE_1.reduce((most, { values }) => Math.max(most, values[i] ?? 0), 0));
  return (
    // A region that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.scroll} role="region" aria-label={t('paper.table')} tabIndex={0}>
      <table>
        <caption>{t('paper.table')} <Badge source="paper" /></caption>
        <thead>
          <tr>
            <th scope="col">{t('paper.method')}</th>
            {BENCHMARKS.map((name) => <th key={name} scope="col" className="figure">{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {TABLE_1.map((method) => (
            <tr key={`${method.kind} ${method.name}`} data-ours={method.kind === 'artist' || undefined} className={styles.method}>
              <th scope="row">{methodName(method)}</th>
              {method.values.map((value, i) => (
                <td key={BENCHMARKS[i]} className="figure">{value === best[i] && <span className={styles.best}>{t('paper.best')}</span>}{format.fixed(value, 3)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
