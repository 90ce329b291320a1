import { useMemo, useState, type ReactNode } from 'react';
import { Bar } from '../../components/Bar.tsx';
import { Button } from '../../components/Button.tsx';
import { ChoiceField } from '../../components/ChoiceField.tsx';
import { Icon } from '../../components/Icon.tsx';
import { Notice } from '../../components/Notice.tsx';
import { NumberField } from '../../components/NumberField.tsx';
import { Segments } from '../../components/Segments.tsx';
import { SwitchField } from '../../components/SwitchField.tsx';
import { niceDomain } from '../../figures/scale.ts';
import { CONDITIONS, SHIPPED } from '../../../evaluation/conditions.ts';
import type { EvaluationResult } from '../../../evaluation/evaluate.ts';
import { isWorkflow, mostReward } from '../../../lab/suite-settings.ts';
import { suiteOf } from '../../../lab/suites.ts';
import { evaluationKey, evaluations, useEvaluations, useMissingModels, useShipped, type EvaluationSpec, type RecordedEvaluation, type Series } from '../../stores/evaluations.ts';
import { useRuns } from '../../stores/histories.ts';
import { useLab } from '../../stores/lab.ts';
import { format, t } from '../../text/text.ts';
import { parsePolicy, policyId, QUESTIONS, SAMPLES, type CompareAddress, type Policy } from './address.ts';
import { Badge } from './Badge.tsx';
import { Bars, type BarSeries } from './Bars.tsx';
import { byTier, cell, partsOf, passes, rowsOf } from './figures.ts';
import { Legend, Swatch, type Look } from './Look.tsx';
import { policyName, policyOf, shippedOf, suiteLabel } from './policies.ts';
import { Part } from './Part.tsx';
import { PolicyField } from './PolicyField.tsx';
import { SegmentField } from './SegmentField.tsx';
import { Steps } from './Steps.tsx';
import styles from './Conditions.module.css';

interface ViewProps {
  readonly address: CompareAddress;
  readonly go: (to: Partial<CompareAddress>) => void;
}

/** One of what is compared: how it is drawn, what it is called, what would be asked for it. */
interface Compared {
  readonly key: string;
  readonly look: Look;
  readonly label: string;
  readonly spec: EvaluationSpec;
}

interface Shown extends Omit<Compared, 'spec'> {
  readonly result: EvaluationResult | undefined;
}

function specOf(policy: Policy, { suite, questions, samples, greedy, seed, probe }: CompareAddress): EvaluationSpec {
  return {
    policy: policy.source, access: policy.access, suite, tool: 'plain', probe: probe && !isWorkflow(suite), questionsPerTier: questions,
    samples: greedy ? 1 : samples, temperature: greedy ? 0 : 1, seed,
  };
}

/** Three conditions, or two policies, on the same held-out questions. */
export function Conditions({ address, go }: ViewProps): ReactNode {
  const { suite, pair } = address;
  const runs = useRuns();
  const { warmStart, trained } = shippedOf(suite);
  const a = address.a ?? policyId(policyOf(suite, 'prompted'));
  const b = address.b ?? policyId(policyOf(suite, 'trained'));
  const compared = useMemo((): readonly Compared[] => {
    const looks = { base: 'hollow', prompted: 'hatched', trained: 'solid' } as const;
    if (!pair) return CONDITIONS.map((name) => ({ key: name, look: looks[name], label: t(`condition.${name}`), spec: specOf(policyOf(suite, name), address) }));
    return ([['a', a, 'hatched'], ['b', b, 'solid']] as const).flatMap(([key, id, look]) => {
      const policy = parsePolicy(id);
      return policy === undefined ? [] : [{ key, look, label: t(`compare.${key}.named`, { name: policyName(id, suite, runs) }), spec: specOf(policy, address) }];
    });
  }, [pair, suite, a, b, address, runs]);
  const missing = useMissingModels(pair ? modelsOf([a, b]) : [warmStart, trained]) ?? [];
  const finished = useEvaluations((s) => s.finished);
  // The engine is part of what an evaluation is: with another one there are other keys.
  useLab((s) => s.engine?.info.kind);
  const own = compared.map(({ key, look, label, spec }): Shown & { readonly engine: 'webgpu' | 'cpu' | undefined } => {
    const made = finished.get(evaluationKey(spec));
    return { key, look, label, result: made?.result, engine: made?.engine.kind };
  });
  const series = useEvaluations((s) => s.series);
  const mine = series?.keys.some((key) => compared.some(({ spec }) => evaluationKey(spec) === key)) === true ? series : undefined;
  const begun = own.some(({ result }) => result !== undefined);
  const recorded = useRecordedShown(pair ? undefined : suite);
  const [wanted, setWanted] = useState<'own' | 'recorded'>();
  const showOwn = recorded === undefined || (wanted ?? (begun || mine?.state === 'going' ? 'own' : 'recorded')) === 'own';
  const shown: readonly Shown[] = showOwn ? own : recorded.shown;
  return (
    <Part
      labels={{ controls: t('evaluate.title'), settings: t('compare.settings'), figure: t('evaluate.figures') }}
      controls={<Controls specs={compared.map(({ spec }) => spec)} series={mine} complete={own.every(({ result }) => result !== undefined)} missing={missing} onPress={() => {
        setWanted('own');
      }} />}
      settings={<Settings address={address} go={go} a={a} b={b} />}
    >
      <div className={styles.head}>
        <p className={styles.source}>
          {showOwn
            ? <><Badge source="here" /> {begun ? t('evaluate.here', { questions: address.questions, seed: address.seed, greedy: address.greedy, engine: own.find(({ engine }) => engine !== undefined)?.engine ?? 'cpu' }) : t('evaluate.nothing')}</>
            : <><Badge source="recorded" /> {t('evaluate.recorded', { questions: recorded.first.questionsPerTier, seed: recorded.first.seed, greedy: recorded.first.temperature === 0, engine: recorded.engine })}</>}
        </p>
        {recorded !== undefined && (
          <Segments label={t('evaluate.which')} value={showOwn ? 'own' : 'recorded'} onChange={setWanted}
            items={[{ value: 'recorded', label: t('badge.recorded') }, { value: 'own', label: t('badge.here') }]} />
        )}
      </div>
      <Result shown={shown} suite={suite} source={showOwn ? 'here' : 'recorded'} />
    </Part>
  );
}

