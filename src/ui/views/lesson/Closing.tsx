import { useEffect, type ReactNode } from 'react';
import { Link, useSearch } from 'wouter';
import { RECORDED } from '../../../lesson/recorded.ts';
import { CHECK_ADDRESSES, CHECKS, CLAIM_EVIDENCE, CLAIMS, type ClaimId } from '../../../lesson/stages.ts';
import { useLesson, type Found } from '../../stores/lesson.ts';
import { t } from '../../text/text.ts';
import { lessonAddress, numberOf } from './address.ts';
import styles from './Closing.module.css';

/** Six questions to oneself, and six claims with their evidence. */
export function Closing(): ReactNode {
  const found = useLesson((s) => s.found);
  const said = useLesson((s) => s.said);
  const see = new URLSearchParams(useSearch()).get('see');
  useEffect(() => {
    // The closing of a class leads to one of the two; a frame later, since a new view begins at its top.
    if (see !== 'checks' && see !== 'claims') return undefined;
    const frame = requestAnimationFrame(() => document.getElementById(`lesson-${see}`)?.scrollIntoView());
    return () => {
      cancelAnimationFrame(frame);
    };
  }, [see]);
  return (
    <div className={styles.closing}>
      <section aria-labelledby="lesson-checks">
        <h2 id="lesson-checks">{t('lesson.checks')}</h2>
        <p className={styles.what}>{t('lesson.checks.what')}</p>
        <ol className={styles.checks}>
          {CHECKS.map((id) => (
            <li key={id}>
              <p>{t(`lesson.check.${id}`)}</p>
              <p><Link to={CHECK_ADDRESSES[id]} aria-label={t('lesson.named', { what: t('lesson.checks.look'), which: t(`lesson.check.${id}`) })}>{t('lesson.checks.look')}</Link></p>
              <details>
                <summary>{t('lesson.checks.answer')}</summary>
                <p>{t(`lesson.check.${id}.answer`)}</p>
              </details>
            </li>
          ))}
        </ol>
      </section>
      <section aria-labelledby="lesson-claims">
        <h2 id="lesson-claims">{t('lesson.claims')}</h2>
        <p className={styles.what}>{t('lesson.claims.what')}</p>
        <ol className={styles.claims}>
          {CLAIMS.map((id) => {
            const { stage, address } = CLAIM_EVIDENCE[id];
            return (
              <li key={id}>
                <p><b>{t(`lesson.claim.${id}`)}</b></p>
                <p>{evidenceWords(id, found)}</p>
                <p className={styles.links}>
                  <Link to={lessonAddress(stage, said[stage])}>{t('lesson.named', { what: t('lesson.claims.evidence'), which: t('lesson.claims.stage', { number: numberOf(stage) }) })}</Link>
                  {' · '}<Link to={address} aria-label={t('lesson.named', { what: t('lesson.checks.look'), which: t(`lesson.claim.${id}`) })}>{t('lesson.checks.look')}</Link>
                </p>
              </li>
            );
          })}
        </ol>
      </section>
    </div>
  );
}

/** With the numbers of this visitor where there are any. */
export function evidenceWords(id: ClaimId, found: Found): string {
  const { gap, interleaving, scoring, comparing, masking, strategy } = { ...RECORDED, ...found };
  switch (id) {
    case 'tool':
      return t('lesson.claim.tool.evidence', gap);
    case 'context':
      return t('lesson.claim.context.evidence', interleaving);
    case 'parts':
      return t('lesson.claim.parts.evidence', scoring);
    case 'differences':
      return t('lesson.claim.differences.evidence', comparing);
    case 'own-tokens':
      return t('lesson.claim.own-tokens.evidence', masking);
    case 'strategy':
      return t('lesson.claim.strategy.evidence', strategy);
  }
}
