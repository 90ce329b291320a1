import type { ReactNode } from 'react';
import { mostOf, partsOf } from '../../../reward/score.ts';
import type { State, Workflow } from '../../../tasks/workflow.ts';
import { beginState } from '../../../tools/workflow/workflow.ts';
import { Button } from '../../components/Button.tsx';
import { format, t } from '../../text/text.ts';
import { keyWords, valueWords } from './flow-text.ts';
import { workflowTokens } from './workflow-tokens.ts';
import { rewardOf, standing, stateAfter, type WalkStep } from './walk.ts';
import styles from './StatePanel.module.css';

interface StatePanelProps {
  readonly question: string;
  readonly workflow: Workflow;
  readonly steps: readonly WalkStep[];
  /** The person asked, and has made no call since. */
  readonly checked: boolean;
  readonly onCheck: () => void;
}

/** The state beside the calls, what the last of them changed, and on demand how near the goal is. */
export function StatePanel({ question, workflow, steps, checked, onCheck }: StatePanelProps): ReactNode {
  const last = steps.at(-1);
  const state = stateAfter(workflow, steps);
  const now = standing(workflow, steps);
  // A goal that was reached by what the person just did needs no asking; one that stood there from the start does.
  const shown = checked || (now.reached && last !== undefined && last.changes.length > 0);
  return (
    <>
      <p className={styles.muted}>{last === undefined ? t('tools.flow.state.before') : t('tools.flow.state.after', { number: steps.length })}</p>
      <StateTable workflow={workflow} state={state} before={last === undefined ? undefined : stateAfter(workflow, steps.slice(0, -1))} />
      <div className={styles.check}>
        <Button onClick={onCheck}>{t('tools.flow.check')}</Button>
        <div className={styles.verdict} role="status">
          {shown && <p><b>{t(now.reached ? (now.functions.matched === now.functions.total ? 'tools.flow.reached.all' : 'tools.flow.reached') : 'tools.flow.notReached')}</b></p>}
          {!shown && <p className={styles.muted}>{t('tools.flow.check.what')}</p>}
        </div>
      </div>
      {shown && <Reward question={question} steps={steps} now={now} />}
    </>
  );
}

export function StateTable({ workflow, state, before }: { readonly workflow: Workflow; readonly state: State; readonly before: State | undefined }): ReactNode {
  return (
    <table className={styles.state}>
      <thead>
        <tr>
          <th scope="col">{t('tools.flow.entry')}</th>
          <th scope="col" className="figure">{t('tools.flow.was')}</th>
          <th scope="col" className="figure">{t('tools.flow.is')}</th>
        </tr>
      </thead>
      <tbody>
        {Object.keys(beginState(workflow)).map((key) => {
          const value = state[key] ?? null;
          const was = before?.[key] ?? null;
          const changed = before !== undefined && was !== value;
          return (
            <tr key={key} data-changed={changed || undefined}>
              <th scope="row">{keyWords(workflow.domain, key)}</th>
              <td className="figure">{changed ? valueWords(key, was) : ''}</td>
              <td className="figure">
                {changed && <><span className={styles.mark} aria-hidden="true">●</span><span className="hidden">{t('tools.flow.marked')}: </span></>}
                {valueWords(key, value)}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

type Counted = Pick<ReturnType<typeof standing>, 'state' | 'functions'>;

/** By part, as training would reward these calls; what needs a policy's tokens is said in words. */
function Reward({ question, steps, now }: { readonly question: string; readonly steps: readonly WalkStep[]; readonly now: Counted }): ReactNode {
  const reward = rewardOf(question, steps, workflowTokens);
  const number = (value: number): string => format.fixed(value, 3);
  return (
    <div className={styles.reward}>
      <table>
        <caption>{t('tools.flow.reward')}</caption>
        <thead>
          <tr>
            <th scope="col">{t('tools.flow.part')}</th>
            <th scope="col" className="figure">{t('tools.flow.of')}</th>
            <th scope="col" className="figure">{t('tools.flow.value')}</th>
            <th scope="col" className="figure">{t('tools.flow.most.column')}</th>
          </tr>
        </thead>
        <tbody>
          {partsOf(reward).map(({ name, value, most }) => (name === 'state' || name === 'functions') && (
            <tr key={name}>
              <th scope="row">{t(`tools.flow.part.${name}`)}</th>
              <td className="figure">{t('tools.flow.matched', now[name])}</td>
              <td className="figure">{number(value)}</td>
              <td className="figure">{number(most)}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">{t('tools.flow.part.format')}</th>
            <td className="figure">{t('tools.none')}</td>
            <td className="figure">{t('tools.none')}</td>
            <td className="figure">{number(partsOf(reward).reduce((sum, { name, most }) => sum + (name.startsWith('format') ? most : 0), 0))}</td>
          </tr>
          <tr>
            <th scope="row">{t('tools.flow.part.total')}</th>
            <td />
            <td className="figure"><b>{number(reward.total)}</b></td>
            <td className="figure">{number(mostOf(reward))}</td>
          </tr>
        </tbody>
      </table>
      <p className={styles.badge}>{t('tools.flow.rule')}</p>
      <p className={styles.muted}>{t('tools.flow.format')}</p>
      <p className={styles.muted}>{t('tools.flow.counts')}</p>
    </div>
  );
}
