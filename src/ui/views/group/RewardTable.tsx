import type { ReactNode } from 'react';
import type { GroupRecord } from '../../../grpo/record.ts';
import type { RewardParts } from '../../../reward/reward.ts';
import { format, t } from '../../text/text.ts';
import type { GroupNow } from './play.ts';
import styles from './RewardTable.module.css';

/** As the paper's rules list them; the cost of calls is a switch of this lab. */
const MATH = ['answer', 'relaxed', 'strict', 'execution', 'cost'] as const;
const WORKFLOW = ['state', 'functions', 'relaxed', 'strict', 'cost'] as const;

/** The bars and lollipops in numbers: as they are shown, and as they were sampled. */
export function RewardTable({ group, now }: { readonly group: GroupRecord; readonly now: GroupNow }): ReactNode {
  const names = group.members.some(({ reward }) => reward.workflow !== undefined) ? WORKFLOW : MATH;
  return (
    <details>
      <summary>{t('group.table')}</summary>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={t('group.table')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {(['rollout', ...names, 'total', 'advantage', 'sampledReward', 'sampledAdvantage', 'stop'] as const).map((name) => (
                <th key={name} scope="col" className={name === 'stop' ? undefined : 'figure'}>{t(`column.${name}`)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {now.rows.map(({ reward, advantage, parts, dragged, sampled }, i) => (
              <tr key={i}>
                <th scope="row" className="figure">{format.integer(i + 1)}</th>
                {names.map((name) => <td key={name} className="figure">{parts === undefined || dragged ? '–' : partOf(parts, name)}</td>)}
                <td className="figure"><b>{reward === null ? t('reward.leftOut') : format.fixed(reward, 3)}</b></td>
                <td className="figure">{advantage === undefined ? '–' : format.signed(advantage, 3)}</td>
                <td className="figure">{format.fixed(sampled.reward, 3)}</td>
                <td className="figure">{format.signed(sampled.advantage, 3)}</td>
                <td>{t(`stop.${group.members[i]?.stop ?? 'end'}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function partOf({ answer, formatRelaxed, formatStrict, execution, callCost, workflow }: RewardParts, name: (typeof MATH | typeof WORKFLOW)[number]): string {
  switch (name) {
    case 'answer':
      return format.fixed(answer, 2);
    case 'state':
      return format.fixed(workflow?.state ?? NaN, 3);
    case 'functions':
      return format.fixed(workflow?.functions ?? NaN, 3);
    case 'relaxed':
      return format.fixed(formatRelaxed, 3);
    case 'strict':
      return format.fixed(formatStrict, 2);
    case 'execution':
      return execution === null ? t('reward.leftOut') : format.fixed(execution, 2);
    case 'cost':
      return format.fixed(callCost, 2);
  }
}
