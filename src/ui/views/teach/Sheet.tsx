import { useMemo, type ReactNode } from 'react';
import { Link } from 'wouter';
import { Button } from '../../components/Button.tsx';
import { MAX_REWARD } from '../../../reward/reward.ts';
import { STAGES, type StageId } from '../../../lesson/stages.ts';
import { format, t } from '../../text/text.ts';
import { workedGroup, type WorkedGroup } from './sheet.ts';
import { answerTo, foundAt, numberOf, optionsOf } from './words.ts';
import styles from './Sheet.module.css';

type Kind = 'worksheet' | 'key';

/** The worksheet of a class, or its answer key, as it is printed: A4, black on white. */
export function Sheet({ kind }: { readonly kind: Kind }): ReactNode {
  const group = useMemo(() => workedGroup(), []);
  const isKey = kind === 'key';
  return (
    <div className={styles.desk}>
      <div className={styles.tools}>
        <Link to="/teach">{t('teach.back')}</Link>
        <Link to={`/teach?sheet=${isKey ? 'worksheet' : 'key'}`}>{t(isKey ? 'teach.worksheet' : 'teach.key')}</Link>
        <Button kind="primary" onClick={() => {
          print();
        }}>{t('teach.print')}</Button>
      </div>
      <article className={styles.paper}>
        <h1>{t(isKey ? 'sheet.keyTitle' : 'sheet.title')}</h1>
        {isKey
          ? <p className={styles.intro}>{t('sheet.keyIntro')}</p>
          : (
              <>
                <p className={styles.who}><span>{t('sheet.name')}</span><i /><span>{t('sheet.date')}</span><i /></p>
                <p className={styles.intro}>{t('sheet.intro')}</p>
              </>
            )}
        <ol className={styles.stages}>
          {STAGES.map((stage) => (
            <li key={stage} className={styles.stage}>
              <h2>{format.integer(numberOf(stage))} {t(`lesson.${stage}.title`)}</h2>
              <Question stage={stage} isKey={isKey} />
              {stage === 'comparing' && <Worked group={group} isKey={isKey} />}
            </li>
          ))}
        </ol>
      </article>
    </div>
  );
}

function Question({ stage, isKey }: { readonly stage: StageId; readonly isKey: boolean }): ReactNode {
  return (
    <>
      <p><b className={styles.label}>{t('teach.predict')}</b>{t(`lesson.${stage}.predict`)}</p>
      <ul className={styles.options}>
        {optionsOf(stage).map(({ id, label, right }) => (
          <li key={id} data-right={(isKey && right) || undefined}><span aria-hidden="true">{isKey && right ? '☒' : '☐'}</span> {label}{isKey && right && <span className="hidden"> ({t('teach.right')})</span>}</li>
        ))}
      </ul>
      {isKey ? <p className={styles.answer}><b className={styles.label}>{t('sheet.found')}</b>{foundAt(stage)}</p> : <p className={styles.line}><span>{t('sheet.found')}</span><i /></p>}
      <p><b className={styles.label}>{t('sheet.explain')}</b>{t(`teach.${stage}.ask`)}</p>
      {isKey ? <p className={styles.answer}>{answerTo(stage)}</p> : <div className={styles.write}><i /><i /></div>}
    </>
  );
}

/** Rewards and advantages by hand. The key's numbers are those of the code that trains. */
function Worked({ group, isKey }: { readonly group: WorkedGroup; readonly isKey: boolean }): ReactNode {
  const give = (text: string): string => (isKey ? text : '');
  return (
    // A region that scrolls on a narrow screen must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.worked} role="region" aria-label={t('sheet.table')} tabIndex={0}>
      <p>{t('sheet.worked', { most: MAX_REWARD })}</p>
      <table>
        <caption className="hidden">{t('sheet.table')}</caption>
        <thead>
          <tr>{(['attempt', 'answer', 'format', 'execution', 'reward', 'advantage'] as const).map((column) => <th key={column} scope="col" className={column === 'attempt' ? '' : 'figure'}>{t(`sheet.column.${column}`)}</th>)}</tr>
        </thead>
        <tbody>
          {group.rows.map(({ id, reward, advantage }) => (
            <tr key={id}>
              <th scope="row">{t(`lesson.scoring.attempt.${id}`)}</th>
              <td className="figure">{give(format.fixed(reward.answer, 2))}</td>
              <td className="figure">{format.fixed(reward.formatRelaxed + reward.formatStrict, 2)}</td>
              <td className="figure">{give(format.fixed(reward.execution ?? 0, 2))}</td>
              <td className="figure">{give(format.fixed(reward.total, 2))}</td>
              <td className="figure">{give(format.signed(advantage, 4))}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {isKey
        ? (
            <>
              <p className={styles.answer}>{t('sheet.statistics', { mean: format.fixed(group.mean, 4), std: format.fixed(group.std, 4) })}</p>
              <p className={styles.answer}>{t('sheet.variants', {
                mean: group.meanOnly.advantages.map((a) => format.signed(a, 4)),
                population: group.population.advantages.map((a) => format.signed(a, 4)),
                std: format.fixed(group.population.std, 4),
              })}</p>
              <p className={styles.answer}>{t('sheet.dummy', { advantage: format.signed(group.rows.find(({ id }) => id === 'dummy')?.advantage ?? NaN, 4) })}</p>
            </>
          )
        : (
            <>
              <p className={styles.line}><span>{t('sheet.mean')}</span><i /><span>{t('sheet.std')}</span><i /></p>
              <p className={styles.line}><span>{t('sheet.wrongYetUp')}</span><i /></p>
            </>
          )}
    </div>
  );
}
