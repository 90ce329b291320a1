import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { StepRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import { groupAddress } from '../../routes.ts';
import { useRunView, useRecord } from '../../stores/runs.ts';
import { useRecorded } from '../../stores/recorded.ts';
import { format, t } from '../../text/text.ts';
import { TokenStrip } from '../step/TokenStrip.tsx';
import styles from './BeforeAfter.module.css';

interface Chosen {
  readonly question: number;
  readonly rollout: number;
  readonly member: TrainedTrajectory;
}

/** The rollout whose reward is nearest to the step's mean, on a question hard enough to need the tool, of those asked for. */
function typical(record: StepRecord, questions?: ReadonlySet<string>): Chosen | undefined {
  const mean = record.metrics.reward ?? 0;
  const all = record.groups.flatMap(({ members, task }, g) =>
    task.tier < 3 || questions?.has(task.question) === false ? [] : members.map((member, r): Chosen => ({ question: g + 1, rollout: r + 1, member })));
  return all.reduce<Chosen | undefined>((best, next) => {
    const away = (c: Chosen): number => Math.abs(c.member.reward.total - mean);
    return best === undefined || away(next) < away(best) ? next : best;
  }, undefined);
}

/** A rollout of each step, on the same question where both asked it. */
function pair(first: StepRecord, last: StepRecord): readonly [Chosen | undefined, Chosen | undefined] {
  const asked = new Set(last.groups.map(({ task }) => task.question));
  const before = typical(first, asked) ?? typical(first);
  return [before, typical(last, before && new Set([before.member.task.question])) ?? typical(last)];
}

/** One rollout of the first step of the recorded run, and one of its last. */
export function BeforeAfter(): ReactNode {
  const recorded = useRecorded();
  const id = recorded.state === 'ready' ? recorded.recorded.run.id : undefined;
  const view = useRunView(id);
  const first = useRecord(view, view?.openable[0]);
  const last = useRecord(view, view?.openable.at(-1));
  if (view === undefined || id === undefined || first === undefined || last === undefined) return null;
  const chosenOf = pair(first, last);
  const same = chosenOf[0]?.member.task.question === chosenOf[1]?.member.task.question;
  return (
    <section className={styles.figure} aria-label={t('home.beforeAfter')}>
      <h2>{t('home.beforeAfter')}</h2>
      <p className={styles.note}>{t('recorded.short', { seed: view.summary.settings.seed, engine: view.summary.engine.kind })}</p>
      <p className={styles.note}>{t('home.notation')}</p>
      <div className={styles.rows}>
        {[first, last].map((record, i) => {
          const chosen = chosenOf[i];
          return chosen === undefined ? null : (
            <div key={record.step} className={styles.row}>
              <div className={styles.head}>
                <h3>{t(i === 0 ? 'home.before' : 'home.after', { step: record.step })}{i > 0 && !same && ` (${t('home.otherQuestion')})`}</h3>
                <span>{t('home.reward', { reward: format.fixed(record.metrics.reward ?? NaN, 2) })}</span>
              </div>
              <TokenStrip rollout={chosen.member} />
              <Link to={groupAddress({ run: id, step: record.step, question: chosen.question, rollout: chosen.rollout })}>{t('home.openGroup')}</Link>
            </div>
          );
        })}
      </div>
    </section>
  );
}
