import { useId, useMemo, useRef, type ReactNode } from 'react';
import { observationOf } from '../../../rollout/rollout.ts';
import { tagsOf } from '../../../rollout/trajectory.ts';
import { NO_OUTPUT, PERSON_LIMITS, TOY_LIMITS, type PythonResult } from '../../../tools/python/python.ts';
import type { Inspection } from '../../../lab/inspection.ts';
import { Button } from '../../components/Button.tsx';
import { Notice } from '../../components/Notice.tsx';
import { useKeys } from '../../keys.ts';
import { navigate } from '../../routes.ts';
import { useLab } from '../../stores/lab.ts';
import { ask, useAnswer } from '../../stores/microscope.ts';
import { format, t } from '../../text/text.ts';
import { Asked, useAsked, type Asking } from '../step/Asked.tsx';
import { characters as tokenizer } from '../step/tokenizers.ts';
import { Folded } from '../../components/Folded.tsx';
import { LIMITS, type LimitExample, type LimitName } from './limits.ts';
import { ContextTokens, TokenTable } from './Observation.tsx';
import { toolsAddress } from './place.ts';
import { makeCalls, useDraftCode, useHandCalls, writeDraft, type HandCall } from './python-calls.ts';
import styles from './PythonPart.module.css';

type PythonCall = Extract<Inspection, { kind: 'python' }>;

const TAGS = tagsOf(tokenizer);
const keyOf = (call: HandCall, limits: PythonCall['limits']): string => `tools/${limits}/${call.number}`;
const inspectionOf = (call: HandCall, limits: PythonCall['limits']): PythonCall => ({ kind: 'python', code: call.code, limits });

/** The sandbox alone: a call, and the exact observation that would enter the context. */
export function PythonPart({ linked }: { readonly linked: string | undefined }): ReactNode {
  const id = useId();
  const code = useDraftCode(linked);
  const calls = useHandCalls();
  const result = useRef<HTMLDivElement>(null);
  const python = useLab((s) => s.python);
  const open = useLab((s) => s.connection === 'open');
  const call = calls.at(-1);
  const asking = useAsked(call && keyOf(call, 'rollout'), () => inspectionOf(call ?? { number: 0, code: '' }, 'rollout'));
  const here = asking.answer?.state === 'ready' ? asking.answer.result.result : undefined;
  // What the policy would read comes first; the same call with more room follows.
  const full = useAsked(call && here && keyOf(call, 'person'), () => inspectionOf(call ?? { number: 0, code: '' }, 'person'));
  const waiting = asking.answer?.state === 'waiting';
  const ready = open && python.state !== 'failed' && !waiting;
  const run = (text: string, before?: string): void => {
    if (!ready || text.trim() === '') return;
    const made = makeCalls(before === undefined ? [text] : [before, text]);
    // The last one is asked for by being shown.
    for (const earlier of made.slice(0, -1)) ask(keyOf(earlier, 'rollout'), inspectionOf(earlier, 'rollout'));
    writeDraft(text, text);
    navigate(toolsAddress({ code: text }), { replace: true });
    result.current?.scrollIntoView({ block: 'nearest' });
  };
  useKeys(useMemo(() => [{ keys: ['Ctrl+Enter'], label: t('keys.tools.run') }], []));
  return (
    <div className={styles.python}>
      <form className={styles.editor} onSubmit={(event) => {
        event.preventDefault();
        run(code);
      }}>
        <label htmlFor={id} className={styles.label}>{t('tools.python.code')}</label>
        <textarea
          id={id} className={styles.code} dir="ltr" rows={5} spellCheck={false} autoCapitalize="off" autoComplete="off" value={code} aria-describedby={`${id}-keys`}
          onChange={(event) => {
            writeDraft(event.target.value, linked);
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            run(code);
          }}
        />
        <div className={styles.bar}>
          <Button kind="primary" type="submit" disabled={!ready || code.trim() === ''}>{t('tools.python.run')}</Button>
          <p id={`${id}-keys`} className={styles.muted}>{t('tools.python.keys')}</p>
        </div>
        <Readiness />
      </form>
      <section className={styles.result} aria-labelledby={`${id}-enters`}>
        <h2 id={`${id}-enters`}>{t('tools.python.enters')}</h2>
        <div ref={result} className={styles.enters}>
          {call === undefined
            ? <p className={styles.muted}>{t('tools.python.empty')}</p>
            : <Answered asking={asking} what={t('tools.python.asked')}>{(it) => <Enters result={it} full={full.answer?.state === 'ready' ? full.answer.result.result : undefined} />}</Answered>}
        </div>
        <h3>{t('tools.python.full')}</h3>
        <div className={styles.full}>
          {here === undefined
            ? <p className={styles.muted}>{t('tools.python.fullEmpty')}</p>
            : (
                <Answered asking={full} what={t('tools.python.askedFull')}>{(it) => (
                  // A region that scrolls must be reachable by keyboard.
                  // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
                  <pre className={styles.printed} dir="ltr" tabIndex={0} role="region" aria-label={t('tools.python.full')}>{it.output}</pre>
                )}</Answered>
              )}
        </div>
        <Facts rollout={here} person={full.answer?.state === 'ready' ? full.answer.result.result : undefined} />
        {here !== undefined && <Folded title={t('tools.tokenTable')}>{() => <TokenTable ids={observationOf(here.output, TAGS, tokenizer)} tokenizer={tokenizer} />}</Folded>}
        {calls.length > 1 && <Earlier calls={calls} />}
      </section>
      <section className={styles.limits} aria-labelledby={`${id}-limits`}>
        <h2 id={`${id}-limits`}>{t('tools.python.limits')}</h2>
        <ul className={styles.list}>
          {LIMITS.map((limit: LimitExample & { readonly name: LimitName }) => {
            const missing = limit.needsSymPy === true && python.state === 'ready' && python.info.sympy === undefined;
            return (
              <li key={limit.name}>
                <Button aria-label={t('tools.python.try', { name: t(`tools.limit.${limit.name}`) })} disabled={!ready || missing} onClick={() => {
                  run(limit.code, limit.before);
                }}>{t(`tools.limit.${limit.name}`)}</Button>
                <span>{t(missing ? 'tools.limit.sympy.without' : `tools.limit.${limit.name}.what`)}</span>
              </li>
            );
          })}
        </ul>
      </section>
    </div>
  );
}

