import { useEffect, useId, useRef, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { t } from '../../text/text.ts';
import styles from './Editor.module.css';

interface EditorProps {
  readonly kind: 'call' | 'observation';
  readonly text: string;
  readonly onRun: (text: string) => void;
  readonly onClose: () => void;
}

/** Code for a call, or text for an observation, in the place of what stands there. */
export function Editor({ kind, text, onRun, onClose }: EditorProps): ReactNode {
  const id = useId();
  const area = useRef<HTMLTextAreaElement>(null);
  const [draft, setDraft] = useState(text);
  useEffect(() => {
    area.current?.focus();
  }, []);
  return (
    <form className={styles.editor} onSubmit={(event) => {
      event.preventDefault();
      onRun(draft);
    }}>
      <label htmlFor={id} className={styles.label}>{t(`rollout.edit.${kind}`)}</label>
      <textarea
        ref={area}
        id={id}
        className={styles.area}
        dir="ltr"
        rows={Math.min(8, Math.max(2, draft.split('\n').length))}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        value={draft}
        aria-describedby={`${id}-what`}
        onChange={(event) => {
          setDraft(event.target.value);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') onClose();
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            onRun(draft);
          }
        }}
      />
      <p id={`${id}-what`} className={styles.what}>{t(`rollout.edit.${kind}.what`)}</p>
      <div className={styles.buttons}>
        <Button kind="primary" type="submit">{t('rollout.edit.run')}</Button>
        <Button onClick={onClose}>{t('rollout.edit.close')}</Button>
      </div>
    </form>
  );
}
