import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Bar } from '../../components/Bar.tsx';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { Notice } from '../../components/Notice.tsx';
import { Segments } from '../../components/Segments.tsx';
import { useMedia } from '../../figures/useMedia.ts';
import type { Drift, MaskingSetting } from '../../../evaluation/masking.ts';
import type { RunSummary } from '../../../lab/protocol.ts';
import { driftKey, measureDrift, measureDriftAgain, useEvaluations, useMissingModels, useShipped } from '../../stores/evaluations.ts';
import { useHistories } from '../../stores/histories.ts';
import { lab, useLab } from '../../stores/lab.ts';
import { format, t, type PlainKey } from '../../text/text.ts';
import { compareAddress, WHICH, type CompareAddress } from './address.ts';
import { Badge } from './Badge.tsx';
import { Dots } from './Dots.tsx';
import { Legend, type Look } from './Look.tsx';
import {
  isMade, LAST_STEPS, madeRun, MASKING_STEPS, measuredOf, measuredOfRecorded, MEASURE_AXES, MEASURES, plannedRuns, settingsOf, type Measured,
  type PlannedRun,
} from './masking.ts';
import { Part } from './Part.tsx';
import { SegmentField } from './SegmentField.tsx';
import styles from './Masking.module.css';

interface ViewProps {
  readonly address: CompareAddress;
  readonly go: (to: Partial<CompareAddress>) => void;
}

interface Made extends PlannedRun {
  readonly run: RunSummary | undefined;
}

/** What was measured of the runs of one setting, a value a seed. */
interface Row {
  readonly setting: MaskingSetting;
  readonly runs: readonly { readonly seed: number; readonly measured: Measured }[];
}

interface Experiment {
  readonly rows: readonly Row[];
  /** Finished runs whose drift is being measured. */
  readonly measuring: number;
  readonly failed: readonly { readonly run: RunSummary; readonly message: string }[];
}

/** The same runs with the mask on and off, with a tool whose output nobody can predict and with a short one. */
export function Masking({ address, go }: ViewProps): ReactNode {
  const { which, seeds } = address;
  const current = useLab((s) => s.run);
  const stored = useLab((s) => s.runs);
  const planned = useMemo(() => plannedRuns(which, seeds), [which, seeds]);
  const made = useMemo((): readonly Made[] => {
    const runs = [...(current === undefined ? [] : [current]), ...stored.filter(({ id }) => id !== current?.id)];
    return planned.map((plan) => ({ ...plan, run: madeRun(plan.settings, runs) }));
  }, [planned, current, stored]);
  const { rows, measuring, failed } = useMeasured(made, which);
  const recorded = useShipped('masking');
  const begun = rows.some(({ runs }) => runs.length > 0);
  const [wanted, setWanted] = useState<'own' | 'recorded'>();
  const showOwn = recorded.state !== 'ready' || (wanted ?? (begun ? 'own' : 'recorded')) === 'own';
  const shown = showOwn ? rows : settingsOf(which).map((setting): Row => ({
    setting, runs: recorded.it.runs.filter((run) => run.setting === setting.name).map((run) => ({ seed: run.seed, measured: measuredOfRecorded(run) })),
  }));
  const ids = made.flatMap(({ run }) => (run !== undefined && run.step > 0 ? [run.id] : []));
  return (
    <Part
      labels={{ controls: t('masking.setup'), settings: t('compare.settings'), figure: t('masking.figure') }}
      controls={<Controls made={made} />}
      settings={<>
        <div>
          <Segments label={t('masking.which')} value={which} onChange={(value) => {
            go({ which: value });
          }} items={WHICH.map((value) => ({ value, label: t(`masking.which.${value}`) }))} />
          <SegmentField label={t('masking.seeds')} hint={t('masking.seeds.what')} value={seeds} values={[1, 2, 3, 4, 5]} onChange={(value) => {
            go({ seeds: value });
          }} />
        </div>
        {ids.length > 0 && <Link to={compareAddress({ part: 'curves', runs: ids.slice(0, 12) })}>{t('masking.curves')}</Link>}
      </>}
    >
      <div className={styles.head}>
        <p className={styles.source}>
          {showOwn
            ? <><Badge source="here" /> {t(begun ? 'masking.here' : 'masking.nothing', { last: LAST_STEPS })}</>
            : <><Badge source="recorded" /> {t('masking.recorded', { questions: recorded.it.questionsPerTier, steps: recorded.it.steps })}</>}
        </p>
        {recorded.state === 'ready' && (
          <Segments label={t('evaluate.which')} value={showOwn ? 'own' : 'recorded'} onChange={setWanted}
            items={[{ value: 'recorded', label: t('badge.recorded') }, { value: 'own', label: t('badge.here') }]} />
        )}
      </div>
      <p className={styles.lead}>{t('masking.lead')}</p>
      {showOwn && <p role="status" className={styles.measuring}>{measuring > 0 && t('masking.measuring', { n: measuring })}</p>}
      {failed.map(({ run, message }) => (
        <div key={run.id} className={styles.failed}>
          <Notice kind="fault" detail={message}>{t('masking.failed', { seed: run.settings.seed })}</Notice>
          <Button onClick={() => {
            void measureDriftAgain(run.id, run.step);
          }}>{t('asked.again')}</Button>
        </div>
      ))}
      <Figure rows={shown} />
      <Reading rows={shown} />
    </Part>
  );
}

