import { useEffect, type ReactNode } from 'react';
import { BY_HAND, INTEGRAL_CODE } from '../../../../lesson/stages.ts';
import { observationOf } from '../../../../rollout/rollout.ts';
import { tagsOf } from '../../../../rollout/trajectory.ts';
import { useShipped } from '../../../stores/evaluations.ts';
import { t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import { characters } from '../../step/tokenizers.ts';
import { ContextTokens } from '../../tools/Observation.tsx';
import type { FigureProps } from '../figure-props.ts';
import { PythonLine } from './PythonLine.tsx';
import { usePython } from './usePython.ts';
import styles from './Figures.module.css';

const CODES = [INTEGRAL_CODE] as const;
const TAGS = tagsOf(characters);
/** The tier of powers, long sums and integrals. */
const HARDEST = 4;

/** The integral by hand, and by tool. */
export function Gap({ onFound }: FigureProps<'gap'>): ReactNode {
  const python = usePython(CODES);
  const [answer] = python.answers;
  const { from } = python;
  useEffect(() => {
    if (answer !== undefined) onFound({ ok: answer.ok, output: answer.output, live: from === 'here' });
  }, [answer, from, onFound]);
  return (
    <div className={styles.pair}>
      <section className={styles.block}>
        <h3>{t('lesson.gap.hand')}</h3>
        <ol className={styles.hand} dir="ltr">{BY_HAND.map((line) => <li key={line}>{line}</li>)}</ol>
        <InTheHead />
      </section>
      <section className={styles.block}>
        <h3>{t('lesson.gap.tool')}</h3>
        <p className={styles.label}>{t('lesson.gap.code')}</p>
        <pre className={styles.code} dir="ltr"><code>{INTEGRAL_CODE}</code></pre>
        <p className={styles.label}>{t('lesson.gap.observation')}</p>
        <div className={styles.observation}>{answer !== undefined && <ContextTokens ids={observationOf(answer.output, TAGS, characters)} tokenizer={characters} kind="output" />}</div>
        <PythonLine python={python} here={t('lesson.gap.asked')} />
      </section>
    </div>
  );
}

/** What the base policy can do without the tool, as it was measured. */
function InTheHead(): ReactNode {
  const file = useShipped('evaluation');
  const base = file.state === 'ready' ? file.it.evaluations.find(({ suite, condition, probe }) => suite === 'arithmetic' && condition === 'base' && !probe) : undefined;
  const tier = base?.tiers.find((each) => each.tier === HARDEST);
  if (base === undefined || tier === undefined) return null;
  return <p className={styles.note}>{t('lesson.gap.head', { share: tier.accuracy, questions: base.questionsPerTier * base.samples })} <Badge source="recorded" /></p>;
}
