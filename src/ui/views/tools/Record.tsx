import { useEffect, useRef, type ReactNode } from 'react';
import { observationOf } from '../../../rollout/rollout.ts';
import type { Domain } from '../../../tasks/workflow.ts';
import { format, t } from '../../text/text.ts';
import { changeWords } from './flow-text.ts';
import { Folded } from './Folded.tsx';
import { Observation } from './Observation.tsx';
import type { WalkStep } from './walk.ts';
import { WORKFLOW_TAGS, workflowTokens } from './workflow-tokens.ts';
import styles from './Record.module.css';

const idsOf = ({ result }: WalkStep): Uint32Array => observationOf(result.output, WORKFLOW_TAGS, workflowTokens);

/** The calls made so far, each with the observation that enters the context, and what it did to the state. */
export function Record({ domain, steps }: { readonly domain: Domain; readonly steps: readonly WalkStep[] }): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  // The context grows downwards: the newest call is what the person just did.
  useEffect(() => {
    list.current?.scrollTo(0, list.current.scrollHeight);
  }, [steps.length]);
  const last = steps.at(-1);
  return (
    <>
      <p className="hidden" role="status">
        {last === undefined
          ? t('tools.flow.undone', { count: 0 })
          : t('tools.flow.said', { number: steps.length, output: last.result.output, changes: changeWords(domain, last.changes) })}
      </p>
      {steps.length === 0
        ? <p className={styles.empty}>{t('tools.flow.empty')}</p>
        : (
            // A region that scrolls must be reachable by keyboard.
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            <ol ref={list} className={styles.list} tabIndex={0} aria-label={t('tools.flow.record')}>
              {steps.map((step, i) => {
                const { code, result, changes } = step;
                const ids = idsOf(step);
                return (
                  <li key={i} className={styles.call}>
                    <div className={styles.head}>
                      <b>{t('tools.flow.number', { number: i + 1 })}</b>
                      <span>{t(result.ok ? 'tools.ran' : 'tools.failed')}{result.error !== undefined && <code> {result.error.type}</code>}</span>
                      <span className={styles.count}>{t('tools.tokens', { count: ids.length })}</span>
                    </div>
                    <code className={styles.code} dir="ltr">{code}</code>
                    <Observation ids={ids} tokenizer={workflowTokens} />
                    <p className={styles.words} data-changed={changes.length > 0 || undefined}>
                      {result.error === undefined ? changeWords(domain, changes) : t(`tools.error.${result.error.type}`)}
                    </p>
                  </li>
                );
              })}
            </ol>
          )}
      <Folded title={t('tools.flow.table')}>{() => <CallTable domain={domain} steps={steps} />}</Folded>
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
