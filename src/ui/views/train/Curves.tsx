import { useCallback, useMemo, useState, type ReactNode } from 'react';
import { Segments } from '../../components/Segments.tsx';
import { Chart, type Series } from '../../figures/Chart.tsx';
import { useMedia } from '../../figures/useMedia.ts';
import type { StepSummary } from '../../../lab/protocol.ts';
import { mostReward } from '../../../lab/suite-settings.ts';
import { groupAddress, navigate } from '../../routes.ts';
import { useDraft } from '../../stores/draft.ts';
import { useRunView, type RunView } from '../../stores/runs.ts';
import { format, t } from '../../text/text.ts';
import { otherCurves, rewardCurve, type Curve, type CurveName, type CurveSeries } from './curves.ts';
import styles from './Curves.module.css';

const NO_STEPS: readonly StepSummary[] = [];

export function Curves(): ReactNode {
  const view = useRunView();
  const [inParts, setInParts] = useState(true);
  const draft = useDraft();
  const [cursor, setCursor] = useState<number | undefined>();
  const tall = useMedia('(height >= 900px) and (width >= 900px)');
  const steps = view?.steps ?? NO_STEPS;
  const settings = view?.summary.settings ?? draft;
  const numbers = useMemo(() => steps.map(({ step }) => step), [steps]);
  const reward = useMemo(() => rewardCurve(steps, inParts, settings), [steps, inParts, settings]);
  const { behaviour, update } = useMemo(() => otherCurves(steps, settings), [steps, settings]);
  const marks = useMemo(() => steps.filter(({ skipped, warnings }) => skipped !== undefined || warnings.length > 0), [steps]);
  const id = view?.summary.id;
  const openable = view?.openable;
  const open = useCallback((step: number): void => {
    // Of a recorded run only some steps are there in full: the nearest is opened.
    const nearest = openable?.reduce((best, next) => (Math.abs(next - step) < Math.abs(best - step) ? next : best), openable[0] ?? step);
    if (id !== undefined && nearest !== undefined) navigate(groupAddress({ run: id, step: nearest }));
  }, [id, openable]);
  const last = settings.steps;
  const chart = (curve: Curve, height: number): ReactNode => (
    <Chart
      key={curve.name}
      title={t(`curve.${curve.name}`)}
      unit={curve.name === 'reward' ? t('curve.reward.most', { most: format.significant(mostReward(settings.suite), 2) }) : t(`curve.${curve.name}.unit`)}
      steps={numbers}
      last={last}
      series={named(curve.series)}
      domain={curve.domain}
      digits={curve.digits}
      height={height}
      marks={curve.name === 'reward' ? marks.map(({ step }) => step) : []}
      cursor={cursor}
      onCursor={setCursor}
      onOpen={open}
      openHint={t('curves.open')}
      stepName={(step) => t('run.step', { step })}
      empty={emptyWords(curve.name, steps.length > 0)}
    />
  );
  // A remark on the step that is pointed at, else on the newest; else how to use the curves.
  const remarked = marks.find(({ step }) => step === (cursor ?? numbers.at(-1)));
  const words = [
    ...(cursor === undefined ? [] : [t('curves.at', { step: cursor })]),
    ...(remarked === undefined ? [] : [remark(remarked)]),
  ];
  const hint = words.length > 0 ? format.sentences(words) : t(numbers.length === 0 ? 'curves.empty' : 'curves.hint');
  return (
    <div className={styles.curves}>
      <div className={styles.head}>
        <div className={styles.words}>
          <p>{view === undefined ? null : <Source view={view} />}</p>
          <p className={styles.hint}>{hint}</p>
        </div>
        <Segments
          label={t('curves.rewardAs')}
          value={inParts ? 'parts' : 'sum'}
          items={[{ value: 'parts', label: t('curves.parts') }, { value: 'sum', label: t('curves.sum') }]}
          onChange={(value) => {
            setInParts(value === 'parts');
          }}
        />
      </div>
      {chart(reward, tall ? 360 : 232)}
      <div className={styles.small}>{behaviour.map((curve) => chart(curve, tall ? 152 : 112))}</div>
      <div className={styles.small}>{update.map((curve) => chart(curve, tall ? 128 : 88))}</div>
      {steps.length > 0 && <StepTable steps={steps} />}
    </div>
  );
}

/** Where the numbers are from. */
function Source({ view: { kind, summary } }: { readonly view: RunView }): ReactNode {
  const { settings, engine, step } = summary;
  if (kind !== 'recorded') return t('measured.here', { seed: settings.seed, engine: engine.kind });
  return <><b>{t('recorded.label')}</b> {t('recorded.what', { seed: settings.seed, steps: step, engine: engine.kind })}</>;
}

function named(series: readonly CurveSeries[]): Series[] {
  return series.map(({ name, tier, ...rest }) => ({
    key: `${name}${tier ?? ''}`,
    label: name === 'tier' ? t('series.tier', { tier: tier ?? 0 }) : t(`series.${name}`),
    ...(tier === undefined ? {} : { tag: format.integer(tier) }),
    ...rest,
  }));
}

/** Said once, in the large chart; KL has a reason of its own to be empty. */
function emptyWords(name: CurveName, begun: boolean): string {
  if (begun) return name === 'kl' ? t('curve.kl.none') : '';
  return name === 'reward' ? t('curves.empty') : '';
}

function remark({ skipped, warnings }: StepSummary): string {
  return format.sentences([...(skipped === undefined ? [] : [t(`skipped.${skipped}`)]), ...warnings.map((warning) => t(`warning.${warning}`))]);
}

const COLUMNS = [
  ['reward', 'reward', 2], ['accuracy', 'accuracy', 2], ['calls', 'tools/call_frequency', 2], ['equal', 'frac_reward_zero_std', 2],
  ['length', 'completions/mean_length', 1], ['kl', 'kl', 4], ['entropy', 'entropy', 3], ['clip', 'clip_ratio/region_mean', 3], ['gradient', 'grad_norm', 3],
] as const;

/** The curves in numbers. */
function StepTable({ steps }: { readonly steps: readonly StepSummary[] }): ReactNode {
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
                {COLUMNS.map(([name]) => <th key={name} scope="col" className="figure">{t(`curve.${name}`)}</th>)}
              </tr>
            </thead>
            <tbody>
              {steps.map(({ step, metrics }) => (
                <tr key={step}>
                  <th scope="row" className="figure">{format.integer(step)}</th>
                  {COLUMNS.map(([name, key, digits]) => <td key={name} className="figure">{format.fixed(metrics[key] ?? NaN, digits)}</td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
