import type { ReactNode } from 'react';
import { t } from '../../text/text.ts';
import styles from './Badge.module.css';

export const SOURCES = ['paper', 'chart', 'article', 'recorded', 'here'] as const;
/** Where a number is from. */
export type Source = (typeof SOURCES)[number];

export function Badge({ source }: { readonly source: Source }): ReactNode {
  return <span className={styles.badge} title={t(`badge.${source}.what`)}>{t(`badge.${source}`)}</span>;
}

/** What the badges mean. */
export function BadgeKey({ sources }: { readonly sources: readonly Source[] }): ReactNode {
  return (
    <ul className={styles.key}>
      {sources.map((source) => <li key={source}><Badge source={source} /> {t(`badge.${source}.what`)}</li>)}
    </ul>
  );
}