/** Curves of the finished runs and, once nothing trains, how far their policies went. */
function useMeasured(made: readonly Made[], which: CompareAddress['which']): Experiment {
  const finished = useMemo(() => made.filter((each): each is Made & { readonly run: RunSummary } => isMade(each.run)), [made]);
  const ids = useMemo(() => finished.map(({ run }) => run.id), [finished]);
  const histories = useHistories(ids);
  const drifts = useEvaluations((s) => s.drifts);
  const open = useLab((s) => s.connection === 'open');
  const training = useLab((s) => s.run?.state === 'running' || s.run?.state === 'preparing');
  useEffect(() => {
    // Scoring would take the processor from the runs that are being made.
    if (open && !training) for (const { run } of finished) void measureDrift(run.id, run.step);
  }, [open, training, finished]);
  return useMemo(() => {
    const driftOf = (run: RunSummary): Drift | { readonly failed: string } | undefined => drifts.get(driftKey(run.id, run.step));
    return {
      measuring: training ? 0 : finished.filter(({ run }) => driftOf(run) === undefined).length,
      failed: finished.flatMap(({ run }) => {
        const drift = driftOf(run);
        return drift !== undefined && 'failed' in drift ? [{ run, message: drift.failed }] : [];
      }),
      rows: settingsOf(which).map((setting): Row => ({
        setting,
        runs: finished.filter((each) => each.setting === setting).flatMap(({ run }) => {
          const steps = histories.find(({ summary }) => summary.id === run.id)?.steps;
          const drift = driftOf(run);
          return steps === undefined ? [] : [{ seed: run.settings.seed, measured: measuredOf(steps, drift === undefined || 'failed' in drift ? undefined : drift) }];
        }),
      })),
    };
  }, [which, finished, histories, drifts, training]);
}

/** Start, pause, go on, stop; and where the series is. */
function Controls({ made }: { readonly made: readonly Made[] }): ReactNode {
  const current = useLab((s) => s.run);
  const next = useLab((s) => s.next);
  const asked = useLab((s) => s.asked);
  const left = useLab((s) => s.secondsLeft);
  const open = useLab((s) => s.connection === 'open');
  const perStep = useLab((s) => s.engine?.secondsPerStep);
  const faults = useLab((s) => s.faults);
  const missing = useMissingModels([...new Set(made.map(({ setting }) => setting.model))]) ?? [];
  const mine = made.some(({ run }) => run !== undefined && run.id === current?.id);
  const state = current?.state ?? 'idle';
  const active = state === 'running' || state === 'preparing';
  const todo = made.filter(({ run }) => !isMade(run));
  const going = mine && (active || (state === 'paused' && next.length > 0));
  const done = made.reduce((n, { run }) => n + (run !== undefined && (isMade(run) || run.id === current?.id) ? run.step : 0), 0);
  const of = made.length * MASKING_STEPS;
  const seconds = left === undefined || perStep === undefined ? undefined : left + next.length * MASKING_STEPS * perStep;
  const words = (): string => {
    if (todo.length === 0) return t('masking.done', { n: made.length });
    if (!going) return active ? t('masking.busy') : t('masking.idle', { n: todo.length, steps: MASKING_STEPS });
    const at = made.findIndex(({ run }) => run?.id === current?.id);
    const where = t('masking.at', { number: made.length - todo.length + 1, of: made.length, name: t(nameOf(made[at]?.setting)), seed: made[at]?.settings.seed ?? 0 });
    if (state === 'paused') return `${where} ${t('run.paused')}`;
    return `${where} ${seconds === undefined || (current?.step ?? 0) < 2 ? t('run.measuring') : t('run.left', { seconds })}`;
  };
  return (
    <>
      {going
        ? (
            <div className={styles.buttons}>
              {state === 'paused'
                ? <Button kind="primary" onClick={lab.resume}><Icon name="play" size={16} />{t('train.resume')}</Button>
                : <Button kind="primary" disabled={asked !== undefined || state !== 'running'} onClick={lab.pause}><Icon name="pause" size={16} />{t('train.pause')}</Button>}
              <Button onClick={lab.reset}><Icon name="cross" size={16} />{t('masking.stop')}</Button>
            </div>
          )
        : (
            <Button kind="primary" size="large" disabled={!open || active || asked !== undefined || todo.length === 0 || missing.length > 0} onClick={() => {
              const [first, ...then] = todo.map(({ settings }) => settings);
              if (first !== undefined) lab.train(first, then);
            }}><Icon name="play" />{t(todo.length > 0 && todo.length < made.length ? 'masking.goOn' : 'masking.start')}</Button>
          )}
      <p role="status" className={styles.words}>{words()}</p>
      <Bar label={t('masking.progress')} value={done} most={of} />
      {missing.map((name) => <Notice key={name} kind="note">{t('evaluate.missing', { name })}</Notice>)}
      {(['run', 'model', 'engine', 'python'] as const).map((place) => faults[place] !== undefined && (
        <Notice key={place} kind="fault" detail={faults[place].message}>{t(`fault.${place}`)}</Notice>
      ))}
    </>
  );
}

