import type { ReactNode } from 'react';
import styles from './Part.module.css';

interface PartProps {
  /** What is pressed: the first thing on a narrow screen. */
  readonly controls: ReactNode;
  readonly settings: ReactNode;
  /** Names of the three regions. */
  readonly labels: { readonly controls: string; readonly settings: string; readonly figure: string };
  readonly children: ReactNode;
}

/** A part of the view: what is pressed and what can be set on the left, what came of it beside them. */
export function Part({ controls, settings, labels, children }: PartProps): ReactNode {
  return (
    <div className={styles.part}>
      <section className={styles.side} aria-label={labels.controls}>{controls}</section>
      <section className={styles.figure} aria-label={labels.figure}>{children}</section>
      <section className={styles.side} aria-label={labels.settings}>{settings}</section>
    </div>
  );
}
