import { useEffect, useState, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../../components/Button.tsx';
import { Icon } from '../../../components/Icon.tsx';
import { Notice } from '../../../components/Notice.tsx';
import { Chart, type Series } from '../../../figures/Chart.tsx';
import { niceDomain } from '../../../figures/scale.ts';
import type { RunSettings, StepSummary } from '../../../../lab/protocol.ts';
import { groupAddress, navigate } from '../../../routes.ts';
import { RunStatus } from '../../../shell/RunStatus.tsx';
import { isGoing, lab, useLab } from '../../../stores/lab.ts';
import { useLesson } from '../../../stores/lesson.ts';
import { format, t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { rewardCurve } from '../../train/curves.ts';
import { differences, PRESET_SETTINGS } from '../../train/presets.ts';
import { wholeAt } from '../address.ts';
import { foundWords } from '../words.ts';
import type { FigureProps } from '../figure-props.ts';
import styles from './Figures.module.css';

const MOST_SEED = 999;

/** Few questions and a large learning rate: ten steps show something, on any machine. */
function settingsOf(seed: number): RunSettings {
  const { paper } = PRESET_SETTINGS;
  return { ...paper, seed, steps: 10, grpo: { ...paper.grpo, questions: 8, optimizer: { ...paper.grpo.optimizer, learningRate: 1e-3 } } };
}

const NO_STEPS: readonly StepSummary[] = [];
const metric = (step: StepSummary | undefined, name: string): number => step?.metrics[name] ?? NaN;

/** A short training run, live. */
export function Loop({ kept, onKept, onFound, fresh }: FigureProps<'loop'>): ReactNode {
  const seed = wholeAt(kept.seed, 1, MOST_SEED, 1);
  const settings = settingsOf(seed);
  const run = useLab((s) => s.run);
  const all = useLab((s) => s.steps);
  const asked = useLab((s) => s.asked);
  const ready = useLab((s) => s.connection === 'open' && s.engine !== undefined && s.python.state === 'ready');
  const faults = useLab((s) => s.faults);
  const found = useLesson((s) => s.found.loop);
  const mine = run !== undefined && differences(run.settings, settings).length === 0;
  const steps = mine ? all : NO_STEPS;
  const [wanted, setWanted] = useState(fresh);
  const start = (to: RunSettings): void => {
    setWanted(false);
    lab.train(to);
  };
  // The prediction asked for it; it begins as soon as engine and Python are there. A run of the person's own is not ended unasked.
  const other = !mine && isGoing(run);
  useEffect(() => {
    if (!wanted || !ready || mine || other) return;
    lab.train(settingsOf(seed));
  }, [wanted, ready, mine, other, seed]);
  useEffect(() => {
    const [first, last] = [steps[0], steps.at(-1)];
    if (run === undefined || last?.step !== settings.steps) return;
    onFound({
      first: metric(first, 'reward'), last: metric(last, 'reward'), steps: last.step,
      rollouts: last.step * settings.grpo.questions * settings.grpo.group,
      seconds: steps.reduce((sum, step) => sum + metric(step, 'step_time'), 0),
      engine: run.engine.kind,
      live: true,
    });
  }, [run, steps, settings.steps, settings.grpo.questions, settings.grpo.group, onFound]);
  const finished = steps.at(-1)?.step === settings.steps;
  const running = mine && (run.state === 'running' || run.state === 'preparing');
  const fault = faults.run ?? faults.engine ?? faults.python ?? faults.model;
  return (
    <div className={styles.stack}>
      <div className={styles.bar}>
        {running
          ? <Button disabled={asked !== undefined || run.state !== 'running'} onClick={lab.pause}><Icon name="pause" size={16} />{t('lesson.loop.stop')}</Button>
          : mine && run.state === 'paused'
            ? <Button kind="primary" disabled={asked !== undefined} onClick={lab.resume}><Icon name="play" size={16} />{t('lesson.loop.goOn')}</Button>
            : (
                <Button kind={finished || found !== undefined ? 'plain' : 'primary'} disabled={!ready || asked !== undefined} onClick={() => {
                  // Another seed: the same one would give the same run.
                  const next = finished || found !== undefined ? (seed % MOST_SEED) + 1 : seed;
                  if (next !== seed) onKept({ seed: String(next) });
                  start(settingsOf(next));
                }}><Icon name="play" size={16} />{t(finished || found !== undefined ? 'lesson.loop.again' : 'lesson.loop.start')}</Button>
              )}
        {!ready && <p className={styles.line} role="status">{t('lesson.loop.waits')}</p>}
        {other && <p className={styles.note}>{t('lesson.loop.kept')}</p>}
        {mine && <div className={styles.grow}><RunStatus /></div>}
      </div>
      {fault !== undefined && <Notice kind="fault" detail={fault.message}>{t('lesson.loop.broken')}</Notice>}
      {mine
        ? <Curves settings={settings} run={run.id} steps={steps} />
        : found !== undefined && <p className={styles.line}><Badge source="here" /><span>{t('lesson.loop.earlier')} {foundWords('loop', found)}</span></p>}
    </div>
  );
}

interface CurvesProps {
  readonly settings: RunSettings;
  readonly run: string;
  readonly steps: readonly StepSummary[];
}

/** Reward in its parts, and calls, as they come. */
function Curves({ settings, run, steps }: CurvesProps): ReactNode {
  const [cursor, setCursor] = useState<number>();
  const reward = rewardCurve(steps, true, settings);
  const numbers = steps.map(({ step }) => step);
  const calls = steps.map((step) => metric(step, 'tools/call_frequency'));
  const open = (step: number): void => {
    navigate(groupAddress({ run, step }));
  };
  const common = {
    steps: numbers, last: settings.steps, cursor, onCursor: setCursor, onOpen: open, openHint: t('curves.open'), empty: '',
    stepName: (step: number) => t('run.step', { step }),
  };
  const series = reward.series.map(({ name, ...rest }): Series => ({ key: name, label: t(`series.${name}`), ...rest }));
  const last = numbers.at(-1);
  return (
    <>
      <div className={styles.pair}>
        <Chart title={t('lesson.loop.reward')} unit={t('lesson.loop.unit')} series={series} domain={reward.domain} digits={2} height={190} {...common} />
        <Chart title={t('lesson.loop.calls')} unit="" series={[{ key: 'calls', label: t('lesson.loop.calls'), values: calls, colour: 'var(--series-3)' }]}
          domain={niceDomain(calls.filter(Number.isFinite), [0, 1])} digits={2} height={190} {...common} />
      </div>
      <p className={styles.line}>
        <Badge source="here" />
        {last !== undefined && <Link to={groupAddress({ run, step: last })}>{t('lesson.loop.openStep', { step: last })}</Link>}
        {last !== undefined && <span>{t('lesson.loop.reward')} {format.fixed(metric(steps.at(-1), 'reward'), 2)}</span>}
      </p>
    </>
  );
}