function modelsOf(ids: readonly string[]): string[] {
  return ids.flatMap((id) => {
    const source = parsePolicy(id)?.source;
    return source !== undefined && 'model' in source ? [source.model] : [];
  });
}

interface RecordedShown {
  readonly shown: readonly Shown[];
  readonly first: RecordedEvaluation;
  readonly engine: 'webgpu' | 'cpu';
}

/** What ships of a suite; undefined where nothing does. */
function useRecordedShown(suite: string | undefined): RecordedShown | undefined {
  const file = useShipped('evaluation');
  return useMemo(() => {
    if (file.state !== 'ready') return undefined;
    const of = file.it.evaluations.filter((each) => each.suite === suite);
    const [first] = of;
    if (first === undefined) return undefined;
    const looks = { base: 'hollow', prompted: 'hatched', trained: 'solid' } as const;
    return {
      first, engine: file.it.engine,
      shown: CONDITIONS.map((name) => ({ key: name, look: looks[name], label: t(`condition.${name}`), result: of.find(({ condition }) => condition === name) })),
    };
  }, [file, suite]);
}

interface ControlsProps {
  readonly specs: readonly EvaluationSpec[];
  readonly series: Series | undefined;
  readonly complete: boolean;
  /** Policies that are not there. */
  readonly missing: readonly string[];
  readonly onPress: () => void;
}

/** One press, how far it is, and a way to stop. */
function Controls({ specs, series, complete, missing, onPress }: ControlsProps): ReactNode {
  const open = useLab((s) => s.connection === 'open');
  const python = useLab((s) => s.python);
  const training = useLab((s) => s.run?.state === 'running');
  const going = series?.state === 'going';
  const unusable = !open || missing.length > 0 || python.state === 'failed';
  return (
    <>
      {going
        ? <Button kind="primary" size="large" onClick={evaluations.stop}><Icon name="cross" />{t('evaluate.stop')}</Button>
        : (
            <Button kind="primary" size="large" disabled={unusable || complete} onClick={() => {
              onPress();
              void evaluations.make(specs);
            }}><Icon name="play" />{t(series?.state === 'stopped' && !complete ? 'evaluate.goOn' : 'evaluate.start')}</Button>
          )}
      <div className={styles.progress}>
        <p role="status" className={styles.words}>{statusWords(series, specs.length, complete, training)}</p>
        <div className={styles.bar} data-shown={series !== undefined && series.state !== 'finished'}>
          <Bar label={t('evaluate.progress')} value={series?.done ?? 0} most={series?.of ?? 1} />
        </div>
      </div>
      {missing.map((name) => <Notice key={name} kind="note">{t('evaluate.missing', { name })}</Notice>)}
      {python.state === 'failed' && <Notice kind="fault" detail={python.message}>{t('fault.python')}</Notice>}
      {series?.state === 'failed' && <Notice kind="fault" detail={series.message}>{t('evaluate.failed')}</Notice>}
    </>
  );
}

