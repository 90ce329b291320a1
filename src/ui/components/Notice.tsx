import type { ReactNode } from 'react';
import { Icon } from './Icon.tsx';
import styles from './Notice.module.css';

interface NoticeProps {
  readonly kind: 'fault' | 'note';
  /** Words that say what happened and what to do. */
  readonly children: ReactNode;
  /** The machine's own words. */
  readonly detail?: string | undefined;
}

/** Something to know, at the place where it happened. */
export function Notice({ kind, children, detail }: NoticeProps): ReactNode {
  return (
    <div className={[styles.notice, styles[kind]].join(' ')} role={kind === 'fault' ? 'alert' : 'status'}>
      {kind === 'fault' && <Icon name="warning" />}
      <div className={styles.words}>
        <div>{children}</div>
        {detail !== undefined && detail !== '' && <code className={styles.detail}>{detail}</code>}
      </div>
    </div>
  );
}
