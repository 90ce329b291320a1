import { useEffect, useMemo, type ReactNode } from 'react';
import { directions } from '../../../../lesson/findings.ts';
import { CONDITIONS, modelOf, type Condition } from '../../../../evaluation/conditions.ts';
import type { Figures } from '../../../../evaluation/evaluate.ts';
import { suiteOf } from '../../../../lab/suites.ts';
import { Button } from '../../../components/Button.tsx';
import { evaluationKey, evaluations, useEvaluations, useShipped, type EvaluationSpec } from '../../../stores/evaluations.ts';
import { useLab } from '../../../stores/lab.ts';
import { shownChange } from '../../../text/format.ts';
import { format, t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { Bars } from '../../compare/Bars.tsx';
import { Legend, LOOKS } from '../../compare/Look.tsx';
import { BENCHMARKS, CALLS, TABLE_1, type MethodKind } from '../../compare/paper.ts';
import type { FigureProps } from '../figure-props.ts';
import styles from './Figures.module.css';

const SUITE = 'arithmetic';
const QUESTIONS = 8;
const SIZE = '7B';
const METHODS = ['plain', 'prompted', 'artist'] as const satisfies readonly MethodKind[];

const spec = (condition: Condition): EvaluationSpec => ({
  policy: { model: modelOf(SUITE, condition) }, suite: SUITE, access: condition === 'base' ? 'none' : 'tools', tool: 'plain', probe: false,
  questionsPerTier: QUESTIONS, samples: 1, temperature: 1, seed: 1,
});
const SPECS = CONDITIONS.map(spec);

type Tiered = { readonly tiers: readonly (Figures & { readonly tier: number })[] };

/** The paper's three conditions on four benchmarks, beside the lab's on its tiers. */
export function Strategy({ onFound }: FigureProps<'strategy'>): ReactNode {
  const file = useShipped('evaluation');
  const recorded = useMemo(() => {
    if (file.state !== 'ready') return undefined;
    const of = CONDITIONS.map((name) => file.it.evaluations.find(({ suite, condition, probe }) => suite === SUITE && condition === name && !probe));
    return of.every((each) => each !== undefined) ? of : undefined;
  }, [file]);
  const finished = useEvaluations((s) => s.finished);
  const measured = useMemo(() => {
    const of = SPECS.map((each) => finished.get(evaluationKey(each))?.result);
    return of.every((each) => each !== undefined) ? of : undefined;
  }, [finished]);
  const shown: readonly Tiered[] | undefined = measured ?? recorded;
  useEffect(() => {
    const [, prompted, trained] = (recorded ?? measured ?? []) as readonly Tiered[];
    if (prompted === undefined || trained === undefined) return;
    onFound({
      paper: directions(CALLS.map(({ from, to }) => [from, to] as const)),
      lab: directions(prompted.tiers.map(({ tier, calls }) => [calls, trained.tiers.find((each) => each.tier === tier)?.calls ?? NaN] as const)),
    });
  }, [recorded, measured, onFound]);
  const { tiers } = suiteOf(SUITE);
  return (
    <div className={styles.stack}>
      <div className={styles.pair}>
        <Side
          title={t('lesson.strategy.paper')} groups={BENCHMARKS} names={[t('lesson.strategy.plain'), t('lesson.strategy.prompted'), t('lesson.strategy.artist')]}
          accuracy={METHODS.map((kind) => (TABLE_1.find((method) => method.kind === kind && method.name === SIZE)?.values ?? []).map((value) => ({ value })))}
          calls={[[], CALLS.map(({ from }) => ({ value: from })), CALLS.map(({ to, over }) => ({ value: to, over: over === true }))]} digits={1} accuracyDigits={3}
          source={<><Badge source="paper" /><Badge source="chart" /><Badge source="article" /><span>{t('lesson.strategy.paperSource')}</span></>}
        />
        <Side
          title={t('lesson.strategy.lab')} groups={tiers.map((tier) => t('lesson.strategy.tier', { tier }))} names={[t('lesson.strategy.plain'), t('lesson.strategy.prompted'), t('lesson.strategy.trained')]}
          accuracy={CONDITIONS.map((_, i) => tiers.map((tier) => figureOf(shown?.[i], tier, (f) => ({ value: f.accuracy, interval: f.accuracyInterval }))))}
          calls={CONDITIONS.map((_, i) => (i === 0 ? [] : tiers.map((tier) => figureOf(shown?.[i], tier, (f) => ({ value: f.calls })))))} digits={2} accuracyDigits={3}
          source={measured !== undefined
            ? <><Badge source="here" /><span>{t('lesson.strategy.measured', { questions: QUESTIONS })}</span></>
            : <><Badge source="recorded" /><span>{recorded === undefined
                ? t('lesson.strategy.labMissing')
                : t('lesson.strategy.labSource', { questions: recorded[0]?.questionsPerTier ?? 0, engine: file.state === 'ready' ? file.it.engine : 'cpu' })}</span></>}
        />
      </div>
      <div className={styles.bar}>
        <Measure done={measured !== undefined} />
        <p className={styles.note}>{t('lesson.strategy.axes')}</p>
      </div>
    </div>
  );
}

interface Value {
  readonly value: number;
  readonly interval?: readonly [number, number];
  /** The source says only that it is more. */
  readonly over?: boolean;
}

const figureOf = (of: Tiered | undefined, tier: number, value: (f: Figures) => Value): Value => {
  const figures = of?.tiers.find((each) => each.tier === tier);
  return figures === undefined ? { value: NaN } : value(figures);
};

interface SideProps {
  readonly title: string;
  readonly groups: readonly string[];
  /** Of the three conditions. */
  readonly names: readonly string[];
  readonly accuracy: readonly (readonly Value[])[];
  readonly calls: readonly (readonly Value[])[];
  readonly digits: number;
  readonly accuracyDigits: number;
  readonly source: ReactNode;
}

/** One source on axes of its own: bars, and every number in a table. */
function Side({ title, groups, names, accuracy, calls, digits, accuracyDigits, source }: SideProps): ReactNode {
  const series = names.map((label, i) => ({ key: String(i), label, look: LOOKS[i] ?? 'solid', values: accuracy[i] ?? [] }));
  const cell = (value: number): string => format.fixed(value, accuracyDigits);
  const [base = [], , trained = []] = accuracy;
  return (
    <section className={styles.block}>
      <h3>{title}</h3>
      <Legend items={series} />
      <Bars title={t('lesson.strategy.accuracy')} unit="" groups={groups} series={series} domain={[0, 1]} digits={2} height={150}
        sentence={format.clauses(series.map(({ label, values }) => format.named(label, format.list(values.map(({ value }) => cell(value))))))} />
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={title} tabIndex={0}>
        <table>
          <thead>
            <tr><th scope="col">{t('lesson.strategy.condition')}</th>{groups.map((group) => <th key={group} scope="col" className="figure">{group}</th>)}</tr>
          </thead>
          <tbody>
            {names.map((name, i) => (
              <tr key={name}><th scope="row">{name}</th>{groups.map((group, g) => <td key={group} className="figure">{cell(accuracy[i]?.[g]?.value ?? NaN)}</td>)}</tr>
            ))}
            <tr>
              <th scope="row">{t('lesson.strategy.gain')}</th>
              {groups.map((group, g) => <td key={group} className="figure"><b>{format.signed(shownChange(base[g]?.value ?? NaN, trained[g]?.value ?? NaN, accuracyDigits), accuracyDigits)}</b></td>)}
            </tr>
            {names.map((name, i) => i > 0 && (
              <tr key={`${name} calls`}>
                <th scope="row">{format.list([t('lesson.strategy.calls'), name])}</th>
                {groups.map((group, g) => {
                  const { value = NaN, over = false } = calls[i]?.[g] ?? {};
                  return <td key={group} className="figure">{over ? t('lesson.strategy.over', { value }) : format.fixed(value, digits)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className={styles.line}>{source}</p>
    </section>
  );
}

/** The lab's three conditions anew, on a few questions. */
function Measure({ done }: { readonly done: boolean }): ReactNode {
  const series = useEvaluations((s) => s.series);
  const ready = useLab((s) => s.connection === 'open' && s.python.state === 'ready');
  const mine = series?.keys[0] === evaluationKey(SPECS[0] ?? spec('base')) ? series : undefined;
  if (mine?.state === 'going') {
    return <p className={styles.line} role="status">{t('lesson.strategy.measuring', { done: mine.done, of: mine.of })}<Button onClick={evaluations.stop}>{t('lesson.strategy.stop')}</Button></p>;
  }
  return (
    <>
      <Button disabled={!ready || done} onClick={() => {
        void evaluations.make(SPECS);
      }}>{t('lesson.strategy.measure', { questions: QUESTIONS })}</Button>
      {mine?.state === 'failed' && <p className={styles.line} role="alert"><code>{mine.message}</code></p>}
    </>
  );
}
