/** The editor of the reward rule: CodeMirror with Python, in the page's own type. Loaded on its own. */
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { python } from '@codemirror/lang-python';
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useLayoutEffect, useRef, type ReactNode } from 'react';
import { t } from '../../text/text.ts';
import styles from './RuleEditor.module.css';

interface RuleEditorProps {
  readonly code: string;
  readonly describedBy: string;
  readonly onChange: (code: string) => void;
  /** Ctrl or Cmd with Enter. */
  readonly onScore: () => void;
}

/** Colour means data on this page: code is set off by weight and slant, as in a book. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.definitionKeyword, tags.operatorKeyword, tags.moduleKeyword], fontWeight: '650' },
  { tag: [tags.comment, tags.docString], color: 'var(--muted)', fontStyle: 'italic' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--muted)' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--surface)', color: 'var(--ink)', fontSize: '0.8125rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontVariantLigatures: 'none', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { minWidth: '40px', backgroundColor: 'var(--surface)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine, &.cm-focused .cm-activeLineGutter': { backgroundColor: 'var(--sunken)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)', outline: 'none' },
});

export function RuleEditor({ code, describedBy, onChange, onScore }: RuleEditorProps): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(null);
  const latest = useRef({ onChange, onScore });
  useLayoutEffect(() => {
    latest.current = { onChange, onScore };
  });

  useEffect(() => {
    if (host.current === null) return undefined;
    const made = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: code,
        extensions: [
          keymap.of([{
            key: 'Mod-Enter',
            run: () => {
              latest.current.onScore();
              return true;
            },
          }]),
          lineNumbers(), history(), drawSelection(), highlightActiveLine(), bracketMatching(), indentOnInput(), indentUnit.of('    '),
          python(), syntaxHighlighting(HIGHLIGHT), THEME,
          // Tab is not bound: it leads on, as everywhere on the page.
          keymap.of([...defaultKeymap, ...historyKeymap]),
          // Named as focusable, which it is: a checker that knows nothing of editors asks of what scrolls.
          EditorView.contentAttributes.of({ tabindex: '0', 'aria-label': t('rule.code'), 'aria-describedby': describedBy }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = made;
    return () => {
      made.destroy();
      editor.current = null;
    };
    // Made once: what is in it from then on is its own.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [describedBy]);

  useEffect(() => {
    const { current } = editor;
    if (current === null || current.state.doc.toString() === code) return;
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: code }, scrollIntoView: false });
  }, [code]);

  return <div ref={host} className={styles.host} dir="ltr" />;
}
