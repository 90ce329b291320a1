import { useMemo, type ReactNode } from 'react';
import { useSearch } from 'wouter';
import { Segments } from '../../components/Segments.tsx';
import { navigate } from '../../routes.ts';
import { t } from '../../text/text.ts';
import { compareAddress, parseCompare, PARTS, type CompareAddress } from './address.ts';
import { Conditions } from './Conditions.tsx';
import { Masking } from './Masking.tsx';
import { Paper } from './Paper.tsx';
import { Question } from './Question.tsx';
import { RunCurves } from './RunCurves.tsx';
import styles from './CompareView.module.css';

/** What training changed: conditions, one question, curves, the mask; and what the paper reports. */
export function CompareView(): ReactNode {
  const search = useSearch();
  const address = useMemo(() => parseCompare(search), [search]);
  const go = (to: Partial<CompareAddress>): void => {
    navigate(compareAddress({ ...address, ...to }), { replace: true });
  };
  return (
    <div className={styles.view}>
      <h1 className="hidden">{t('view.compare')}</h1>
      <div className={styles.parts}>
        <Segments label={t('compare.parts')} value={address.part} items={PARTS.map((value) => ({ value, label: t(`compare.part.${value}`) }))} onChange={(part) => {
          // What one part is set to is nothing to the next, but which policies are compared is.
          const { suite, a, b } = address;
          navigate(compareAddress({ part, suite, a, b }));
        }} />
        <p className={styles.what}>{t(`compare.part.${address.part}.what`)}</p>
      </div>
      {address.part === 'conditions' && <Conditions address={address} go={go} />}
      {address.part === 'question' && <Question address={address} go={go} />}
      {address.part === 'curves' && <RunCurves address={address} go={go} />}
      {address.part === 'masking' && <Masking address={address} go={go} />}
      {address.part === 'paper' && <Paper />}
    </div>
  );
}
