import { useEffect, useMemo, type ReactNode } from 'react';
import { scored } from '../../../../lesson/findings.ts';
import { OBSERVATIONS } from '../../../../lesson/recorded.ts';
import { PLACES, RECORDED_RUN } from '../../../../lesson/stages.ts';
import { ATTEMPT_SCRIPTS, ATTEMPTS, callsOf, unfold } from '../../../../lesson/traces.ts';
import type { TrainedTrajectory } from '../../../../grpo/record.ts';
import { partsOf, type RewardPartName } from '../../../../reward/score.ts';
import type { RewardParts } from '../../../../reward/reward.ts';
import { useRecord, useRunView } from '../../../stores/runs.ts';
import { format, t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { TokenStrip } from '../../step/TokenStrip.tsx';
import type { FigureProps } from '../figure-props.ts';
import { plainly } from '../plain.ts';
import styles from './Figures.module.css';

const SHOWN = [...ATTEMPTS, 'sampled'] as const;
/** The attempt that the prediction is about. */
const ASKED = 'all-failed';

/** Attempts scored by the rule of the lab, each with three meters. */
export function Scoring({ kept, onKept, onFound }: FigureProps<'scoring'>): ReactNode {
  const view = useRunView(RECORDED_RUN);
  const { step, question, rollout } = PLACES.failed;
  const sampled = useRecord(view, step)?.groups[question - 1]?.members[rollout - 1];
  const all = useMemo(() => new Map<string, TrainedTrajectory>(ATTEMPTS.map((id) => {
    const script = ATTEMPT_SCRIPTS[id];
    return [id, plainly(unfold(script, callsOf(script).flatMap((code) => OBSERVATIONS.get(code) ?? [])))];
  })), []);
  const asked = all.get(ASKED)?.reward;
  useEffect(() => {
    if (asked !== undefined) onFound(scored(asked));
  }, [asked, onFound]);
  const chosen = SHOWN.find((id) => id === kept.attempt) ?? ASKED;
  const shown = useMemo(() => (chosen === 'sampled' ? sampled && plainly(sampled) : all.get(chosen)), [chosen, sampled, all]);
  return (
    <div className={styles.pair} data-first="narrow">
      <fieldset className={styles.block}>
        <legend className={styles.legend}>{t('lesson.scoring.attempts')}</legend>
        {SHOWN.filter((id) => id !== 'sampled' || sampled !== undefined).map((id) => (
          <label key={id} className={styles.choice}>
            <input type="radio" name="attempt" checked={id === chosen} onChange={() => {
              onKept({ attempt: id });
            }} />
            <span>{t(`lesson.scoring.attempt.${id}`)}</span>
            <span className={styles.score}>{format.fixed((id === 'sampled' ? sampled : all.get(id))?.reward.total ?? NaN, 3)}</span>
          </label>
        ))}
      </fieldset>
      {shown !== undefined && (
        <section className={styles.block}>
          <TokenStrip rollout={shown} />
          <Meters reward={shown.reward} />
          <p className={styles.line}><Badge source="recorded" /><span>{chosen === 'sampled' ? t('lesson.scoring.sampled', { step }) : t('lesson.scoring.written')}</span></p>
        </section>
      )}
    </div>
  );
}

const METERS: readonly { readonly name: 'answer' | 'format' | 'execution'; readonly parts: readonly RewardPartName[] }[] = [
  { name: 'answer', parts: ['answer'] },
  { name: 'format', parts: ['formatRelaxed', 'formatStrict'] },
  { name: 'execution', parts: ['execution'] },
];

/** The parts of a reward, each against the most it can give, on one scale. */
export function Meters({ reward }: { readonly reward: RewardParts }): ReactNode {
  const parts = partsOf(reward);
  const sum = (names: readonly RewardPartName[], of: 'value' | 'most'): number => parts.reduce((x, part) => x + (names.includes(part.name) ? part[of] : 0), 0);
  return (
    <div className={styles.meters}>
      {METERS.map(({ name, parts: names }, i) => {
        const [value, most] = [sum(names, 'value'), sum(names, 'most')];
        return (
          <div key={name} className={styles.meter}>
            <span>{t(`lesson.scoring.meter.${name}`)}</span>
            <span className={styles.track} style={{ inlineSize: `${(100 * most) / 2}%` }} role="meter" aria-label={t(`lesson.scoring.meter.${name}`)} aria-valuemin={0} aria-valuemax={most} aria-valuenow={value}>
              <span className={styles.fill} style={{ inlineSize: `${(100 * value) / most}%`, background: `var(--parts-${i + 1})` }} />
            </span>
            <span className={styles.score}>{t('lesson.scoring.of', { value, most })}</span>
          </div>
        );
      })}
      <p className={styles.total}><b>{t('lesson.scoring.total', { total: reward.total })}</b></p>
    </div>
  );
}