function statusWords(series: Series | undefined, all: number, complete: boolean, training: boolean): string {
  if (series?.state === 'going') {
    const { phase, at, done, of, secondsLeft } = series;
    const where = t('evaluate.at', { number: at + 1, of: all });
    const what = phase === 'answering' || done > 0 ? t('evaluate.answering', { done, of }) : t(phase === 'replaying' ? 'evaluate.replaying' : 'evaluate.preparing');
    const left = secondsLeft === undefined ? t('run.measuring') : t('run.left', { seconds: secondsLeft });
    return format.sentences([`${where}${format.list([what, left])}`, ...(training ? [t('evaluate.training')] : [])]);
  }
  if (complete) return t('evaluate.done');
  return t(series?.state === 'stopped' ? 'evaluate.stopped' : 'evaluate.idle', { n: all });
}

function Settings({ address, go, a, b }: ViewProps & { readonly a: string; readonly b: string }): ReactNode {
  const { suite, pair, questions, samples, greedy, seed, probe } = address;
  const suites = Object.keys(SHIPPED);
  return (
    <>
      <Segments label={t('evaluate.compare')} value={pair ? 'pair' : 'conditions'} onChange={(value) => {
        go({ pair: value === 'pair' });
      }} items={[{ value: 'conditions', label: t('evaluate.conditions') }, { value: 'pair', label: t('evaluate.pair') }]} />
      {pair
        ? (
            <>
              <PolicyField label={t('compare.a')} suite={suite} value={a} onChange={(id) => {
                go({ a: id });
              }} />
              <PolicyField label={t('compare.b')} suite={suite} value={b} onChange={(id) => {
                go({ b: id });
              }} />
            </>
          )
        : <dl className={styles.what}>{CONDITIONS.map((name) => <div key={name}><dt>{t(`condition.${name}`)}</dt><dd>{t(`condition.${name}.what`)}</dd></div>)}</dl>}
      <div>
        {suites.length > 1 && (
          <ChoiceField label={t('evaluate.suite')} hint={t('evaluate.suite.what')} value={suite} onChange={(value) => {
            go({ suite: value, a: undefined, b: undefined });
          }} items={suites.map((value) => ({ value, label: suiteLabel(value) }))} />
        )}
        <SegmentField label={t('evaluate.questions')} hint={t('evaluate.questions.what')} value={questions} values={QUESTIONS} onChange={(value) => {
          go({ questions: value });
        }} />
        <SwitchField label={t('evaluate.greedy')} hint={t('evaluate.greedy.what')} value={greedy} onChange={(value) => {
          go({ greedy: value });
        }} />
        <SegmentField label={t('evaluate.samples')} hint={t(greedy ? 'evaluate.samples.greedy' : 'evaluate.samples.what')} value={greedy ? 1 : samples} values={greedy ? [1] : SAMPLES} onChange={(value) => {
          go({ samples: value });
        }} />
        <NumberField label={t('evaluate.seed')} hint={t('evaluate.seed.what')} value={seed} least={0} most={2 ** 31 - 1} whole onChange={(value) => {
          go({ seed: value });
        }} />
        {/* The functions of a workflow fail by themselves. */}
        {!isWorkflow(suite) && (
          <SwitchField label={t('evaluate.probe')} hint={t('evaluate.probe.what')} value={probe} onChange={(value) => {
            go({ probe: value });
          }} />
        )}
      </div>
    </>
  );
}

/** What came out: accuracy large, calls and reward beside each other, every number in a table. */
function Result({ shown, suite, source }: { readonly shown: readonly Shown[]; readonly suite: string; readonly source: 'here' | 'recorded' }): ReactNode {
  const [before, after] = shown.slice(-2);
  const tasks = isWorkflow(suite);
  const { tiers } = suiteOf(suite);
  const groups = [...tiers.map((tier) => t('series.tier', { tier })), t('evaluate.all')];
  const calls = shown.map(({ key, look, label, result }): BarSeries => ({ key, look, label, values: byTier(result, tiers, (f) => ({ value: f.calls })) }));
  const ks = passes(shown.find(({ result }) => result !== undefined)?.result ?? { passAt: {} } as EvaluationResult).map(([k]) => k);
  const said = (value: (result: EvaluationResult) => string): string =>
    format.clauses(shown.map(({ label, result }) => format.named(label, result === undefined ? t('evaluate.notYet') : value(result))));
  return (
    <>
      <Legend items={shown} />
      <Bars
        title={t(tasks ? 'evaluate.completed' : 'evaluate.accuracy')} unit={t(tasks ? 'evaluate.completed.unit' : 'evaluate.accuracy.unit')} groups={groups} domain={[0, 1]} digits={2} height={214}
        series={shown.map(({ key, look, label, result }) => ({ key, look, label, values: byTier(result, tiers, (f) => ({ value: f.accuracy, interval: f.accuracyInterval })) }))}
        sentence={t(tasks ? 'evaluate.completed.said' : 'evaluate.accuracy.said', { said: said((r) => format.fixed(r.accuracy, 2)) })}
      />
      {tasks && <p className={styles.tasks}>{t('evaluate.workflow')}</p>}
      <div className={styles.pair}>
        <Bars
          title={t('evaluate.calls')} unit={t('evaluate.calls.unit')} groups={groups} digits={2} height={150}
          domain={niceDomain(calls.flatMap(({ values }) => values.map((v) => v?.value ?? 0)), [0, 1])} series={calls}
          sentence={t('evaluate.calls.said', { said: said((r) => format.fixed(r.calls, 2)) })}
        />
        <Rewards shown={shown} suite={suite} />
      </div>
      {tasks && before !== undefined && after !== undefined && (
        <Steps before={{ label: before.label, figures: before.result }} after={{ label: after.label, figures: after.result }} source={source} />
      )}
      {ks.length > 1 && (
        <Bars
          title={t('evaluate.pass')} unit={t('evaluate.pass.unit')} groups={ks.map((k) => t('evaluate.passAt', { k }))} domain={[0, 1]} digits={2} height={150}
          series={shown.map(({ key, look, label, result }) => ({ key, look, label, values: ks.map((k) => (result === undefined ? undefined : { value: result.passAt[k] ?? NaN })) }))}
          sentence={t('evaluate.pass.said', { said: said((r) => format.list(passes(r).map(([k, p]) => `${t('evaluate.passAt', { k })} ${format.fixed(p, 2)}`))) })}
        />
      )}
      <Numbers shown={shown} suite={suite} caption={t('evaluate.all.what')} />
      <TierTables shown={shown} suite={suite} tiers={tiers} />
    </>
  );
}

