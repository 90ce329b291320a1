import { memo, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { TokenScores } from '../../../policy/engine.ts';
import { POLICY, PROMPT } from '../../../rollout/trajectory.ts';
import { format, t } from '../../text/text.ts';
import { inLoss, spanAt, visible } from '../step/tokens.ts';
import { tokenizerOf } from '../step/tokenizers.ts';
import { drawAt, type Draw } from './draw.ts';
import styles from './DrawPanel.module.css';

interface DrawPanelProps {
  readonly rollout: TrainedTrajectory;
  readonly scores: TokenScores;
  readonly token: number;
  /** Runs on from here with another token; undefined where the policy draws nothing. */
  readonly onTake: ((id: number) => void) | undefined;
}

const textOf = ({ task }: TrainedTrajectory, id: number): string => visible(tokenizerOf(task).token(id));

/** A share of 1 in percent; what is not 0 never reads as 0. */
export function percent(share: number): string {
  if (share === 0) return t('rollout.percent', { value: '0' });
  return t('rollout.percent', { value: share < 0.0005 ? t('rollout.less') : share > 0.9995 && share < 1 ? t('rollout.more') : format.fixed(100 * share, 1) });
}

/** Who wrote the token, in words; for the policy's own, how it was drawn. */
export function drawSentence(rollout: TrainedTrajectory, token: number, draw: Draw | undefined): string {
  const span = spanAt(rollout, token);
  const kind = span?.forged === true ? t('kind.forged') : t(`kind.${span?.kind ?? 'stray'}`);
  const head = t('token.head', { token, text: textOf(rollout, rollout.tokens[token] ?? 0), kind });
  const owner = rollout.owner[token];
  if (owner !== POLICY) return t(owner === PROMPT ? 'rollout.sentence.prompt' : inLoss(rollout, token) ? 'rollout.sentence.unmasked' : 'rollout.sentence.environment', { head });
  const logProb = rollout.logProbs[token] ?? NaN;
  if (Number.isNaN(logProb)) return t('rollout.sentence.own', { head });
  const probability = percent(Math.exp(logProb));
  if (draw === undefined) return t('rollout.sentence.drawn', { head, probability });
  return t(draw.rank === undefined ? 'rollout.sentence.far' : 'rollout.sentence.rank', { head, probability, rank: draw.rank ?? draw.choices.length });
}

/** The distribution that a token was drawn from. Always as high, so that nothing jumps. */
export const DrawPanel = memo(function DrawPanel({ rollout, scores, token, onTake }: DrawPanelProps): ReactNode {
  const draw = drawAt(scores, rollout.tokens, token);
  if (draw === undefined) return <p className={styles.note}>{t('rollout.draw.first')}</p>;
  const drawn = rollout.owner[token] === POLICY && !Number.isNaN(rollout.logProbs[token] ?? NaN);
  const id = rollout.tokens[token] ?? 0;
  return (
    <div className={styles.panel}>
      <ol className={styles.choices} aria-label={t(drawn ? 'rollout.draw.from' : 'rollout.draw.expected')}>
        {draw.choices.map((choice) => (
          <Row key={choice.id} id={choice.id} text={textOf(rollout, choice.id)} probability={choice.probability} here={choice.drawn} drawn={drawn} onTake={choice.drawn ? undefined : onTake} />
        ))}
        <Row id={id} text={textOf(rollout, id)} probability={draw.probability} here drawn={drawn} onTake={undefined} hidden={draw.rank !== undefined} />
        <li className={styles.row}>
          <span className={styles.others}>{t('rollout.draw.rest')}</span>
          <Shade probability={draw.rest} />
          <span className={styles.share}>{percent(draw.rest)}</span>
          <span className={styles.mark} />
        </li>
      </ol>
      <dl className={styles.numbers}>
        <div><dt>{t('rollout.draw.rank')}</dt><dd>{draw.rank === undefined ? t('rollout.draw.beyond', { n: draw.choices.length }) : format.integer(draw.rank)}</dd></div>
        <div><dt>{t('number.logProb')}</dt><dd>{format.fixed(draw.logProb, 3)}</dd></div>
        <div><dt>{t('number.entropy')}</dt><dd>{t('rollout.nats', { value: format.fixed(draw.entropy, 3) })}</dd></div>
      </dl>
    </div>
  );
});

interface RowProps {
  readonly id: number;
  readonly text: string;
  readonly probability: number;
  /** It is the token that stands there. */
  readonly here: boolean;
  readonly drawn: boolean;
  readonly onTake: ((id: number) => void) | undefined;
  /** Its place is kept. */
  readonly hidden?: boolean;
}

function Row({ id, text, probability, here, drawn, onTake, hidden = false }: RowProps): ReactNode {
  const content = (
    <>
      <code className={styles.text}>{text}</code>
      <Shade probability={probability} />
      <span className={styles.share}>{percent(probability)}</span>
      <span className={styles.mark}>{here ? t(drawn ? 'rollout.draw.drawn' : 'rollout.draw.here') : onTake === undefined ? '' : t('rollout.draw.take')}</span>
    </>
  );
  return (
    <li style={hidden ? { visibility: 'hidden' } : undefined}>
      {onTake === undefined
        ? <span className={styles.row} data-here={here || undefined}>{content}</span>
        : (
            <button type="button" className={styles.row} onClick={() => {
              onTake(id);
            }}>{content}<span className="hidden">{t('rollout.draw.instead')}</span></button>
          )}
    </li>
  );
}

function Shade({ probability }: { readonly probability: number }): ReactNode {
  return <span className={styles.shade} aria-hidden="true"><span style={{ width: `${100 * Math.min(1, probability)}%` }} /></span>;
}
