import type { ReactNode } from 'react';
import { Segments } from '../../components/Segments.tsx';
import { format } from '../../text/text.ts';
import styles from './SegmentField.module.css';

interface SegmentFieldProps<T extends number> {
  readonly label: string;
  readonly hint: string;
  readonly value: T;
  readonly values: readonly T[];
  readonly onChange: (value: T) => void;
}

/** One of a few numbers. */
export function SegmentField<T extends number>({ label, hint, value, values, onChange }: SegmentFieldProps<T>): ReactNode {
  return (
    <div className={styles.field}>
      <span className={styles.label}>{label}</span>
      <Segments label={label} value={String(value)} items={values.map((each) => ({ value: String(each), label: format.integer(each) }))} onChange={(next) => {
        const found = values.find((each) => String(each) === next);
        if (found !== undefined) onChange(found);
      }} />
      <p className={styles.hint}>{hint}</p>
    </div>
  );
}
