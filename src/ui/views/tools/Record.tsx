import { useEffect, useRef, type ReactNode } from 'react';
import { observationOf, promptOf } from '../../../rollout/rollout.ts';
import { workflowTask, type Domain } from '../../../tasks/workflow.ts';
import { format, t } from '../../text/text.ts';
import { changeWords } from './flow-text.ts';
import { Folded } from '../../components/Folded.tsx';
import { ContextTokens } from './Observation.tsx';
import type { WalkStep } from './walk.ts';
import { WORKFLOW_TAGS, workflowTokens } from './workflow-tokens.ts';
import styles from './Record.module.css';

const idsOf = ({ result }: WalkStep): Uint32Array => observationOf(result.output, WORKFLOW_TAGS, workflowTokens);

interface RecordProps {
  readonly domain: Domain;
  readonly question: string;
  readonly steps: readonly WalkStep[];
}

/** The context as it grows: the request, then each call with its observation and what it did to the state. */
export function Record({ domain, question, steps }: RecordProps): ReactNode {
  const newest = useRef<HTMLLIElement>(null);
  const before = useRef(steps.length);
  useEffect(() => {
    // What the person just did is looked at; what a link brought is read from its beginning.
    if (steps.length > before.current) newest.current?.scrollIntoView({ block: 'nearest' });
    before.current = steps.length;
  }, [steps.length]);
  const last = steps.at(-1);
  const prompt = promptOf(workflowTask(question), workflowTokens);
  return (
    <>
      <p className="hidden" role="status">
        {last === undefined
          ? t('tools.flow.undone', { count: 0 })
          : t('tools.flow.said', { number: steps.length, output: last.result.output, changes: changeWords(domain, last.changes) })}
      </p>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <ol className={styles.list} tabIndex={0} aria-label={t('tools.flow.record')}>
        <li className={styles.call}>
          <div className={styles.head}>
            <b>{t('tools.flow.prompt')}</b>
            <span className={styles.count}>{t('tools.tokens', { count: prompt.length })}</span>
          </div>
          <ContextTokens ids={prompt} tokenizer={workflowTokens} kind="prompt" />
        </li>
        {steps.map((step, i) => {
          const { code, result, changes } = step;
          const ids = idsOf(step);
          return (
            <li key={i} ref={i === steps.length - 1 ? newest : undefined} className={styles.call}>
              <div className={styles.head}>
                <b>{t('tools.flow.number', { number: i + 1 })}</b>
                <span>{t(result.ok ? 'tools.ran' : 'tools.failed')}{result.error !== undefined && <code> {result.error.type}</code>}</span>
                <span className={styles.count}>{t('tools.tokens', { count: ids.length })}</span>
              </div>
              <code className={styles.code} dir="ltr">{code}</code>
              <ContextTokens ids={ids} tokenizer={workflowTokens} kind="output" />
              <p className={styles.words} data-changed={changes.length > 0 || undefined}>
                {result.error === undefined ? changeWords(domain, changes) : t(`tools.error.${result.error.type}`)}
              </p>
            </li>
          );
        })}
      </ol>
      {steps.length === 0 && <p className={styles.empty}>{t('tools.flow.empty')}</p>}
      {steps.length > 0 && <Folded title={t('tools.flow.table')}>{() => <CallTable domain={domain} steps={steps} />}</Folded>}
    </>
  );
}

function CallTable({ domain, steps }: { readonly domain: Domain; readonly steps: readonly WalkStep[] }): ReactNode {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col" className="figure">{t('tools.flow.column.number')}</th>
          <th scope="col">{t('tools.flow.column.code')}</th>
          <th scope="col">{t('tools.flow.column.outcome')}</th>
          <th scope="col">{t('tools.flow.column.error')}</th>
          <th scope="col">{t('tools.flow.column.output')}</th>
          <th scope="col" className="figure">{t('tools.flow.column.tokens')}</th>
          <th scope="col">{t('tools.flow.column.changes')}</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step, i) => (
          <tr key={i}>
            <th scope="row" className="figure">{format.integer(i + 1)}</th>
            <td><code dir="ltr">{step.code}</code></td>
            <td>{t(step.result.ok ? 'tools.ran' : 'tools.failed')}</td>
            <td>{step.result.error?.type ?? t('tools.none')}</td>
            <td><code dir="ltr">{step.result.output}</code></td>
            <td className="figure">{format.integer(idsOf(step).length)}</td>
            <td>{changeWords(domain, step.changes)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
