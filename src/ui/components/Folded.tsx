import { useState, type ReactNode } from 'react';
import styles from './Folded.module.css';

/** A table behind its title, made only when it is opened. */
export function Folded({ title, children }: { readonly title: string; readonly children: () => ReactNode }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.folded} onToggle={(event) => {
      setOpen(event.currentTarget.open);
    }}>
      <summary>{title}</summary>
      {open && (
        // A region that scrolls must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={styles.scroll} role="region" aria-label={title} tabIndex={0}>{children()}</div>
      )}
    </details>
  );
}
