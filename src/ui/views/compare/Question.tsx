import { useEffect, useMemo, useRef, useState, type KeyboardEvent, type MouseEvent, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { ChoiceField } from '../../components/ChoiceField.tsx';
import { Icon } from '../../components/Icon.tsx';
import { Notice } from '../../components/Notice.tsx';
import { SwitchField } from '../../components/SwitchField.tsx';
import { SHIPPED } from '../../../evaluation/conditions.ts';
import type { ScoredTrajectory } from '../../../grpo/record.ts';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import { isWorkflow } from '../../../lab/suite-settings.ts';
import { suiteOf } from '../../../lab/suites.ts';
import type { TokenScores } from '../../../policy/engine.ts';
import { POLICY, PROMPT } from '../../../rollout/trajectory.ts';
import { drawTasks } from '../../../tasks/task.ts';
import { useKeys } from '../../keys.ts';
import { useMissingModels } from '../../stores/evaluations.ts';
import { useRuns } from '../../stores/histories.ts';
import { useLab } from '../../stores/lab.ts';
import { useTheme } from '../../stores/theme.ts';
import { format, t } from '../../text/text.ts';
import { Asked, useAsked } from '../step/Asked.tsx';
import { Legend } from '../step/SignalBar.tsx';
import { tokenizerOf } from '../step/tokenizers.ts';
import { TokenStrip, type SignalPaint } from '../step/TokenStrip.tsx';
import { signalScale, spanAt, visible } from '../step/tokens.ts';
import { parsePolicy, policyId, type CompareAddress, type Policy } from './address.ts';
import { Badge } from './Badge.tsx';
import { asTrained, deltaOf, logProbOf, sharedTokens, walk } from './divergence.ts';
import { Part } from './Part.tsx';
import { policyName, policyOf, suiteLabel } from './policies.ts';
import { PolicyField } from './PolicyField.tsx';
import { SegmentField } from './SegmentField.tsx';
import styles from './Question.module.css';

interface ViewProps {
  readonly address: CompareAddress;
  readonly go: (to: Partial<CompareAddress>) => void;
}

/** Keeps questions of this figure apart from those of evaluations and training steps. */
const STREAM = 0x9a1;

const SUITES = Object.keys(SHIPPED);

/** One held-out question, answered by two policies; each then reads what the other wrote. */
export function Question({ address, go }: ViewProps): ReactNode {
  const { tier, draw, seed, greedy } = address;
  const { suite } = address;
  const a = address.a ?? policyId(policyOf(suite, 'prompted'));
  const b = address.b ?? policyId(policyOf(suite, 'trained'));
  const engine = useLab((s) => s.engine?.info.kind);
  const runs = useRuns();
  const { tiers } = suiteOf(suite);
  const asked = tiers.find((each) => each === tier) ?? tiers[0] ?? 1;
  const task = useMemo(() => drawTasks(suiteOf(suite), 1, 'held-out', draw, STREAM, [asked])[0], [suite, asked, draw]);
  const [policyA, policyB] = [parsePolicy(a), parsePolicy(b)];
  const missing = useMissingModels([policyA, policyB].flatMap((policy) => (policy !== undefined && 'model' in policy.source ? [policy.source.model] : [])));
  const go1 = address.go && missing?.length === 0 && task !== undefined;
  const key = (id: string): string | undefined => (go1 ? `answer/${engine ?? ''}/${id}/${task.suite}/${task.id}/${seed}/${greedy}` : undefined);
  const make = (policy: Policy | undefined) => () => {
    if (policy === undefined || task === undefined) throw new Error('nothing was asked');
    return { kind: 'answer', policy: policy.source, access: policy.access, task, temperature: greedy ? 0 : 1, seed } as const;
  };
  const askA = useAsked(key(a), make(policyA));
  const askB = useAsked(key(b), make(policyB));
  const names = [t('compare.a.named', { name: policyName(a, suite, runs) }), t('compare.b.named', { name: policyName(b, suite, runs) })] as const;
  return (
    <Part
      labels={{ controls: t('question.setup'), settings: t('compare.settings'), figure: t('question.figure') }}
      controls={<>
        <p className={styles.question}>
          <span className={styles.label}>{t('question.drawn', { tier: asked })}</span>
          <code className={styles.task}>{task?.question}</code>
          <span className={styles.answer}>{isWorkflow(suite) ? t('question.goal', { goal: task?.answer ?? '' }) : t('question.answer', { answer: task?.answer ?? '' })}</span>
        </p>
        <div className={styles.buttons}>
          <Button kind="primary" disabled={address.go || missing === undefined || missing.length > 0} onClick={() => {
            go({ go: true });
          }}><Icon name="play" size={16} />{t('question.ask')}</Button>
          <Button onClick={() => {
            go({ draw: draw + 1, token: undefined });
          }}><Icon name="next" size={16} />{t('question.next')}</Button>
        </div>
        {missing?.map((name) => <Notice key={name} kind="note">{t('evaluate.missing', { name })}</Notice>)}
      </>}
      settings={<>
        <PolicyField label={t('compare.a')} suite={suite} value={a} onChange={(id) => {
          go({ a: id, token: undefined });
        }} />
        <PolicyField label={t('compare.b')} suite={suite} value={b} onChange={(id) => {
          go({ b: id, token: undefined });
        }} />
        <div>
          <ChoiceField label={t('evaluate.suite')} hint={t('evaluate.suite.what')} value={suite} onChange={(value) => {
            go({ suite: value, a: undefined, b: undefined, token: undefined });
          }} items={SUITES.map((value) => ({ value, label: suiteLabel(value) }))} />
          <SegmentField label={t('question.tier')} hint={t('question.tier.what')} value={asked} values={tiers} onChange={(value) => {
            go({ tier: value, token: undefined });
          }} />
          <SwitchField label={t('evaluate.greedy')} hint={t('question.greedy.what')} value={greedy} onChange={(value) => {
            go({ greedy: value, token: undefined });
          }} />
        </div>
      </>}
    >
      {!address.go || missing === undefined || missing.length > 0
        ? <p className={styles.idle}>{t('question.idle')}</p>
        : (
            <Asked asking={askA} what={t('question.writing', { name: names[0] })}>
              {({ trajectory: textA }) => (
                <Asked asking={askB} what={t('question.writing', { name: names[1] })}>
                  {({ trajectory: textB }) => (
                    <Texts texts={[textA, textB]} names={names} ids={[a, b]} policies={[policyA, policyB]} engine={engine} address={address} go={go} />
                  )}
                </Asked>
              )}
            </Asked>
          )}
    </Part>
  );
}

type Two<T> = readonly [T, T];

interface TextsProps extends ViewProps {
  readonly texts: Two<ScoredTrajectory>;
  readonly names: Two<string>;
  readonly ids: Two<string>;
  readonly policies: Two<Policy | undefined>;
  readonly engine: 'webgpu' | 'cpu' | undefined;
}

/** Both texts, the place where they part, and both policies' log-probs on both. */
function Texts({ texts, names, ids, policies, engine, address, go }: TextsProps): ReactNode {
  const rows = [texts[0].tokens, texts[1].tokens];
  const key = (id: string): string => `read/${engine ?? ''}/${id}/${rows.map((row) => row.join(',')).join('/')}`;
  const make = (policy: Policy | undefined) => () => {
    if (policy === undefined) throw new Error('nothing was asked');
    return { kind: 'read', policy: policy.source, rows } as const;
  };
  const readA = useAsked(key(ids[0]), make(policies[0]));
  const readB = useAsked(key(ids[1]), make(policies[1]));
  const scores = readA.answer?.state === 'ready' && readB.answer?.state === 'ready' ? [readA.answer.result.rows, readB.answer.result.rows] as const : undefined;
  return (
    <>
      <Read texts={texts} names={names} scores={scores} engine={engine} address={address} go={go} />
      {scores === undefined && (
        <Asked asking={readA} what={t('question.reading', { name: names[0] })}>
          {() => <Asked asking={readB} what={t('question.reading', { name: names[1] })}>{() => null}</Asked>}
        </Asked>
      )}
    </>
  );
}

interface ReadProps extends ViewProps {
  readonly texts: Two<ScoredTrajectory>;
  readonly names: Two<string>;
  /** By policy, then by text. */
  readonly scores: Two<readonly TokenScores[]> | undefined;
  readonly engine: 'webgpu' | 'cpu' | undefined;
}

const TEXTS = ['a', 'b'] as const;
const NO_SCORES = { logProbs: new Float32Array() };

function Read({ texts, names, scores, engine, address, go }: ReadProps): ReactNode {
  const { theme } = useTheme();
  const grid = useRef<HTMLDivElement>(null);
  const [preview, setPreview] = useState<{ readonly text: number; readonly token: number }>();
  const drawn = useMemo(() => [asTrained(texts[0]), asTrained(texts[1])] as const, [texts[0], texts[1]]); // eslint-disable-line react-hooks/exhaustive-deps -- the pair is made anew with each drawing, its members are not
  const shared = sharedTokens(texts[0].tokens, texts[1].tokens);
  const same = shared === texts[0].tokens.length && shared === texts[1].tokens.length;
  const marks = useMemo(() => (same ? undefined : { shared }), [same, shared]);
  const paint = useMemo((): SignalPaint | undefined => {
    if (scores === undefined) return undefined;
    const delta = new Map(drawn.map((text, i) => [text, deltaOf(text, scores[i]?.[i] ?? NO_SCORES, scores[1 - i]?.[i] ?? NO_SCORES)]));
    const scale = signalScale(drawn, 'delta', DEFAULT_GRPO, delta);
    return scale && { signal: 'delta', scale, theme, grpo: DEFAULT_GRPO, delta };
  }, [drawn, scores, theme]);
  const at = address.text === 'b' ? 1 : 0;
  const { token } = address;
  useKeys(useMemo(() => [
    { keys: ['ArrowLeft', 'ArrowRight'], label: t('group.keys.tokens') },
    { keys: ['ArrowUp', 'ArrowDown'], label: t('question.keys.texts') },
    { keys: ['PageUp', 'PageDown'], label: t('group.keys.parts') },
    { keys: ['d'], label: t('question.keys.fork') },
  ], []));
  useEffect(() => {
    if (token !== undefined && document.activeElement === grid.current) document.getElementById(`text-${at}-${token}`)?.scrollIntoView({ block: 'nearest' });
  }, [at, token]);
  const pick = (to: { readonly text: number; readonly token: number }): void => {
    go({ text: TEXTS[to.text] ?? 'a', token: to.token });
  };
  const under = (target: EventTarget): { readonly text: number; readonly token: number } | undefined => {
    if (!(target instanceof HTMLElement)) return undefined;
    const cell = target.closest<HTMLElement>('[data-token]')?.dataset.token;
    const row = target.closest<HTMLElement>('[data-text]')?.dataset.text;
    return cell === undefined || row === undefined ? undefined : { text: Number(row), token: Number(cell) };
  };
  const onClick = (event: MouseEvent): void => {
    const hit = under(event.target);
    if (hit !== undefined) pick(hit);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const to = walk(event.key, texts, at, token, shared);
    if (to === undefined) return;
    event.preventDefault();
    pick(to);
  };
  const shown = preview ?? (token === undefined ? undefined : { text: at, token });
  return (
    <>
      <p className={styles.source}><Badge source="here" /> {t('question.measured', { seed: address.seed, engine: engine ?? 'cpu', greedy: address.greedy })}</p>
      <p className={styles.fork}>{same ? t('question.same') : t('question.fork', { token: shared, a: wordAt(texts[0], shared), b: wordAt(texts[1], shared) })}</p>
      <div
        ref={grid} className={styles.grid} role="grid" tabIndex={0} aria-label={t('question.grid')} aria-activedescendant={token === undefined ? undefined : `text-${at}-${token}`}
        onClick={onClick} onKeyDown={onKeyDown}
        onPointerOver={(event) => {
          setPreview(event.pointerType === 'mouse' ? under(event.target) : undefined);
        }}
        onPointerLeave={() => {
          setPreview(undefined);
        }}
      >
        {drawn.map((text, i) => (
          <div key={i} className={styles.text} role="row" data-text={i}>
            <span role="rowheader" className={styles.head}>
              <b>{names[i]}</b>
              <span>{t(text.reward.correct ? 'question.right' : 'question.wrong')}</span>
              <span>{t('question.reward', { reward: format.fixed(text.reward.total, 2) })}</span>
              <span>{t('calls.title', { n: text.calls.length })}</span>
              <span>{t(`stop.${text.stop}`)}</span>
            </span>
            <TokenStrip rollout={text} paint={paint} selected={at === i ? token : undefined} cells={`text-${i}`} marks={marks} />
            <span role="gridcell" className={styles.sums}>{scores === undefined ? ' ' : sums(text, i, scores)}</span>
          </div>
        ))}
      </div>
      <div className={styles.legend}>
        {paint === undefined ? <span className={styles.note}>{t('question.noDelta')}</span> : <><Legend paint={paint} scale={paint.scale} /><span className={styles.note}>{t('question.delta')}</span></>}
      </div>
      <p className={styles.sentence} aria-live={preview === undefined ? 'polite' : 'off'}>
        {shown === undefined ? t('question.hint') : sentence(drawn[shown.text === 1 ? 1 : 0], shown.text, shown.token, scores)}
      </p>
      {scores !== undefined && <Tables texts={texts} names={names} scores={scores} />}
    </>
  );
}

function wordAt({ task, tokens }: ScoredTrajectory, token: number): string {
  const id = tokens[token];
  return id === undefined ? t('question.nothing') : visible(tokenizerOf(task).token(id));
}

/** "All that A wrote: −1.2 nats under A, −9.8 under B." */
function sums(text: ScoredTrajectory, i: number, scores: Two<readonly TokenScores[]>): string {
  const sum = (policy: number): string => {
    const of = scores[policy]?.[i];
    return of === undefined ? '–' : format.fixed(logProbOf(text, of), 2);
  };
  return t('question.sums', { a: sum(0), b: sum(1) });
}

const logProbAt = (scores: Two<readonly TokenScores[]> | undefined, policy: number, text: number, token: number): number => scores?.[policy]?.[text]?.logProbs[token] ?? NaN;

function ownerName(owner: number | undefined): string {
  return t(owner === POLICY ? 'owner.policy' : owner === PROMPT ? 'owner.prompt' : 'owner.environment');
}

function sentence(rollout: ReturnType<typeof asTrained>, text: number, token: number, scores: Two<readonly TokenScores[]> | undefined): string {
  const span = spanAt(rollout, token);
  const kind = span?.forged === true ? t('kind.forged') : t(`kind.${span?.kind ?? 'stray'}`);
  const head = t('question.token', { text: TEXTS[text === 1 ? 1 : 0], head: t('token.head', { token, text: wordAt(rollout, token), kind }), owner: ownerName(rollout.owner[token]) });
  const [a, b] = [logProbAt(scores, 0, text, token), logProbAt(scores, 1, text, token)];
  if (Number.isNaN(a) || Number.isNaN(b)) return head;
  const delta = text === 0 ? b - a : a - b;
  return `${head}${t('question.numbers', { a: format.fixed(a, 3), b: format.fixed(b, 3), delta: format.signed(delta, 3) })}`;
}

/** The same in numbers. */
function Tables({ texts, names, scores }: Pick<ReadProps, 'texts' | 'names'> & { readonly scores: Two<readonly TokenScores[]> }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={(event) => {
      setOpen(event.currentTarget.open);
    }}>
      <summary>{t('question.table')}</summary>
      {open && (
        <div className={styles.tables}>
          {texts.map((text, i) => (
            // A region that scrolls must be reachable by keyboard.
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
            <div key={i} className={styles.scroll} role="region" aria-label={names[i]} tabIndex={0}>
              <table>
                <caption>{names[i]}</caption>
                <thead>
                  <tr>
                    <th scope="col" className="figure">{t('column.position')}</th>
                    <th scope="col">{t('column.token')}</th>
                    <th scope="col">{t('column.owner')}</th>
                    <th scope="col" className="figure">{t('question.under', { name: 'A' })}</th>
                    <th scope="col" className="figure">{t('question.under', { name: 'B' })}</th>
                    <th scope="col" className="figure">{t('question.deltaColumn')}</th>
                  </tr>
                </thead>
                <tbody>
                  {[...text.tokens].map((_, k) => {
                    const [a, b] = [logProbAt(scores, 0, i, k), logProbAt(scores, 1, i, k)];
                    return (
                      <tr key={k}>
                        <th scope="row" className="figure">{format.integer(k)}</th>
                        <td><code>{wordAt(text, k)}</code></td>
                        <td>{ownerName(text.owner[k])}</td>
                        <td className="figure">{format.fixed(a, 3)}</td>
                        <td className="figure">{format.fixed(b, 3)}</td>
                        <td className="figure">{format.signed(i === 0 ? b - a : a - b, 3)}</td>
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            </div>
          ))}
        </div>
      )}
    </details>
  );
}
