import type { ReactNode } from 'react';
import { RECORDED_PYTHON } from '../../../../lesson/recorded.ts';
import { Button } from '../../../components/Button.tsx';
import { t } from '../../../text/text.ts';
import { Badge } from '../../compare/Badge.tsx';
import type { PythonAnswers } from './usePython.ts';
import styles from './Figures.module.css';

/** Where the answers of Python come from, or what they wait for. */
export function PythonLine({ python, here }: { readonly python: PythonAnswers; /** Said of answers of this page. */ readonly here: string }): ReactNode {
  const { awaits, from, why, stop, again } = python;
  if (awaits !== undefined) {
    return (
      <p className={styles.line} role="status">
        {t(`lesson.python.${awaits}`)}
        <Button onClick={stop}>{t('lesson.python.stop')}</Button>
      </p>
    );
  }
  return (
    <p className={styles.line}>
      <Badge source={from} />
      <span>{from === 'here' ? here : why === 'no-sympy' ? t('lesson.gap.recorded', RECORDED_PYTHON) : why === undefined ? t('lesson.interleaving.writtenRecorded') : t('lesson.python.failed')}</span>
      {from === 'recorded' && why !== 'no-sympy' && why !== 'no-python' && <Button onClick={again}>{t('lesson.python.again')}</Button>}
    </p>
  );
}
