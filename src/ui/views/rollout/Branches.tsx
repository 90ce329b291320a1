import { memo, useEffect, type ReactNode } from 'react';
import type { ScoredTrajectory } from '../../../grpo/record.ts';
import { partsOf, type RewardPartName } from '../../../reward/score.ts';
import { Button } from '../../components/Button.tsx';
import { Icon } from '../../components/Icon.tsx';
import { format, t } from '../../text/text.ts';
import { Asked, useAsked } from '../step/Asked.tsx';
import { visible } from '../step/tokens.ts';
import { tokenizerOf } from '../step/tokenizers.ts';
import type { Task } from '../../../tasks/task.ts';
import { askKey, keepResult, removeBranch, treeOf, type Branch } from './branches.ts';
import styles from './Branches.module.css';

interface BranchesProps {
  readonly rollout: ScoredTrajectory;
  /** The rollout's number in its group. */
  readonly number: number;
  readonly branches: readonly Branch[];
  /** The branch that is looked at; undefined: the rollout. */
  readonly chosen: number | undefined;
  readonly onChoose: (branch: Branch | undefined) => void;
}

/** The rollout and all branches of it as a tree, with their rewards by part. */
export const Branches = memo(function Branches({ rollout, number, branches, chosen, onChoose }: BranchesProps): ReactNode {
  if (branches.length === 0) return null;
  const scored = [rollout, ...branches.flatMap(({ result }) => (result === undefined ? [] : [result.trajectory]))];
  const names = [...new Set(scored.flatMap(({ reward }) => partsOf(reward).map(({ name }) => name)))];
  return (
    <section className={styles.branches} aria-label={t('rollout.branches')}>
      <h2>{t('rollout.branches')}</h2>
      <p className={styles.what}>{t('rollout.branches.what')}</p>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={t('rollout.branches.table')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('rollout.branches.which')}</th>
              {names.map((name) => <th key={name} scope="col" className="figure">{t(`rollout.part.${name}`)}</th>)}
              <th scope="col" className="figure">{t('column.total')}</th>
              <th scope="col" className="figure">{t('rollout.branches.tokens')}</th>
              <th scope="col">{t('column.stop')}</th>
              <th scope="col"><span className="hidden">{t('rollout.branches.actions')}</span></th>
            </tr>
          </thead>
          <tbody>
            <tr aria-current={chosen === undefined}>
              <th scope="row"><Pick chosen={chosen === undefined} words={t('rollout.branches.root', { number })} onPick={() => {
                onChoose(undefined);
              }} /></th>
              <Earned trajectory={rollout} names={names} />
              <td />
            </tr>
            {treeOf(branches).map(({ branch, depth }) => (
              <BranchRow key={branch.id} task={rollout.task} branch={branch} depth={depth} names={names} chosen={chosen === branch.id} onChoose={onChoose} />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
});

function Pick({ chosen, words, onPick }: { readonly chosen: boolean; readonly words: string; readonly onPick: () => void }): ReactNode {
  return <button type="button" className={styles.pick} aria-current={chosen} onClick={onPick}>{words}</button>;
}

interface EarnedProps {
  readonly trajectory: ScoredTrajectory;
  readonly names: readonly RewardPartName[];
}

function Earned({ trajectory, names }: EarnedProps): ReactNode {
  const parts = partsOf(trajectory.reward);
  return (
    <>
      {names.map((name) => <td key={name} className="figure">{format.fixed(parts.find((part) => part.name === name)?.value ?? NaN, name.startsWith('format') ? 3 : 2)}</td>)}
      <td className="figure"><b>{format.fixed(trajectory.reward.total, 3)}</b></td>
      <td className="figure">{format.integer(trajectory.tokens.length)}</td>
      <td>{t(`stop.${trajectory.stop}`)}</td>
    </>
  );
}

/** What was done there, in words. */
export function branchWords({ id, inspection: { keep, insert, policy } }: Branch, task: Task): string {
  const what = insert.kind === 'token'
    ? t('rollout.branch.token', { at: keep, text: visible(tokenizerOf(task).token(insert.id)) })
    : t(`rollout.branch.${insert.kind}`, { at: keep });
  return t('rollout.branch', { id, what, policy: t(policy === 'latest' ? 'rollout.by.latest' : 'rollout.by.before') });
}

interface BranchRowProps {
  readonly task: Task;
  readonly branch: Branch;
  readonly depth: number;
  readonly names: readonly RewardPartName[];
  readonly chosen: boolean;
  readonly onChoose: (branch: Branch | undefined) => void;
}

function BranchRow({ task, branch, depth, names, chosen, onChoose }: BranchRowProps): ReactNode {
  const { id, result } = branch;
  const asking = useAsked(result === undefined ? askKey(branch) : undefined, () => branch.inspection);
  const answer = asking.answer?.state === 'ready' ? asking.answer.result : undefined;
  useEffect(() => {
    // Answers of the microscope make room for newer ones; a branch stays.
    if (answer !== undefined) keepResult(id, answer);
  }, [id, answer]);
  const words = branchWords(branch, task);
  const failed = result?.trajectory.calls.filter(({ ok }) => !ok) ?? [];
  return (
    <tr aria-current={chosen}>
      <th scope="row">
        <span className={styles.twig} style={{ paddingInlineStart: 20 * (depth - 1) }}>
          <span aria-hidden="true">{t('rollout.branch.mark')}</span>
          <Pick chosen={chosen} words={words} onPick={() => {
            onChoose(branch);
          }} />
        </span>
        {failed.map((call, i) => (
          <p key={i} className={styles.failed}>{t('rollout.branch.said', { output: call.output })}</p>
        ))}
      </th>
      {result === undefined
        ? <td colSpan={names.length + 3}><Asked line asking={asking} what={t('rollout.branch.short', { id })}>{() => null}</Asked></td>
        : <Earned trajectory={result.trajectory} names={names} />}
      <td>
        <Button kind="quiet" aria-label={t('rollout.branch.remove', { id })} onClick={() => {
          if (chosen) onChoose(undefined);
          removeBranch(id);
        }}><Icon name="cross" size={14} /></Button>
      </td>
    </tr>
  );
}
