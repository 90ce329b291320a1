import { lazy, Suspense, useEffect, useId, useRef, useState, type ReactNode, type RefObject } from 'react';
import type { RuleFailure } from '../../../reward/rule.ts';
import { Button } from '../../components/Button.tsx';
import { Choice } from '../../components/Choice.tsx';
import { Copy } from '../../components/Copy.tsx';
import { Notice } from '../../components/Notice.tsx';
import { t } from '../../text/text.ts';
import { Asked, type Asking } from '../step/Asked.tsx';
import { RULES, useRuleDraft, writeRule, type RuleKind, type RuleName } from './rule-draft.ts';
import styles from './RuleSection.module.css';

// The editor is loaded when the rule comes near the screen: no other view pays for it.
const RuleEditor = lazy(async () => ({ default: (await import('./RuleEditor.tsx')).RuleEditor }));

const NAMES = Object.keys(RULES.math) as RuleName[];

interface RuleSectionProps {
  readonly kind: RuleKind;
  readonly asking: Asking<'rule'>;
  /** The rule that was asked for last. */
  readonly asked: string | undefined;
  /** The rule whose rewards are shown. */
  readonly applied: string | undefined;
  readonly switched: boolean;
  /** What the applied rule made of the group. */
  readonly outcome: ReactNode;
  readonly onScore: (code: string) => void;
  readonly onBack: () => void;
}

/** The reward rule as code: to read, to change, and to score the group by without sampling anew. */
export function RuleSection({ kind, asking, asked, applied, switched, outcome, onScore, onBack }: RuleSectionProps): ReactNode {
  const code = useRuleDraft(kind);
  const rules = RULES[kind];
  const write = (to: string): void => {
    writeRule(kind, to);
  };
  const [root, near] = useNear();
  const id = useId();
  const name = NAMES.find((rule) => rules[rule] === code);
  const score = (): void => {
    onScore(code);
  };
  const failed = asking.answer?.state === 'failed' && asked === code ? (asking.answer.rule === undefined ? asking.answer.message : failureWords(asking.answer.rule)) : undefined;
  const still = (
    // A region that scrolls must be reachable by keyboard, also before the editor is there.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className={styles.still} role="region" aria-label={t('rule.code')} tabIndex={0}><code>{code}</code></pre>
  );
  return (
    <section ref={root} className={styles.rule} aria-labelledby={id}>
      <div className={styles.words}>
        <h2 id={id}>{t('rule.title')}</h2>
        <p className={styles.what}>{t('rule.what')}</p>
        <p className={styles.columns}>{t(kind === 'math' ? 'rule.columns' : 'rule.columns.workflow')}</p>
      </div>
      <div className={styles.main}>
        <div className={styles.bar}>
          <span className={styles.label} aria-hidden="true">{t('rule.start')}</span>
          <Choice<RuleName | 'own'> label={t('rule.start')} value={name ?? 'own'}
            items={[...NAMES, ...(name === undefined ? ['own' as const] : [])].map((value) => ({ value, label: t(value === 'outcome' && kind === 'workflow' ? 'rule.start.state' : `rule.start.${value}`) }))}
            onChange={(value) => {
              if (value !== 'own') write(rules[value]);
            }} />
          <Copy text={code} kind="quiet" className={styles.copy ?? ''} />
        </div>
        <div className={styles.editor}>
          {near ? <Suspense fallback={still}><RuleEditor code={code} describedBy={`${id}-keys`} onChange={write} onScore={score} /></Suspense> : still}
        </div>
        <p id={`${id}-keys`} className={styles.keys}>{t('rule.keys')}</p>
        <div className={styles.bar}>
          <Button kind="primary" disabled={asking.answer?.state === 'waiting'} onClick={score}>{t('rule.apply')}</Button>
          <Button disabled={applied === undefined && code === rules.paper} onClick={onBack}>{t('rule.back')}</Button>
        </div>
        <div className={styles.state}>
          {asking.answer?.state === 'waiting'
            ? <Asked asking={asking} what={t('rule.asked')}>{() => null}</Asked>
            : failed === undefined
              ? <p role="status">{t(asking.stopped ? 'rule.stopped' : applied === undefined ? (switched ? 'rule.switches' : 'rule.sampled') : applied === code ? 'rule.applied' : 'rule.edited')}</p>
              : <Notice kind="fault" detail={failed}>{t('rule.failed')}</Notice>}
          {outcome}
        </div>
      </div>
    </section>
  );
}

/** Whether an element has come near the screen; once it has, it stays so. */
function useNear(): [RefObject<HTMLElement | null>, boolean] {
  const root = useRef<HTMLElement>(null);
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (near || root.current === null) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
    }, { rootMargin: '200px' });
    observer.observe(root.current);
    return () => {
      observer.disconnect();
    };
  }, [near]);
  return [root, near];
}

function failureWords(failure: RuleFailure): string {
  switch (failure.why) {
    case 'list':
      return t('rule.why.list', failure);
    case 'count':
      return t('rule.why.count', failure);
    case 'number':
      return t('rule.why.number', failure);
    case 'prints':
    case 'program':
    case 'missing':
    case 'memory':
    case 'endless':
      return t(`rule.why.${failure.why}`);
  }
}
