import { Progress } from 'radix-ui';
import type { ReactNode } from 'react';
import styles from './Bar.module.css';

/** How much of something is done. */
export function Bar({ label, value, most }: { readonly label: string; readonly value: number; readonly most: number }): ReactNode {
  const share = most > 0 ? Math.min(1, value / most) : 0;
  return (
    <Progress.Root className={styles.bar} value={Math.min(value, most)} max={Math.max(most, 1)} aria-label={label}>
      <Progress.Indicator className={styles.done} style={{ transform: `scaleX(${share})` }} />
    </Progress.Root>
  );
}
