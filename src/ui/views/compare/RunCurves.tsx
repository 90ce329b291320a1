import { useMemo, useState, type ReactNode } from 'react';
import { ChoiceField } from '../../components/ChoiceField.tsx';
import { Chart, type Series } from '../../figures/Chart.tsx';
import { niceDomain, type Domain } from '../../figures/scale.ts';
import { mostReward } from '../../../lab/suite-settings.ts';
import { groupAddress, navigate } from '../../routes.ts';
import { useHistories, useRuns, type Known } from '../../stores/histories.ts';
import { format, t } from '../../text/text.ts';
import { runName } from '../train/run-name.ts';
import { tiersOf } from '../train/curves.ts';
import { METRICS, MOST_RUNS, type CompareAddress, type MetricName } from './address.ts';
import { Badge } from './Badge.tsx';
import { Part } from './Part.tsx';
import { SegmentField } from './SegmentField.tsx';
import { bySettings, lineOf, metricKey, stepsOf } from './series.ts';
import styles from './RunCurves.module.css';

interface ViewProps {
  readonly address: CompareAddress;
  readonly go: (to: Partial<CompareAddress>) => void;
}

/** Least domain and decimals of each metric; the reward goes up to the most that the runs' questions can earn. */
const AXES: Readonly<Record<MetricName, readonly [Domain, number]>> = {
  reward: [[0, 1], 2], accuracy: [[0, 1], 2], calls: [[0, 1], 2], length: [[0, 50], 1], kl: [[0, 0.01], 4], format: [[0, 1], 2],
  gradient: [[0, 0.5], 2], entropy: [[0, 0.1], 3],
};

/** More lines than shades: the second round is dashed. */
const COLOURS = ['var(--ink)', 'var(--series-3)', 'var(--high)', 'var(--low)'];

/** A letter stands for a line, at its end and in the list. */
const letter = (i: number): string => String.fromCharCode(65 + (i % 26));

/** Curves of several runs on one axis; runs that differ in the seed alone are one line with its spread. */
export function RunCurves({ address, go }: ViewProps): ReactNode {
  const all = useRuns();
  // Before anything is chosen: what is going on or was made last, beside the recorded run.
  const preset = useMemo(() => [...all.slice(0, 1), ...all.filter(({ kind }) => kind === 'recorded')].map(({ summary }) => summary.id), [all]);
  const chosen = useMemo(() => [...new Set(address.runs ?? preset)], [address.runs, preset]);
  const known = useHistories(chosen);
  const groups = useMemo(() => bySettings(known), [known]);
  return (
    <Part
      labels={{ controls: t('curve.metric'), settings: t('curve.choose'), figure: t('curves.title') }}
      controls={
        <div>
          <ChoiceField label={t('curve.metric')} hint={t(`curve.metric.${address.metric}.what`)} value={address.metric} onChange={(metric) => {
            go({ metric, tier: 0 });
          }} items={METRICS.map((value) => ({ value, label: t(`curve.metric.${value}`) }))} />
          <Tiers address={address} go={go} known={known} />
        </div>
      }
      settings={<RunList all={all} chosen={chosen} groups={groups} onChange={(runs) => {
        go({ runs });
      }} />}
    >
      <Lines address={address} groups={groups} waiting={known.some(({ steps }) => steps === undefined)} none={all.length === 0} />
    </Part>
  );
}

function Tiers({ address: { metric, tier }, go, known }: ViewProps & { readonly known: readonly Known[] }): ReactNode {
  const tiers = useMemo(() => [0, ...tiersOf(known.flatMap(({ steps }) => steps ?? []))], [known]);
  if (metricKey(metric, 1) === undefined) return null;
  return <SegmentField label={t('curve.tier')} hint={t('curve.tier.what')} value={tier} values={tiers} onChange={(value) => {
    go({ tier: value });
  }} />;
}

interface RunListProps {
  readonly all: ReturnType<typeof useRuns>;
  readonly chosen: readonly string[];
  readonly groups: readonly (readonly Known[])[];
  readonly onChange: (ids: readonly string[]) => void;
}

function RunList({ all, chosen, groups, onChange }: RunListProps): ReactNode {
  const full = chosen.length >= MOST_RUNS;
  return (
    <fieldset className={styles.runs}>
      <legend className={styles.legend}>{t('curve.runs')}</legend>
      {all.length === 0 && <p className={styles.note}>{t('curve.noRuns')}</p>}
      {all.map(({ summary, kind }) => {
        const { id, settings } = summary;
        const on = chosen.includes(id);
        const line = groups.findIndex((group) => group.some((run) => run.summary.id === id));
        return (
          <label key={id} className={styles.run}>
            <input type="checkbox" checked={on} disabled={!on && full} onChange={(event) => {
              onChange(event.target.checked ? [...chosen, id] : chosen.filter((other) => other !== id));
            }} />
            <span className={styles.letter} aria-hidden="true" style={on && line >= 0 ? { color: COLOURS[line % COLOURS.length] } : undefined}>{on && line >= 0 ? letter(line) : ''}</span>
            <span className={styles.name}>
              {runName({ ...settings, seed: 1 })}
              <span className={styles.note}>{runWords({ summary, kind })}</span>
            </span>
          </label>
        );
      })}
      {full && <p className={styles.note}>{t('curve.full', { most: MOST_RUNS })}</p>}
    </fieldset>
  );
}

