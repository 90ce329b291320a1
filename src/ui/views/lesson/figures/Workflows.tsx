import { useEffect, useMemo, type ReactNode } from 'react';
import { workflowChange } from '../../../../lesson/findings.ts';
import { PAPER_WORKFLOWS } from '../../../../lesson/recorded.ts';
import { EXAMPLE_TRIP, workflowOf } from '../../../../tasks/workflow.ts';
import { Button } from '../../../components/Button.tsx';
import { Icon } from '../../../components/Icon.tsx';
import { useShipped } from '../../../stores/evaluations.ts';
import { shownChange } from '../../../text/format.ts';
import { format, t } from '../../../text/text.ts';
import { Badge, type Source } from '../../compare/Badge.tsx';
import { Record } from '../../tools/Record.tsx';
import { StateTable } from '../../tools/StatePanel.tsx';
import { nextCall, stateAfter } from '../../tools/walk.ts';
import { wholeAt } from '../address.ts';
import { tripSteps } from '../trip.ts';
import type { FigureProps } from '../figure-props.ts';
import styles from './Figures.module.css';

const MOST = 20;

/** Correct calls and steps of the paper and of the lab, and a booking walked call by call. */
export function Workflows({ kept, onKept, onFound }: FigureProps<'workflows'>): ReactNode {
  const file = useShipped('evaluation');
  const lab = useMemo(() => {
    if (file.state !== 'ready') return undefined;
    const of = (name: string) => file.it.evaluations.find(({ suite, condition, probe }) => suite === 'workflow' && condition === name && !probe)?.workflow;
    const [before, after] = [of('prompted'), of('trained')];
    return before && after && workflowChange(before, after);
  }, [file]);
  const known = file.state !== 'loading';
  useEffect(() => {
    if (known) onFound({ paper: PAPER_WORKFLOWS, lab });
  }, [known, lab, onFound]);
  return (
    <div className={styles.stack}>
      {/* A region that scrolls must be reachable by keyboard. */}
      {/* eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} role="region" aria-label={t('lesson.workflows.table')} tabIndex={0}>
        <table>
          <thead>
            <tr>
              <td />
              <th scope="col" className="figure">{t('lesson.workflows.before')}</th>
              <th scope="col" className="figure">{t('lesson.workflows.after')}</th>
              <th scope="col" className="figure">{t('lesson.workflows.change')}</th>
              <th scope="col">{t('lesson.workflows.source')}</th>
            </tr>
          </thead>
          <tbody>
            <Row label={t('lesson.workflows.paperCalls')} change={PAPER_WORKFLOWS.calls} digits={0} source="paper" />
            <Row label={t('lesson.workflows.paperSteps')} change={PAPER_WORKFLOWS.steps} less={PAPER_WORKFLOWS.fewer} digits={0} source="chart" beside="paper" />
            {lab !== undefined && (
              <>
                <Row label={t('lesson.workflows.labCalls', { tasks: lab.tasks })} change={lab.calls} digits={0} source="recorded" />
                <Row label={t('lesson.workflows.labSteps')} change={lab.steps} digits={2} source="recorded" />
                <Row label={t('lesson.workflows.labWithin')} change={lab.within} digits={2} source="recorded" />
                <Row label={t('lesson.workflows.labAll')} change={lab.all} digits={0} source="recorded" />
                <Row label={t('lesson.workflows.labCompleted')} change={lab.completed} digits={0} source="recorded" />
              </>
            )}
          </tbody>
        </table>
      </div>
      <Trip count={wholeAt(kept.calls, 0, MOST, 0)} onCount={(count) => {
        onKept({ calls: count === 0 ? '' : String(count) });
      }} />
    </div>
  );
}

interface RowProps {
  readonly label: string;
  readonly change: readonly [before: number, after: number];
  /** The change where the source prints it; else it is computed. */
  readonly less?: number;
  readonly digits: number;
  readonly source: Source;
  /** Of a part of its numbers. */
  readonly beside?: Source;
}

function Row({ label, change: [before, after], digits, less = -shownChange(before, after, digits), source, beside }: RowProps): ReactNode {
  return (
    <tr>
      <th scope="row">{label}</th>
      <td className="figure">{format.fixed(before, digits)}</td>
      <td className="figure">{format.fixed(after, digits)}</td>
      <td className="figure"><b>{format.signed(-less, digits)}</b></td>
      <td><Badge source={source} />{beside !== undefined && <> <Badge source={beside} /></>}</td>
    </tr>
  );
}

/** The booking of the tools view, on the way that the request asks for. */
function Trip({ count, onCount }: { readonly count: number; readonly onCount: (count: number) => void }): ReactNode {
  const workflow = useMemo(() => workflowOf({ question: EXAMPLE_TRIP }), []);
  const steps = useMemo(() => tripSteps(workflow, count), [workflow, count]);
  const next = nextCall(workflow, steps);
  const last = steps.at(-1);
  return (
    <section className={styles.block} aria-labelledby="lesson-trip">
      <h3 id="lesson-trip">{t('lesson.workflows.trip')}</h3>
      <div className={styles.bar}>
        <Button kind="primary" disabled={next.kind !== 'call'} onClick={() => {
          onCount(steps.length + 1);
        }}><Icon name="step" size={16} />{t('lesson.workflows.make')}</Button>
        <Button disabled={steps.length === 0} onClick={() => {
          onCount(steps.length - 1);
        }}>{t('lesson.workflows.undo')}</Button>
        <p role="status">{next.kind === 'done' ? t('lesson.workflows.done') : last !== undefined && !last.result.ok ? t('lesson.workflows.failed') : ''}</p>
      </div>
      <div className={styles.pair}>
        <div className={styles.record}><Record domain="travel" question={EXAMPLE_TRIP} steps={steps} /></div>
        <StateTable workflow={workflow} state={stateAfter(workflow, steps)} before={last === undefined ? undefined : stateAfter(workflow, steps.slice(0, -1))} />
      </div>
    </section>
  );
}