function Readiness(): ReactNode {
  const python = useLab((s) => s.python);
  const failed = useLab((s) => s.connection === 'failed' || s.connection === 'other-version');
  if (failed) return <Notice kind="fault">{t('tools.python.noLab')}</Notice>;
  if (python.state === 'failed') return <Notice kind="fault" detail={python.message}>{t('tools.python.unavailable')}</Notice>;
  return <p className={styles.muted} role="status">{python.state === 'loading' ? t('tools.python.loading') : t('tools.python.ready', python.info)}</p>;
}

/** As `Asked`, but a call that failed to be made is made again by running it. */
function Answered({ asking, what, children }: { readonly asking: Asking<'python'>; readonly what: string; readonly children: (result: PythonResult) => ReactNode }): ReactNode {
  if (asking.answer?.state === 'failed') return <Notice kind="fault" detail={asking.answer.message}>{t('tools.python.notRun')}</Notice>;
  return <Asked asking={asking} what={what}>{({ result }) => children(result)}</Asked>;
}

function Enters({ result, full }: { readonly result: PythonResult; readonly full: PythonResult | undefined }): ReactNode {
  const ids = observationOf(result.output, TAGS, tokenizer);
  const over = full === undefined || full.truncated || !full.ok ? 0 : full.output.length - result.output.length;
  const notes = [
    t('tools.python.mask'),
    result.truncated && t('tools.python.cut', { most: TOY_LIMITS.outputCharacters, over: over > 0 ? t('tools.python.cutOver', { count: over }) : '' }),
    result.error?.kind === 'timeout' && full?.ok === true && t('tools.python.slow'),
    result.ok && result.output === NO_OUTPUT && t('tools.python.silent'),
    tokenizer.specials.some((tag) => result.output.includes(tag)) && t('tools.python.tag'),
    tokenizer.decode(tokenizer.encodePlain(result.output)) !== result.output && t('tools.python.unknown'),
  ];
  return (
    <>
      <ContextTokens ids={ids} tokenizer={tokenizer} kind="output" />
      <p className={styles.notes} role="status">
        <b>{t(result.ok ? 'tools.ran' : 'tools.failed')}</b> {format.sentences(notes.filter((note) => note !== false))}
      </p>
    </>
  );
}

