import { useState, type ReactNode } from 'react';
import { Icon } from '../../components/Icon.tsx';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import { ENVIRONMENT, PROMPT } from '../../../rollout/trajectory.ts';
import { format, t } from '../../text/text.ts';
import { describeMask } from '../step/describe.ts';
import { clipState, inLoss, maskCounts, spanAt, tokenText } from '../step/tokens.ts';
import styles from './RolloutDetail.module.css';

interface RolloutDetailProps {
  readonly rollout: TrainedTrajectory;
  readonly number: number;
  readonly grpo: GrpoSettings;
}

/** The chosen rollout: what of it was trained on, its calls, and all its numbers. */
export function RolloutDetail({ rollout, number, grpo }: RolloutDetailProps): ReactNode {
  const { reward, calls } = rollout;
  const { observed } = maskCounts(rollout);
  const forged = rollout.spans.some((span) => span.forged);
  return (
    <section className={styles.detail} aria-label={t('detail.title', { number })}>
      <div className={styles.column}>
        <h2>{t('detail.title', { number })}</h2>
        <p>{outcome(rollout)}</p>
        <p className={styles.counts} data-testid="mask-counts">{describeMask(rollout)}</p>
        <p className={styles.sentence}>
          {t(observed === 0 ? 'mask.noOutput' : grpo.mask ? 'mask.on' : 'mask.off', { observed })}
          {forged && format.sentences(['', t('mask.forged')])}
        </p>
      </div>
      <div className={styles.column}>
        <h3>{t('calls.title', { n: calls.length })}</h3>
        {calls.length === 0 && <p className={styles.sentence}>{t(reward.workflow === undefined ? 'calls.none' : 'calls.noFunction')}</p>}
        <ol className={styles.calls}>
          {calls.map((call, i) => (
            <li key={i} className={styles.call}>
              <span className={call.ok ? styles.ok : styles.failed}>
                <Icon name={call.ok ? 'check' : 'cross'} size={14} />
                {call.ok ? t('calls.ran') : t(`calls.${call.errorKind ?? 'exception'}`, { type: call.errorType ?? '' })}
              </span>
              <code>{call.code}</code>
              <span className={styles.arrow} aria-hidden="true">→</span>
              <code className={styles.output}>{call.output}{call.truncated && t('calls.cut')}</code>
            </li>
          ))}
        </ol>
      </div>
      <TokenTable rollout={rollout} grpo={grpo} />
    </section>
  );
}

function outcome({ task: { question, answer }, reward: { correct, workflow } }: TrainedTrajectory): string {
  return workflow === undefined
    ? t(correct ? 'detail.right' : 'detail.wrong', { question, answer })
    : t(correct ? 'detail.completed' : 'detail.notCompleted', { question, goal: answer });
}

const COLUMNS = ['position', 'token', 'owner', 'kind', 'inLoss', 'weight', 'logProb', 'entropy', 'advantage', 'ratio', 'clip', 'kl', 'dLogProb', 'gradient'] as const;
const WORDS: readonly string[] = ['token', 'owner', 'kind', 'inLoss', 'clip'];

/** The picture's twin: the same tokens with the same numbers. */
function TokenTable({ rollout, grpo }: { readonly rollout: TrainedTrajectory; readonly grpo: GrpoSettings }): ReactNode {
  const [open, setOpen] = useState(false);
  const { update } = rollout;
  const owner = (i: number): string => t(rollout.owner[i] === PROMPT ? 'owner.prompt' : rollout.owner[i] === ENVIRONMENT ? 'owner.environment' : 'owner.policy');
  const small = (x: number | undefined): string => (x === undefined ? '–' : x === 0 ? '0' : format.significant(x, 3));
  return (
    <details className={styles.wide} onToggle={(event) => {
      setOpen(event.currentTarget.open);
    }}>
      <summary>{t('detail.table')}</summary>
      {open && (
        // A region that scrolls must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={styles.scroll} role="region" aria-label={t('detail.table')} tabIndex={0}>
          <table>
            <thead>
              <tr>{COLUMNS.map((name) => <th key={name} scope="col" className={WORDS.includes(name) ? undefined : 'figure'}>{t(`column.${name}`)}</th>)}</tr>
            </thead>
            <tbody>
              {Array.from(rollout.tokens, (_, i) => {
                const clip = clipState(rollout, i, grpo);
                const trained = inLoss(rollout, i);
                return (
                  <tr key={i}>
                    <th scope="row" className="figure">{format.integer(i)}</th>
                    <td><code>{tokenText(rollout, i)}</code></td>
                    <td>{owner(i)}</td>
                    <td>{t(`kind.${spanAt(rollout, i)?.kind ?? 'stray'}`)}</td>
                    <td>{t(trained ? 'yes' : 'no')}</td>
                    <td className="figure">{small(rollout.weights[i])}</td>
                    <td className="figure">{format.fixed(rollout.logProbs[i] ?? NaN, 3)}</td>
                    <td className="figure">{format.fixed(update?.entropy[i] ?? NaN, 3)}</td>
                    <td className="figure">{trained ? format.signed(rollout.advantage, 2) : '–'}</td>
                    <td className="figure">{format.fixed(update?.ratio[i] ?? NaN, 3)}</td>
                    <td>{clip === undefined ? '–' : t(`clip.${clip}`)}</td>
                    <td className="figure">{format.significant(update?.kl[i] ?? NaN, 3)}</td>
                    <td className="figure">{small(update?.dLogProb[i])}</td>
                    <td className="figure">{small(update?.gradient[i])}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
