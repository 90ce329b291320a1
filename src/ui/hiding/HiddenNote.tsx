import type { ReactNode } from 'react';
import { useLocation, useSearch } from 'wouter';
import { Button } from '../components/Button.tsx';
import { navigate } from '../routes.ts';
import { t } from '../text/text.ts';
import { parseHide } from './controls.ts';
import { hideLabel } from './labels.ts';
import styles from './HiddenNote.module.css';

/** Says what the link hides, and ends it. */
export function HiddenNote(): ReactNode {
  const [path] = useLocation();
  const search = useSearch();
  const names = parseHide(search);
  return (
    <div className={styles.note} role="note">
      <span>{t('hide.note', { names: names.map(hideLabel) })}</span>
      <Button kind="quiet" onClick={() => {
        const query = new URLSearchParams(search);
        query.set('hide', '');
        navigate(`${path}?${query.toString()}`, { replace: true });
      }}>{t('hide.showAll')}</Button>
    </div>
  );
}
