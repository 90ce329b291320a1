import { useId, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { workflowOf, type Domain } from '../../../tasks/workflow.ts';
import { functionsOf, toolSchemas } from '../../../tools/workflow/workflow.ts';
import { Button } from '../../components/Button.tsx';
import { useKeys } from '../../keys.ts';
import { navigate } from '../../routes.ts';
import { t } from '../../text/text.ts';
import { CallForm, draftOf, type CallDraft } from './CallForm.tsx';
import { Copy } from '../../components/Copy.tsx';
import { Folded } from '../../components/Folded.tsx';
import { MOST_CALLS, questionAt, toolsAddress, type ToolsPlace } from './place.ts';
import { Record } from './Record.tsx';
import { StatePanel } from './StatePanel.tsx';
import { idsSeen, nextCall, walk, type Next } from './walk.ts';
import styles from './FlowPart.module.css';

/** A workflow task walked by hand: the functions are pure, so they answer in the page. */
export function FlowPart({ place, domain }: { readonly place: ToolsPlace; readonly domain: Domain }): ReactNode {
  const id = useId();
  const question = questionAt(place, domain);
  const workflow = useMemo(() => workflowOf({ question }), [question]);
  const functions = functionsOf(domain);
  const { calls } = place;
  const steps = useMemo(() => walk(workflow, calls), [workflow, calls]);
  const [first] = functions;
  const [draft, setDraft] = useState<CallDraft>(() => (first === undefined ? { name: '', values: {}, text: '' } : draftOf(first)));
  // Said of the place at which it was asked; any call or other task ends it.
  const here = JSON.stringify([question, calls]);
  const [checkedAt, setCheckedAt] = useState<string>();
  const [way, setWay] = useState<{ readonly at: string; readonly next: Next }>();
  const go = (next: readonly string[]): void => {
    navigate(toolsAddress({ ...place, code: undefined, calls: next }), { replace: true });
  };
  const full = calls.length >= MOST_CALLS;
  const act = {
    undo: () => {
      if (calls.length > 0) go(calls.slice(0, -1));
    },
    way: () => {
      const next = nextCall(workflow, steps);
      setWay({ at: here, next });
      if (next.kind !== 'call') return;
      const { name, args } = next.call;
      const signature = functions.find((f) => f.name === name);
      if (signature !== undefined) setDraft(draftOf(signature, { ...draft.values, [name]: Object.fromEntries(Object.entries(args).map(([key, value]) => [key, String(value)])) }));
    },
    check: () => {
      setCheckedAt(here);
    },
  };
  useFlowKeys(act);
  return (
    <>
      <div className={styles.flow}>
        <section className={styles.ask} aria-labelledby={`${id}-request`}>
          <h2 id={`${id}-request`}>{t('tools.flow.request')}</h2>
          <p className={styles.question}>{question}</p>
          <p className={styles.muted}>{t('tools.flow.request.what')}</p>
          <h3>{t('tools.flow.call')}</h3>
          <CallForm functions={functions} draft={draft} seen={(letter) => idsSeen(steps, letter)} full={full} onDraft={setDraft} onCall={(code) => {
            go([...calls, code]);
          }} />
          <div className={styles.bar}>
            <Button disabled={calls.length === 0} aria-keyshortcuts="u" onClick={act.undo}>{t('tools.flow.undo')}</Button>
            <Button disabled={calls.length === 0} onClick={() => {
              go([]);
            }}>{t('tools.flow.again')}</Button>
            <Button kind="quiet" aria-keyshortcuts="w" onClick={act.way}>{t('tools.flow.way')}</Button>
          </div>
          <p className={styles.way} role="status">
            {full ? t('tools.flow.most', { most: MOST_CALLS }) : way !== undefined && way.at === here ? t(`tools.flow.way.${way.next.kind}`) : ''}
          </p>
        </section>
        <section className={styles.record} aria-labelledby={`${id}-record`}>
          <h2 id={`${id}-record`}>{t('tools.flow.record')}</h2>
          <Record domain={domain} question={question} steps={steps} />
        </section>
        <section className={styles.state} aria-labelledby={`${id}-state`}>
          <h2 id={`${id}-state`}>{t('tools.flow.state')}</h2>
          <StatePanel question={question} workflow={workflow} steps={steps} checked={checkedAt === here} onCheck={act.check} />
        </section>
      </div>
      <Schemas domain={domain} />
    </>
  );
}

interface Actions {
  readonly undo: () => void;
  readonly way: () => void;
  readonly check: () => void;
}

function useFlowKeys(actions: Actions): void {
  const latest = useRef(actions);
  useLayoutEffect(() => {
    latest.current = actions;
  });
  useKeys(useMemo(() => [
    { keys: ['Enter'], label: t('keys.tools.make') },
    { keys: ['u'], label: t('keys.tools.undo'), run: () => {
      latest.current.undo();
    } },
    { keys: ['w'], label: t('keys.tools.way'), run: () => {
      latest.current.way();
    } },
    { keys: ['g'], label: t('keys.tools.check'), run: () => {
      latest.current.check();
    } },
  ], []));
}

function Schemas({ domain }: { readonly domain: Domain }): ReactNode {
  const id = useId();
  const text = useMemo(() => JSON.stringify(toolSchemas(domain), null, 2), [domain]);
  return (
    <section className={styles.schemas} aria-labelledby={id}>
      <h2 id={id}>{t('tools.schema')}</h2>
      <div className={styles.bar}>
        <p className={styles.what}>{t('tools.schema.what', { count: functionsOf(domain).length })}</p>
        <Copy text={text} />
      </div>
      <Folded title={t('tools.schema.show')}>{() => <pre className={styles.schema} dir="ltr">{text}</pre>}</Folded>
    </section>
  );
}