const NAMES = {
  'chatty, masked': 'masking.chatty.on', 'chatty, unmasked': 'masking.chatty.off', 'short, masked': 'masking.short.on', 'short, unmasked': 'masking.short.off',
} as const satisfies Readonly<Record<string, PlainKey>>;

function nameOf(setting: MaskingSetting | undefined): PlainKey {
  return NAMES[(setting?.name ?? 'chatty, masked') as keyof typeof NAMES];
}

/** The mask is on where the mark is full. */
const lookOf = ({ mask }: MaskingSetting): Look => (mask ? 'solid' : 'hollow');

function Figure({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  const [open, setOpen] = useState(false);
  const wide = useMedia('(width >= 900px)');
  const seeds = [...new Set(rows.flatMap(({ runs }) => runs.map(({ seed }) => seed)))].sort((a, b) => a - b);
  return (
    <>
      <Legend items={[{ key: 'on', label: t('masking.on'), look: 'solid' }, { key: 'off', label: t('masking.off'), look: 'hollow' }]} />
      <div className={styles.dots}>
        {MEASURES.map((measure, i) => {
          const [digits, least] = MEASURE_AXES[measure];
          const all = rows.flatMap(({ runs }) => runs.map(({ measured }) => measured[measure])).filter(Number.isFinite);
          return (
            <Dots
              key={measure} named={!wide || i % 3 === 0} title={t(`measure.${measure}`)} digits={digits} domain={[0, all.reduce((a, b) => Math.max(a, b), least)]}
              rows={rows.map(({ setting, runs }) => ({ key: setting.name, label: t(nameOf(setting)), look: lookOf(setting), values: runs.map(({ measured }) => measured[measure]) }))}
              sentence={t('masking.said', { measure: t(`measure.${measure}`), said: format.clauses(rows.map(({ setting, runs }) => format.named(t(nameOf(setting)), spreadOf(runs.map(({ measured }) => measured[measure]), digits)))) })}
            />
          );
        })}
      </div>
      <details onToggle={(event) => {
        setOpen(event.currentTarget.open);
      }}>
        <summary>{t('masking.table')}</summary>
        {open && (
          // A region that scrolls must be reachable by keyboard.
          // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
          <div className={styles.scroll} role="region" aria-label={t('masking.table')} tabIndex={0}>
            <table>
              <thead>
                <tr>
                  <th scope="col">{t('masking.setting')}</th>
                  <th scope="col" className="figure">{t('masking.seed')}</th>
                  {MEASURES.map((measure) => <th key={measure} scope="col" className="figure">{t(`measure.${measure}`)}</th>)}
                </tr>
              </thead>
              <tbody>
                {rows.flatMap(({ setting, runs }) => seeds.map((seed) => {
                  const measured = runs.find((run) => run.seed === seed)?.measured;
                  return (
                    <tr key={`${setting.name} ${seed}`}>
                      <th scope="row">{t(nameOf(setting))}</th>
                      <td className="figure">{format.integer(seed)}</td>
                      {MEASURES.map((measure) => <td key={measure} className="figure">{format.fixed(measured?.[measure] ?? NaN, MEASURE_AXES[measure][0])}</td>)}
                    </tr>
                  );
                }))}
              </tbody>
            </table>
          </div>
        )}
      </details>
    </>
  );
}

function spreadOf(values: readonly number[], digits: number): string {
  const known = values.filter(Number.isFinite);
  if (known.length === 0) return t('masking.noValue');
  const mean = known.reduce((a, b) => a + b, 0) / known.length;
  return t('masking.spread', { mean: format.fixed(mean, digits), low: format.fixed(Math.min(...known), digits), high: format.fixed(Math.max(...known), digits), n: known.length });
}

/** Both results in words, whichever is shown: never only the striking one. */
function Reading({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  const reward = (name: string): readonly number[] => rows.find(({ setting }) => setting.name === name)?.runs.map(({ measured }) => measured.reward) ?? [];
  const pair = (tool: 'chatty' | 'short'): ReactNode => {
    const [on, off] = [reward(`${tool}, masked`), reward(`${tool}, unmasked`)];
    return (
      <p>
        {on.length > 0 && off.length > 0
          ? t(`masking.read.${tool}`, { on: spreadOf(on, 2), off: spreadOf(off, 2) })
          : t(`masking.expect.${tool}`)}
      </p>
    );
  };
  return (
    <div className={styles.reading}>
      {pair('chatty')}
      {pair('short')}
      <p>{t('masking.why')}</p>
    </div>
  );
}
