import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { ownership } from '../../../../lesson/findings.ts';
import { PLACES, RECORDED_RUN } from '../../../../lesson/stages.ts';
import { callsOf, movesOf, SCRIPTS, TRACES, unfold, type Move } from '../../../../lesson/traces.ts';
import type { TrainedTrajectory } from '../../../../grpo/record.ts';
import { POLICY, PROMPT } from '../../../../rollout/trajectory.ts';
import { Button } from '../../../components/Button.tsx';
import { Icon } from '../../../components/Icon.tsx';
import { Segments } from '../../../components/Segments.tsx';
import { useRecord, useRunView } from '../../../stores/runs.ts';
import { t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { Lanes } from '../../rollout/Lanes.tsx';
import { turnAt, turnsOf, type Turn } from '../../rollout/turns.ts';
import { visible } from '../../step/tokens.ts';
import { TokenStrip } from '../../step/TokenStrip.tsx';
import { wholeAt } from '../address.ts';
import type { FigureProps } from '../figure-props.ts';
import { plainly } from '../plain.ts';
import { PythonLine } from './PythonLine.tsx';
import { usePython } from './usePython.ts';
import styles from './Figures.module.css';

const SHOWN = [...TRACES, 'sampled'] as const;
const NO_CODES: readonly string[] = [];
const CODES = { integral: callsOf(SCRIPTS.integral), apples: callsOf(SCRIPTS.apples), sampled: NO_CODES };

/** Rollouts as they grow, turn by turn: written for the lesson and run for real, or a policy's own. */
export function Interleaving({ kept, onKept, onFound }: FigureProps<'interleaving'>): ReactNode {
  const trace = SHOWN.find((name) => name === kept.trace) ?? 'integral';
  const python = usePython(CODES[trace]);
  const { answers } = python;
  const sampled = useSampled();
  const rollout = useMemo(() => (trace === 'sampled' ? sampled && plainly(sampled) : plainly(unfold(SCRIPTS[trace], answers))), [trace, answers, sampled]);
  const complete = rollout?.stop === 'end';
  const turns = useMemo(() => (rollout === undefined ? [] : turnsOf(rollout)), [rollout]);
  const at = Math.min(wholeAt(kept.at, 0, 999, 0), Math.max(0, turns.length - 1));
  const ended = complete && at === turns.length - 1;
  useEffect(() => {
    if (rollout !== undefined && ended) onFound(ownership(rollout, trace === 'sampled'));
  }, [rollout, ended, trace, onFound]);
  const go = (to: number): void => {
    onKept({ trace, at: String(to) });
  };
  return (
    <div className={styles.stack}>
      <div className={styles.bar}>
        <Segments label={t('lesson.interleaving.traces')} value={trace} items={SHOWN.map((value) => ({ value, label: t(`lesson.interleaving.trace.${value}`) }))} onChange={(value) => {
          onKept({ trace: value, at: '' });
        }} />
        {trace === 'sampled'
          ? <p className={styles.line}><Badge source="recorded" /><span>{t('lesson.interleaving.sampled')}</span></p>
          : <PythonLine python={python} here={t('lesson.interleaving.written')} />}
      </div>
      {rollout !== undefined && !complete && (
        <section className={styles.block}>
          <h3>{t('kind.prompt')}</h3>
          <p className={styles.hand}>{rollout.task.question}</p>
        </section>
      )}
      {/* Turns are counted once all of them are there. */}
      {rollout !== undefined && complete && (
        <Quizzed key={trace} asked={trace === 'apples'} rollout={rollout} turns={turns}>
          <Grown rollout={rollout} turns={turns} at={at} moves={trace === 'sampled' ? [] : movesOf(SCRIPTS[trace], rollout)} onGo={go} />
          {trace === 'apples' && <RealOutputs outputs={answers.map(({ output }) => output)} />}
        </Quizzed>
      )}
    </div>
  );
}

/** A rollout of the recorded run that mends its own error. */
function useSampled(): TrainedTrajectory | undefined {
  const view = useRunView(RECORDED_RUN);
  const { step, question, rollout } = PLACES.corrected;
  return useRecord(view, step)?.groups[question - 1]?.members[rollout - 1];
}

interface GrownProps {
  readonly rollout: TrainedTrajectory;
  readonly turns: readonly Turn[];
  readonly at: number;
  readonly moves: readonly (readonly [token: number, move: Move])[];
  readonly onGo: (turn: number) => void;
}

/** The rollout up to a turn: two lanes, and the text as it stands. */
function Grown({ rollout, turns, at, moves, onGo }: GrownProps): ReactNode {
  const turn = turns[at];
  const end = turn?.end ?? 0;
  const text = useMemo((): TrainedTrajectory => ({
    ...rollout,
    tokens: rollout.tokens.subarray(0, end), owner: rollout.owner.subarray(0, end), logProbs: rollout.logProbs.subarray(0, end), weights: rollout.weights.subarray(0, end),
    spans: rollout.spans.filter(({ start }) => start < end),
  }), [rollout, end]);
  const last = turns.length - 1;
  const named = moves.filter(([token]) => token < end);
  return (
    <>
      <div className={styles.bar}>
        <Button kind="primary" disabled={at >= last} onClick={() => {
          onGo(at + 1);
        }}><Icon name="step" size={16} />{t('lesson.step')}</Button>
        <Button disabled={at === 0} onClick={() => {
          onGo(at - 1);
        }}><Icon name="back" size={16} />{t('lesson.stepBack')}</Button>
        <Button disabled={at >= last} onClick={() => {
          onGo(last);
        }}>{t('lesson.stepAll')}</Button>
        <p className={styles.at} role="status">{turn === undefined || at === 0 ? t('lesson.interleaving.before') : t('lesson.interleaving.at', { at: at + 1, of: turns.length, kind: t(`kind.${turn.kind}`) })}</p>
      </div>
      <Lanes rollout={rollout} turns={turns} token={Math.max(0, end - 1)} onPick={(token) => {
        onGo(Math.max(0, turnAt(turns, token)));
      }} />
      {named.length > 0 && (
        <ul className={styles.moves}>
          {named.map(([token, move]) => <li key={token} data-now={turn !== undefined && token >= turn.start && token < turn.end ? true : undefined}>{t(`lesson.interleaving.move.${move}`)}</li>)}
        </ul>
      )}
      <div className={styles.strip}><TokenStrip rollout={text} /></div>
    </>
  );
}

const WRITERS = ['policy', 'environment'] as const;
type Writer = (typeof WRITERS)[number];

interface QuizzedProps {
  readonly asked: boolean;
  readonly rollout: TrainedTrajectory;
  readonly turns: readonly Turn[];
  readonly children: ReactNode;
}

/** Asks of each turn who wrote it, before the lanes show it. */
function Quizzed({ asked, rollout, turns, children }: QuizzedProps): ReactNode {
  const [given, setGiven] = useState<ReadonlyMap<number, Writer>>(new Map());
  const questions = turns.filter(({ owner, kind }) => owner !== PROMPT && kind !== 'stray');
  if (!asked) return children;
  return (
    <>
      <section className={styles.block} aria-labelledby="lesson-who">
        <h3 id="lesson-who">{t('lesson.interleaving.who')}</h3>
        <ul className={styles.quiz}>
          {questions.map(({ start, text }) => {
            const owner: Writer = rollout.owner[start] === POLICY ? 'policy' : 'environment';
            const said = given.get(start);
            return (
              <li key={start}>
                <code dir="ltr">{visible(text)}</code>
                <Segments label={t('lesson.named', { what: t('lesson.interleaving.who'), which: text })} value={said} items={WRITERS.map((value) => ({ value, label: t(`lesson.interleaving.who.${value}`) }))} onChange={(value) => {
                  setGiven(new Map([...given, [start, value]]));
                }} />
                <span role="status">{said !== undefined && t(said === owner ? 'lesson.interleaving.who.right' : 'lesson.interleaving.who.wrong', { owner: t(`lesson.interleaving.who.${owner}`) })}</span>
              </li>
            );
          })}
        </ul>
      </section>
      {given.size >= questions.length && children}
    </>
  );
}

/** The fractions as JavaScript has them, beside what the products printed in Python. */
function RealOutputs({ outputs }: { readonly outputs: readonly string[] }): ReactNode {
  const [said, setSaid] = useState<string>();
  const pairs = [[6 / 11, 5 / 11].map(String), outputs].map(([five = '', six = '']) => t('lesson.interleaving.real.pair', { five, six }));
  const real = pairs[1];
  return (
    <fieldset className={styles.block}>
      <legend className={styles.legend}>{t('lesson.interleaving.real')}</legend>
      <p>{t('lesson.interleaving.real.what')}</p>
      {pairs.map((pair) => (
        <label key={pair} className={styles.choice}>
          <input type="radio" name="real-outputs" checked={said === pair} onChange={() => {
            setSaid(pair);
          }} />
          <code dir="ltr">{pair}</code>
        </label>
      ))}
      <p role="status" className={styles.verdict}>{said !== undefined && t(said === real ? 'lesson.interleaving.real.right' : 'lesson.interleaving.real.wrong')}</p>
    </fieldset>
  );
}
