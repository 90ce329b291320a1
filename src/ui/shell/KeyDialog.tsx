import { Dialog } from 'radix-ui';
import type { ReactNode } from 'react';
import { useStore } from 'zustand';
import { Icon } from '../components/Icon.tsx';
import { bindings } from '../keys.ts';
import { t } from '../text/text.ts';
import { KeyNames } from './KeyNames.tsx';
import styles from './KeyList.module.css';

/** The keys bound on the screen. */
export function KeyDialog({ onClose }: { readonly onClose: () => void }): ReactNode {
  return (
    <Dialog.Root open onOpenChange={onClose}>
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