/** The mean reward as a sum of its parts. */
function Rewards({ shown, suite }: { readonly shown: readonly Shown[]; readonly suite: string }): ReactNode {
  const parts = partsOf(suite);
  const most = mostReward(suite);
  return (
    <figure className={styles.rewards}>
      <figcaption><b>{t('evaluate.reward')}</b> <span className={styles.unit}>{t('evaluate.reward.unit', { most: format.significant(most, 2) })}</span></figcaption>
      <ul className={styles.partKey} aria-hidden="true">
        {parts.map((name, i) => <li key={name}><span style={{ background: `var(--parts-${i + 1})` }} />{t(`series.${name}`)}</li>)}
      </ul>
      {shown.map(({ key, look, label, result }) => (
        <div key={key} className={styles.reward}>
          <span className={styles.rewardName}><Swatch look={look} /><span className="hidden">{label}</span></span>
          <span className={styles.stack} aria-hidden="true">
            {result !== undefined && parts.map((name, i) => (
              <span key={name} style={{ width: `${(100 * (result.rewardParts[name] ?? 0)) / most}%`, background: `var(--parts-${i + 1})` }} />
            ))}
          </span>
          <span className={styles.rewardValue}>{format.fixed(result?.reward ?? NaN, 2)}</span>
        </div>
      ))}
    </figure>
  );
}

/** Every number of all tiers together, or of one. */
function Numbers({ shown, suite, caption, tier }: { readonly shown: readonly Shown[]; readonly suite: string; readonly caption: string; readonly tier?: number }): ReactNode {
  const of = shown.map(({ result }) => (tier === undefined ? result : result?.tiers.find((each) => each.tier === tier)));
  const ks = [...new Set(of.flatMap((f) => (f === undefined ? [] : passes(f).map(([k]) => k))))].filter((k) => k > 1);
  return (
    // A region that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.scroll} role="region" aria-label={caption} tabIndex={0}>
      <table className={styles.numbers}>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <td />
            {shown.map(({ key, look, label }) => <th key={key} scope="col" className="figure"><span className={styles.column}><Swatch look={look} />{label}</span></th>)}
          </tr>
        </thead>
        <tbody>
          {rowsOf(suite).map((name) => (
            <tr key={name}>
              <th scope="row">{t(`figure.${name}`)} <span className={styles.unit}>{t(`figure.${name}.unit`)}</span></th>
              {of.map((f, i) => <td key={shown[i]?.key} className="figure">{f === undefined ? '–' : cell(name, f)}</td>)}
            </tr>
          ))}
          {ks.map((k) => (
            <tr key={k}>
              <th scope="row">{t('evaluate.passAt', { k })}</th>
              {of.map((f, i) => <td key={shown[i]?.key} className="figure">{format.fixed(f?.passAt[k] ?? NaN, 2)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TierTables({ shown, suite, tiers }: { readonly shown: readonly Shown[]; readonly suite: string; readonly tiers: readonly number[] }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => {
      setOpen(event.currentTarget.open);
    }}>
      <summary>{t('evaluate.table')}</summary>
      {open && <div className={styles.tiers}>{tiers.map((tier) => <Numbers key={tier} shown={shown} suite={suite} tier={tier} caption={t('evaluate.tier', { tier })} />)}</div>}
    </details>
  );
}
