import { lazy, Suspense, useMemo, useRef, useState, type ReactNode } from 'react';
import { useKeys } from '../keys.ts';
import { t } from '../text/text.ts';
import styles from './KeyList.module.css';

const KeyDialog = lazy(async () => ({ default: (await import('./KeyDialog.tsx')).KeyDialog }));

/** The button that opens the list of the keys bound on the screen; `?` does so too. */
export function KeyList(): ReactNode {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useKeys(useMemo(() => [{
    keys: ['?'],
    label: t('keys.list'),
    run: () => {
      setOpen(true);
    },
  }], []));
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.open}
        aria-haspopup="dialog"
        aria-expanded={open}
        aria-keyshortcuts="?"
        aria-label={t('keys.open')}
        title={t('keys.open')}
        onClick={() => {
          setOpen(true);
        }}
      >
        <kbd>?</kbd>
      </button>
      {open && (
        <Suspense>
          <KeyDialog onClose={() => {
            setOpen(false);
            button.current?.focus();
          }} />
        </Suspense>
      )}
    </>
  );
}
