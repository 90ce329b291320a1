import { memo, useState, type ReactNode } from 'react';
import { Folded } from '../../components/Folded.tsx';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import type { TokenScores } from '../../../policy/engine.ts';
import { ENVIRONMENT, PROMPT } from '../../../rollout/trajectory.ts';
import { Button } from '../../components/Button.tsx';
import { format, t } from '../../text/text.ts';
import { inLoss, spanAt, tokenText, visible } from '../step/tokens.ts';
import { tokenizerOf } from '../step/tokenizers.ts';
import { drawAt } from './draw.ts';
import { percent } from './DrawPanel.tsx';
import { answerWords } from './Lanes.tsx';
import type { Turn } from './turns.ts';
import styles from './Tables.module.css';

interface TablesProps {
  readonly rollout: TrainedTrajectory;
  readonly turns: readonly Turn[];
  /** As soon as the engine has answered. */
  readonly scores: TokenScores | undefined;
}

const ownerWords = (owner: number | undefined): string =>
  t(owner === PROMPT ? 'owner.prompt' : owner === ENVIRONMENT ? 'owner.environment' : 'owner.policy');

/** Twins of the two pictures: the turns, and the tokens with how each was drawn. */
export const Tables = memo(function Tables(props: TablesProps): ReactNode {
  return (
    <div className={styles.tables}>
      <Folded title={t('rollout.turns.table')}>{() => <Turns turns={props.turns} owners={props.rollout.owner} />}</Folded>
      <Folded title={t('rollout.tokens.table')}>{() => <TokenRows {...props} />}</Folded>
    </div>
  );
});

function Turns({ turns, owners }: { readonly turns: readonly Turn[]; readonly owners: Uint8Array }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" className="figure">{t('rollout.column.turn')}</th>
          <th scope="col">{t('column.kind')}</th>
          <th scope="col">{t('column.owner')}</th>
          <th scope="col" className="figure">{t('rollout.column.from')}</th>
          <th scope="col" className="figure">{t('rollout.column.to')}</th>
          <th scope="col">{t('rollout.column.text')}</th>
          <th scope="col">{t('rollout.column.python')}</th>
        </tr>
      </thead>
      <tbody>
        {turns.map(({ kind, forged, start, end, text, call }, i) => (
          <tr key={start}>
            <th scope="row" className="figure">{format.integer(i + 1)}</th>
            <td>{forged ? t('kind.forged') : t(`kind.${kind}`)}</td>
            <td>{ownerWords(owners[start])}</td>
            <td className="figure">{format.integer(start)}</td>
            <td className="figure">{format.integer(end - 1)}</td>
            <td className={styles.long}><code dir="ltr">{visible(text)}</code></td>
            <td>{call === undefined ? '–' : answerWords(call.call)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Rows of a table at once: more would hold the page. */
const PAGE = 250;

function TokenRows({ rollout, scores }: TablesProps): ReactNode {
  const [page, setPage] = useState(0);
  const n = rollout.tokens.length;
  const pages = Math.ceil(n / PAGE);
  const from = Math.min(page, pages - 1) * PAGE;
  const to = Math.min(n, from + PAGE);
  return (
    <>
      {pages > 1 && (
        <p className={styles.pages}>
          <Button disabled={from <= 0} onClick={() => {
            setPage(page - 1);
          }}>{t('rollout.page.previous')}</Button>
          {t('rollout.page.of', { from, to: to - 1, n })}
          <Button disabled={to >= n} onClick={() => {
            setPage(page + 1);
          }}>{t('rollout.page.next')}</Button>
        </p>
      )}
      <table>
        <thead>
          <tr>
            <th scope="col" className="figure">{t('column.position')}</th>
            <th scope="col" className="figure">{t('rollout.column.id')}</th>
            <th scope="col">{t('column.token')}</th>
            <th scope="col">{t('column.owner')}</th>
            <th scope="col">{t('column.kind')}</th>
            <th scope="col">{t('column.inLoss')}</th>
            <th scope="col" className="figure">{t('rollout.column.stored')}</th>
            <th scope="col" className="figure">{t('column.logProb')}</th>
            <th scope="col" className="figure">{t('column.entropy')}</th>
            <th scope="col" className="figure">{t('rollout.draw.rank')}</th>
            <th scope="col">{t('rollout.column.choices')}</th>
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: Math.max(0, to - from) }, (_, k) => {
            const i = from + k;
            const draw = scores && drawAt(scores, rollout.tokens, i);
            return (
              <tr key={i}>
                <th scope="row" className="figure">{format.integer(i)}</th>
                <td className="figure">{format.integer(rollout.tokens[i] ?? 0)}</td>
                <td><code>{tokenText(rollout, i)}</code></td>
                <td>{ownerWords(rollout.owner[i])}</td>
                <td>{t(`kind.${spanAt(rollout, i)?.kind ?? 'stray'}`)}</td>
                <td>{t(inLoss(rollout, i) ? 'yes' : 'no')}</td>
                <td className="figure">{format.fixed(rollout.logProbs[i] ?? NaN, 3)}</td>
                <td className="figure">{format.fixed(draw?.logProb ?? NaN, 3)}</td>
                <td className="figure">{format.fixed(draw?.entropy ?? NaN, 3)}</td>
                <td className="figure">{draw === undefined ? '–' : draw.rank === undefined ? t('rollout.draw.beyond', { n: draw.choices.length }) : format.integer(draw.rank)}</td>
                <td><code>{draw?.choices.slice(0, 3).map(({ id, probability }) => `${visible(tokenizerOf(rollout.task).token(id))} ${percent(probability)}`).join('  ') ?? ''}</code></td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </>
  );
}
