import { Switch } from 'radix-ui';
import { useId, type ReactNode } from 'react';
import styles from './Field.module.css';

interface SwitchFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: boolean;
  readonly onChange: (value: boolean) => void;
}

export function SwitchField({ label, hint, value, onChange }: SwitchFieldProps): ReactNode {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>{label}</label>
      <Switch.Root id={id} className={styles.switch} checked={value} onCheckedChange={onChange} aria-describedby={`${id}-hint`}>
        <Switch.Thumb className={styles.thumb} />
      </Switch.Root>
      <p id={`${id}-hint`} className={styles.hint}>{hint}</p>
    </div>
  );
}
