import { useId, type ReactNode } from 'react';
import type { FunctionSignature, Parameter } from '../../../tools/workflow/functions.ts';
import { Button } from '../../components/Button.tsx';
import { Choice } from '../../components/Choice.tsx';
import { Segments } from '../../components/Segments.tsx';
import { t } from '../../text/text.ts';
import { MOST_CALL } from './place.ts';
import { writeCall } from './walk.ts';
import styles from './CallForm.module.css';

/** A call that is being made: the form of a function, and the text that comes of it or that was written over it. */
export interface CallDraft {
  readonly name: string;
  /** Of each function, what its form holds. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly text: string;
}

export function draftOf(signature: FunctionSignature, values: CallDraft['values'] = {}): CallDraft {
  return { name: signature.name, values, text: writeCall(signature, values[signature.name] ?? {}) };
}

interface CallFormProps {
  readonly functions: readonly FunctionSignature[];
  readonly draft: CallDraft;
  /** Ids with this letter that outputs gave. */
  readonly seen: (letter: string) => readonly string[];
  readonly full: boolean;
  readonly onDraft: (draft: CallDraft) => void;
  readonly onCall: (code: string) => void;
}

/**
 * The functions of a domain as forms, from the declarations that a policy's calls are checked against. Nothing is
 * refused here: what is wrong with a call is said by the function, in the words that a policy would read.
 */
export function CallForm({ functions, draft, seen, full, onDraft, onCall }: CallFormProps): ReactNode {
  const id = useId();
  const signature = functions.find(({ name }) => name === draft.name) ?? functions[0];
  if (signature === undefined) return null;
  const values = draft.values[signature.name] ?? {};
  const set = (parameter: string, value: string): void => {
    onDraft(draftOf(signature, { ...draft.values, [signature.name]: { ...values, [parameter]: value } }));
  };
  return (
    <form className={styles.form} autoComplete="off" onSubmit={(event) => {
      event.preventDefault();
      if (!full) onCall(draft.text);
    }}>
      <Segments label={t('tools.flow.function')} value={signature.name} items={functions.map(({ name }) => ({ value: name, label: name }))} onChange={(name) => {
        const chosen = functions.find((f) => f.name === name);
        if (chosen !== undefined) onDraft(draftOf(chosen, draft.values));
      }} />
      <p className={styles.what}>{signature.description}</p>
      <div className={styles.fields}>
        {signature.parameters.map((parameter) => (
          <ParameterField key={`${signature.name}.${parameter.name}`} parameter={parameter} value={values[parameter.name] ?? ''} seen={parameter.type === 'id' ? seen(parameter.letter) : []} onChange={(value) => {
            set(parameter.name, value);
          }} />
        ))}
      </div>
      <label htmlFor={`${id}-text`} className={styles.label}>{t('tools.flow.text')}</label>
      <div className={styles.line}>
        <input
          id={`${id}-text`} className={styles.text} dir="ltr" spellCheck={false} autoCapitalize="off" autoComplete="off" maxLength={MOST_CALL} value={draft.text} aria-describedby={`${id}-what`}
          onChange={(event) => {
            onDraft({ ...draft, text: event.target.value });
          }}
        />
        <Button kind="primary" type="submit" disabled={full}>{t('tools.flow.make')}</Button>
      </div>
      <p id={`${id}-what`} className={styles.hint}>{t('tools.flow.text.what')}</p>
    </form>
  );
}

interface ParameterFieldProps {
  readonly parameter: Parameter;
  readonly value: string;
  readonly seen: readonly string[];
  readonly onChange: (value: string) => void;
}

function ParameterField({ parameter, value, seen, onChange }: ParameterFieldProps): ReactNode {
  const id = useId();
  const { name, description, type } = parameter;
  return (
    <div className={styles.field} title={description}>
      {type === 'choice'
        ? (
            <>
              <span className={styles.label} aria-hidden="true">{name}</span>
              <Choice label={name} value={value} items={parameter.values.map((item) => ({ value: item, label: item }))} onChange={onChange} describedBy={`${id}-hint`} />
            </>
          )
        : (
            <>
              <label htmlFor={id} className={styles.label}>{name}</label>
              <input
                id={id} className={styles.value} dir="ltr" spellCheck={false} autoCapitalize="off" autoComplete="off" maxLength={20} value={value} aria-describedby={`${id}-hint`}
                inputMode={type === 'integer' ? 'numeric' : 'text'}
                onChange={(event) => {
                  onChange(event.target.value);
                }}
              />
            </>
          )}
      <p id={`${id}-hint`} className={styles.hint}>
        {type === 'choice' ? t('tools.flow.choose') : type === 'integer' ? t('tools.flow.between', parameter) : t('tools.flow.idLike', parameter)}
      </p>
      {seen.length > 0 && (
        <div className={styles.seen} role="group" aria-label={t('tools.flow.seen', { name })}>
          {seen.map((item) => (
            <button key={item} type="button" className={styles.id} aria-pressed={item === value} onClick={() => {
              onChange(item);
            }}>{item}</button>
          ))}
        </div>
      )}
    </div>
  );
}
