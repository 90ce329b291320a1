import { Dialog } from 'radix-ui';
import { useMemo, useState, type ReactNode } from 'react';
import { useStore } from 'zustand';
import { Icon } from '../components/Icon.tsx';
import { bindings, useKeys } from '../keys.ts';
import { t } from '../text/text.ts';
import { KeyNames } from './KeyNames.tsx';
import styles from './KeyList.module.css';

/** The button and the dialog that list the keys bound on the screen; `?` opens it. */
export function KeyList(): ReactNode {
  const [open, setOpen] = useState(false);
  useKeys(useMemo(() => [{
    keys: ['?'],
    label: t('keys.list'),
    run: () => {
      setOpen(true);
    },
  }], []));
  return (
    <Dialog.Root open={open} onOpenChange={setOpen}>
      <Dialog.Trigger className={styles.open} aria-keyshortcuts="?" aria-label={t('keys.open')} title={t('keys.open')}><kbd>?</kbd></Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Overlay className={styles.veil} />
        <Dialog.Content className={styles.dialog}>
          <Dialog.Title>{t('keys.title')}</Dialog.Title>
          <Dialog.Description className={styles.note}>{t('keys.note')}</Dialog.Description>
          <List />
          <Dialog.Close className={styles.close} aria-label={t('keys.close')}><Icon name="cross" /></Dialog.Close>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

function List(): ReactNode {
  const sets = useStore(bindings, (s) => s.sets);
  return (
    <dl className={styles.list}>
      {/* The list's own key last: the shell binds it before any view is there. */}
      {[...sets.slice(1), ...sets.slice(0, 1)].flat().map(({ keys, label }, i) => (
        <div key={i} className={styles.row}>
          <dt><KeyNames keys={keys} /></dt>
          <dd>{label}</dd>
        </div>
      ))}
    </dl>
  );
}