interface LinesProps {
  readonly address: CompareAddress;
  readonly groups: readonly (readonly [Known, ...Known[]])[];
  readonly waiting: boolean;
  readonly none: boolean;
}

function Lines({ address: { metric, tier }, groups, waiting, none }: LinesProps): ReactNode {
  const [cursor, setCursor] = useState<number>();
  const key = metricKey(metric, tier) ?? metricKey(metric, 0) ?? metric;
  const [preset, digits] = AXES[metric];
  const least: Domain = metric === 'reward' && groups.length > 0 ? [0, Math.max(...groups.map(([run]) => mostReward(run.summary.settings.suite)))] : preset;
  const steps = useMemo(() => stepsOf(groups.flatMap((group) => group.map((run) => run.steps ?? []))), [groups]);
  const series = useMemo(() => groups.map((group, i): Series => {
    const { values, spread } = lineOf(steps, group.map((run) => run.steps ?? []), key);
    return {
      key: group[0].summary.id, tag: letter(i), label: lineName(group, groups), values, colour: COLOURS[i % COLOURS.length] ?? COLOURS[0] ?? '',
      dashed: i >= COLOURS.length, ...(spread === undefined ? {} : { spread }),
    };
  }), [groups, steps, key]);
  const domain = niceDomain(series.flatMap(({ values, spread }) => [...values, ...(spread?.high ?? []), ...(spread?.low ?? [])]), least);
  const blank = !series.some(({ values }) => values.some(Number.isFinite));
  const open = (step: number): void => {
    const run = groups.flat().find((each) => each.steps?.some((made) => made.step === step) === true);
    if (run !== undefined) navigate(groupAddress({ run: run.summary.id, step }));
  };
  const sources = [...new Set(groups.flat().map(({ kind }) => (kind === 'recorded' ? 'recorded' : 'here')))];
  const empty = none ? t('curve.noRuns') : groups.length === 0 ? t('curve.noneChosen') : metric === 'kl' ? t('curve.kl.none') : t('curve.noValue');
  return (
    <>
      <p className={styles.source}>
        {sources.map((source) => <Badge key={source} source={source} />)} {t(sources.length > 1 ? 'curve.mixed' : 'curve.one')}
        {waiting && ` ${t('curve.reading')}`}
      </p>
      <Chart
        title={tier > 0 && metricKey(metric, tier) !== undefined ? t('curve.title.tier', { name: t(`curve.metric.${metric}`), tier }) : t(`curve.metric.${metric}`)}
        unit={t(`curve.metric.${metric}.unit`)} steps={steps} last={steps.at(-1) ?? 2} series={series} domain={domain} digits={digits} height={320}
        cursor={cursor} onCursor={setCursor} onOpen={open} openHint={t('curve.openHint')} stepName={(step) => t('run.step', { step })} empty={blank ? empty : ''}
      />
      <ul className={styles.lines}>
        {groups.map((group, i) => (
          <li key={group[0].summary.id}>
            <b className={styles.letter} style={{ color: COLOURS[i % COLOURS.length] }}>{letter(i)}</b>
            <span>{lineName(group, groups)}{group.length > 1 && <span className={styles.note}> {t('curve.spread', { n: group.length })}</span>}</span>
          </li>
        ))}
      </ul>
      {!blank && <LineTable steps={steps} series={series} digits={digits} />}
    </>
  );
}

/** Which of the runs with these settings it is. */
function runWords({ summary: { settings: { seed }, step }, kind }: Pick<Known, 'summary' | 'kind'>): string {
  return t(kind === 'recorded' ? 'curve.recorded' : kind === 'current' ? 'curve.current' : 'curve.stored', { seed, step });
}

/** What differs from the nearest preset, and the seeds; of a line with a double, which run it is. */
function lineName(group: readonly [Known, ...Known[]], groups: LinesProps['groups']): string {
  const { settings } = group[0].summary;
  const double = groups.some((other) => other !== group && runName(other[0].summary.settings) === runName(settings));
  if (double && group.length === 1) return format.list([runName({ ...settings, seed: 1 }), runWords(group[0])]);
  const seeds = format.list(group.map(({ summary }) => summary.settings.seed).sort((a, b) => a - b).map(format.integer));
  return t('curve.line', { name: runName({ ...settings, seed: 1 }), seeds, n: group.length });
}

function LineTable({ steps, series, digits }: { readonly steps: readonly number[]; readonly series: readonly Series[]; readonly digits: number }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => {
      setOpen(event.currentTarget.open);
    }}>
      <summary>{t('curves.table')}</summary>
      {open && (
        // A region that scrolls must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={styles.scroll} role="region" aria-label={t('curves.table')} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col" className="figure">{t('table.step')}</th>
                {series.map(({ key, tag, label }) => <th key={key} scope="col" className="figure" aria-label={label}>{tag}</th>)}
              </tr>
            </thead>
            <tbody>
              {steps.map((step, i) => (
                <tr key={step}>
                  <th scope="row" className="figure">{format.integer(step)}</th>
                  {series.map(({ key, values, spread }) => (
                    <td key={key} className="figure">
                      {format.fixed(values[i] ?? NaN, digits)}
                      {spread !== undefined && Number.isFinite(values[i]) && ` (${format.fixed(spread.low[i] ?? NaN, digits)}–${format.fixed(spread.high[i] ?? NaN, digits)})`}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