interface FactsProps {
  readonly rollout: PythonResult | undefined;
  readonly person: PythonResult | undefined;
}

/** What came of the call under either set of limits, beside the limits. As high before the call as after it. */
function Facts({ rollout, person }: FactsProps): ReactNode {
  const both = (value: (result: PythonResult) => string | undefined): readonly string[] =>
    [rollout, person].map((result) => (result && value(result)) ?? t('tools.none'));
  const seconds = (value: number): string => t(value < 0.001 ? 'tools.python.less' : 'tools.python.seconds', { seconds: format.fixed(Math.max(value, 0.001), 3) });
  const limits = [TOY_LIMITS, PERSON_LIMITS];
  const rows: readonly (readonly [string, readonly string[]])[] = [
    [t('tools.python.outcome'), both(({ ok }) => t(ok ? 'tools.ran' : 'tools.failed'))],
    [t('tools.python.kind'), both(({ error }) => error && t(`tools.python.kind.${error.kind}`))],
    [t('tools.python.type'), both(({ error }) => error?.type)],
    [t('tools.python.time'), both((result) => seconds(result.seconds))],
    [t('tools.python.mostTime'), limits.map((limit) => seconds(limit.seconds))],
    [t('tools.python.characters'), both(({ output }) => format.integer(Array.from(output).length))],
    [t('tools.python.mostCharacters'), limits.map((limit) => format.integer(limit.outputCharacters))],
    [t('tools.python.mostMemory'), limits.map((limit) => t('tools.python.megabytes', { megabytes: limit.memoryMegabytes }))],
    [t('tools.python.inContext'), [rollout === undefined ? t('tools.none') : format.integer(observationOf(rollout.output, TAGS, tokenizer).length), t('tools.none')]],
  ];
  return (
    <table className={styles.facts}>
      <caption>{t('tools.python.facts')}</caption>
      <thead>
        <tr>
          <th scope="col">{t('tools.python.fact')}</th>
          <th scope="col" className="figure">{t('tools.python.inRollout')}</th>
          <th scope="col" className="figure">{t('tools.python.byHand')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, values]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {values.map((value, i) => <td key={i} className="figure">{value}</td>)}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Earlier({ calls }: { readonly calls: readonly HandCall[] }): ReactNode {
  return (
    <div className={styles.earlier}>
      <h3>{t('tools.python.earlier')}</h3>
      <p className={styles.muted}>{t('tools.python.apart')}</p>
      <div className={styles.scroll}>
        <table>
          <thead>
            <tr>
              <th scope="col" className="figure">{t('tools.flow.column.number')}</th>
              <th scope="col">{t('tools.python.call')}</th>
              <th scope="col">{t('tools.python.outcome')}</th>
              <th scope="col">{t('tools.python.observed')}</th>
            </tr>
          </thead>
          <tbody>
            {calls.map((call) => <EarlierRow key={call.number} call={call} />)}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function EarlierRow({ call }: { readonly call: HandCall }): ReactNode {
  const answer = useAnswer<'python'>(keyOf(call, 'rollout'));
  const result = answer?.state === 'ready' ? answer.result.result : undefined;
  return (
    <tr>
      <th scope="row" className="figure">{format.integer(call.number)}</th>
      <td><code className={styles.line} dir="ltr">{call.code.split('\n').join(' ⏎ ')}</code></td>
      <td>{result === undefined ? t(answer?.state === 'waiting' ? 'tools.python.waiting' : 'tools.none') : t(result.ok ? 'tools.ran' : 'tools.failed')}</td>
      <td><code className={styles.line} dir="ltr">{result?.output ?? ''}</code></td>
    </tr>
  );
}
