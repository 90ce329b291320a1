import { useRef, useState, type ReactNode } from 'react';
import { Button } from '../../components/Button.tsx';
import { Notice } from '../../components/Notice.tsx';
import { format, t } from '../../text/text.ts';
import { MOST_CHARACTERS, readNotes, writeNotes, type NotesError } from './notes.ts';
import { MOST_SECTION } from './plan.ts';
import { teach, teachStore, useTeach } from './store.ts';
import { allNotes } from './words.ts';
import styles from './TeachView.module.css';

type Outcome = { readonly kind: 'taken'; readonly sections: number } | { readonly kind: 'unreadable' } | NotesError;

function save(): void {
  const { plan, notes } = teachStore.getState();
  const url = URL.createObjectURL(new Blob([writeNotes(plan, allNotes(notes))], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = 'atelier-notes.txt';
  link.click();
  URL.revokeObjectURL(url);
}

/** The notes as a text file, out and in; a file that cannot be read changes nothing. */
export function NotesFile(): ReactNode {
  const input = useRef<HTMLInputElement>(null);
  const [outcome, setOutcome] = useState<Outcome>();
  const changed = useTeach((s) => Object.keys(s.notes).length);
  const take = async (file: File): Promise<void> => {
    if (file.size > 4 * MOST_CHARACTERS) {
      setOutcome({ kind: 'large' });
      return;
    }
    let text: string;
    try {
      text = new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer());
    } catch {
      setOutcome({ kind: 'unreadable' });
      return;
    }
    const read = readNotes(text);
    if ('kind' in read) setOutcome(read);
    else {
      teach.take(read);
      setOutcome({ kind: 'taken', sections: Object.keys(read.notes).length });
    }
  };
  return (
    <div className={styles.file}>
      <h3>{t('teach.file')}</h3>
      <p className={styles.note}>{t('teach.file.what')}</p>
      <p className={styles.buttons}>
        <Button onClick={save}>{t('teach.file.save')}</Button>
        <Button onClick={() => input.current?.click()}>{t('teach.file.open')}</Button>
        <Button onClick={() => {
          print();
        }}>{t('teach.print')}</Button>
        <Button disabled={changed === 0} onClick={() => {
          teach.reset();
          setOutcome(undefined);
        }}>{t('teach.file.reset')}</Button>
      </p>
      <input ref={input} type="file" accept=".txt,.md,text/plain" className="hidden" tabIndex={-1} aria-label={t('teach.file.open')} onChange={(event) => {
        const file = event.target.files?.[0];
        event.target.value = '';
        if (file !== undefined) void take(file);
      }} />
      {outcome !== undefined && (outcome.kind === 'taken'
        ? <p role="status">{t('teach.file.taken', { sections: outcome.sections })}</p>
        : <Notice kind="fault" detail={'text' in outcome ? outcome.text : undefined}>{format.sentences([errorWords(outcome), t('teach.file.kept')])}</Notice>)}
    </div>
  );
}

function errorWords(error: Exclude<Outcome, { kind: 'taken' }>): string {
  switch (error.kind) {
    case 'section':
    case 'twice':
      return t(`teach.file.${error.kind}`, { line: error.line });
    case 'minutes':
      return t('teach.file.minutes', { line: error.line, most: MOST_SECTION });
    case 'large':
    case 'title':
    case 'empty':
    case 'unreadable':
      return t(`teach.file.${error.kind}`);
  }
}
