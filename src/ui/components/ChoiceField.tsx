import { useId, type ReactNode } from 'react';
import { Choice } from './Choice.tsx';
import type { ChoiceItem } from './choice-props.ts';
import styles from './Field.module.css';

interface ChoiceFieldProps<T extends string> {
  readonly label: string;
  readonly hint: string;
  readonly value: T;
  readonly items: readonly ChoiceItem<T>[];
  readonly onChange: (value: T) => void;
}

export function ChoiceField<T extends string>({ label, hint, value, items, onChange }: ChoiceFieldProps<T>): ReactNode {
  const id = useId();
  return (
    <div className={styles.field}>
      <span className={styles.label}>{label}</span>
      <Choice label={label} value={value} items={items} onChange={onChange} describedBy={`${id}-hint`} />
      <p id={`${id}-hint`} className={styles.hint}>{hint}</p>
    </div>
  );
}
