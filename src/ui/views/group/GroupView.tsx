import { useState, type ReactNode } from 'react';
import { Notice } from '../../components/Notice.tsx';
import type { GroupRecord } from '../../../grpo/record.ts';
import { format, t } from '../../text/text.ts';
import { Inspector } from '../step/Inspector.tsx';
import { Key } from '../step/Key.tsx';
import { SignalBar } from '../step/SignalBar.tsx';
import { StepFrame, type StepContext } from '../step/StepFrame.tsx';
import { usePaint, useSignalKeys } from '../step/usePaint.ts';
import { RolloutDetail } from './RolloutDetail.tsx';
import { Rollouts } from './Rollouts.tsx';
import styles from './GroupView.module.css';

/** The rollouts of one question, token by token, and how they were compared. */
export function GroupView(): ReactNode {
  return <StepFrame on="group">{(context) => <Group {...context} />}</StepFrame>;
}

function Group({ view, record, group, selection }: StepContext): ReactNode {
  const { grpo } = view.summary.settings;
  const [preview, setPreview] = useState<{ readonly rollout: number; readonly token: number } | undefined>();
  const paint = usePaint(view, record.step, group, selection);
  useSignalKeys('group', selection);
  const { rollout } = selection;
  const chosen = group.members[rollout - 1];
  const pointed = preview ?? (selection.token === undefined ? undefined : { rollout, token: selection.token });
  const inspected = pointed && group.members[pointed.rollout - 1];
  return (
    <>
      <SignalBar on="group" selection={selection} paint={paint} />
      <Comparison group={group} />
      <Rollouts group={group} paint={paint} selection={selection} onPreview={setPreview} />
      <Inspector rollout={inspected} token={pointed?.token} grpo={grpo} number={pointed?.rollout} preview={preview !== undefined} />
      {chosen !== undefined && <RolloutDetail rollout={chosen} number={rollout} grpo={grpo} />}
      <RewardTable group={group} />
    </>
  );
}

/** The mean and the spread in one line, what the marks stand for, and why there may be nothing to learn. */
function Comparison({ group }: { readonly group: GroupRecord }): ReactNode {
  return (
    <div className={styles.comparison}>
      <p>
        {group.members.length === 1 ? t('group.alone') : t('group.statistics', { mean: format.fixed(group.mean, 2), std: format.fixed(group.std, 2) })}
      </p>
      <Key />
      {group.equal && group.members.length > 1 && (
        <Notice kind="note">
          {t('group.equal', { n: group.members.length, reward: format.fixed(group.mean, 2) })}
          {group.dropped && ` ${t('group.dropped')}`}
        </Notice>
      )}
    </div>
  );
}

/** The bars and lollipops in numbers. */
function RewardTable({ group }: { readonly group: GroupRecord }): ReactNode {
  return (
    <details>
      <summary>{t('group.table')}</summary>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={t('group.table')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              {(['rollout', 'answer', 'relaxed', 'strict', 'execution', 'cost', 'total', 'advantage', 'stop'] as const).map((name) => (
                <th key={name} scope="col" className={name === 'stop' ? undefined : 'figure'}>{t(`column.${name}`)}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {group.members.map(({ reward, advantage, stop }, i) => (
              <tr key={i}>
                <th scope="row" className="figure">{format.integer(i + 1)}</th>
                <td className="figure">{format.fixed(reward.answer, 2)}</td>
                <td className="figure">{format.fixed(reward.formatRelaxed, 3)}</td>
                <td className="figure">{format.fixed(reward.formatStrict, 2)}</td>
                <td className="figure">{reward.execution === null ? t('reward.leftOut') : format.fixed(reward.execution, 2)}</td>
                <td className="figure">{format.fixed(reward.callCost, 2)}</td>
                <td className="figure"><b>{format.fixed(reward.total, 3)}</b></td>
                <td className="figure">{format.signed(advantage, 3)}</td>
                <td>{t(`stop.${stop}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}
