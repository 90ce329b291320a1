import { useId, useState, type ReactNode } from 'react';
import { t } from '../text/text.ts';
import styles from './Field.module.css';

interface NumberFieldProps {
  readonly label: string;
  /** One plain sentence. */
  readonly hint?: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  readonly whole?: boolean;
  /** The value that an empty field stands for ("no limit"); it need not lie in the range. */
  readonly unlimited?: number;
  readonly onChange: (value: number) => void;
}

/** A number that is typed; what cannot be used is said under the field and not handed on. */
export function NumberField({ label, hint, value, least, most, whole = false, unlimited, onChange }: NumberFieldProps): ReactNode {
  const id = useId();
  const shown = value === unlimited ? '' : String(value);
  const [draft, setDraft] = useState<{ readonly text: string; readonly of: number } | undefined>();
  // A draft is of one value: where the value was changed from elsewhere, it is over.
  const text = draft !== undefined && Object.is(draft.of, value) ? draft.text : shown;
  const read = (typed: string): number | undefined => {
    if (typed.trim() === '') return unlimited;
    const number = Number(typed.trim().replace(',', '.'));
    const fits = Number.isFinite(number) && number >= least && number <= most && (!whole || Number.isInteger(number));
    return fits ? number : undefined;
  };
  const wrong = read(text) === undefined;
  const change = (typed: string): void => {
    const number = read(typed);
    setDraft({ text: typed, of: number ?? value });
    if (number !== undefined && number !== value) onChange(number);
  };
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>{label}</label>
      <input
        id={id}
        className={styles.number}
        inputMode={whole ? 'numeric' : 'decimal'}
        autoComplete="off"
        value={text}
        placeholder={unlimited === undefined ? undefined : t('field.none')}
        aria-invalid={wrong}
        aria-describedby={`${id}-hint`}
        onChange={(event) => {
          change(event.target.value);
        }}
        onBlur={() => {
          setDraft(undefined);
        }}
      />
      <p id={`${id}-hint`} className={wrong ? styles.wrong : styles.hint}>
        {wrong ? t(whole ? 'field.wholeBetween' : 'field.between', { least, most }) : hint}
      </p>
    </div>
  );
}
