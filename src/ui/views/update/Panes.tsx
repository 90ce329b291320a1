import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { format, t } from '../../text/text.ts';
import { sayTerm, workedOut, type AdamResult, type Subject } from './numbers.ts';
import { formulas, listing, OPERATIONS, pieces, TERMS, type Operation, type Piece, type Term } from './operations.ts';
import type { AdamParameter } from '../../../lab/inspection.ts';
import styles from './Panes.module.css';

interface PanesProps {
  readonly subject: Subject;
  /** What the numbers are of, e.g. "Token 17". */
  readonly of: string;
  readonly operation: Operation;
  readonly onOperation: (operation: Operation) => void;
  readonly adam: { readonly parameter: AdamParameter; readonly result: AdamResult } | undefined;
}

const PANES = ['formula', 'code', 'numbers'] as const;
type Pane = (typeof PANES)[number];

/**
 * Formula, code and numbers, one operation a line. A term under the pointer or with the focus is lit in all three;
 * pressing it goes to the operation that it comes out of.
 */
export function Panes({ subject, of, operation, onOperation, adam }: PanesProps): ReactNode {
  const [lit, setLit] = useState<Term>();
  const lines: Readonly<Record<Pane, Readonly<Record<Operation, readonly string[]>>>> = {
    formula: formulas(subject.rule),
    code: listing(subject.rule),
    numbers: Object.fromEntries(OPERATIONS.map((o) => [o, workedOut(subject, o, adam)])) as Record<Operation, readonly string[]>,
  };
  const termUnder = (target: EventTarget): Term | undefined => {
    const name = target instanceof HTMLElement ? target.closest<HTMLElement>('[data-term]')?.dataset.term : undefined;
    return name === undefined || !Object.hasOwn(TERMS, name) ? undefined : (name as Term);
  };
  const light = (event: { readonly target: EventTarget }): void => {
    setLit(termUnder(event.target));
  };
  return (
    // What is pressed are the terms within; their events are taken where they come up.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      className={styles.panes}
      role="table"
      aria-label={t('update.panes')}
      onPointerOver={light}
      onPointerLeave={() => {
        setLit(undefined);
      }}
      onFocus={light}
      onBlur={() => {
        setLit(undefined);
      }}
      onKeyDown={walkTerms}
    >
      <div role="row" className={styles.head}>
        <span role="columnheader">{t('update.pane.operation')}</span>
        {PANES.map((pane) => <span key={pane} role="columnheader">{pane === 'numbers' ? of : t(`update.pane.${pane}`)}</span>)}
      </div>
      {OPERATIONS.map((o, i) => (
        <div key={o} role="row" className={styles.row} data-now={o === operation || undefined}>
          <span role="rowheader" className={styles.name}>
            <button type="button" aria-current={o === operation ? 'step' : undefined} onClick={() => {
              onOperation(o);
            }}>
              <span className={styles.place}>{format.integer(i + 1)}</span>{t(`update.op.${o}`)}
            </button>
          </span>
          {PANES.map((pane) => (
            <span key={pane} role="cell" className={styles.cell} data-pane={pane}>
              {lines[pane][o].map((line, k) => (
                <Line key={k} line={line} lit={lit} reachable={pane === 'formula' && o === operation && k === 0} subject={subject} onOperation={onOperation} />
              ))}
            </span>
          ))}
        </div>
      ))}
    </div>
  );
}

interface LineProps {
  readonly line: string;
  readonly lit: Term | undefined;
  /** Its first term can be reached with Tab; the arrow keys lead on from there. */
  readonly reachable: boolean;
  readonly subject: Subject;
  readonly onOperation: (operation: Operation) => void;
}

function Line({ line, lit, reachable, subject, onOperation }: LineProps): ReactNode {
  const parts = pieces(line);
  const first = parts.findIndex(({ term }) => term !== undefined);
  return (
    <span className={styles.line}>
      {parts.map(({ text, term }, i) => term === undefined ? <span key={i}>{behind(parts, i).rest}</span> : (
        <span key={i} className={styles.together}><button
          type="button"
          className={styles.term}
          data-term={term}
          data-lit={term === lit || undefined}
          tabIndex={reachable && i === first ? 0 : -1}
          aria-label={t('update.termIs', { symbol: text.replace('_', ''), term: t(`update.term.${term}`), value: sayTerm(subject, term) })}
          title={t(`update.term.${term}`)}
          onClick={() => {
            const from = TERMS[term];
            if (from !== undefined) onOperation(from);
          }}
        >
          <Written text={text} />
        </button>{behind(parts, i + 1).closing}</span>
      ))}
    </span>
  );
}

/** What stands behind a term: closing signs stay with it at the end of a line. */
function behind(parts: readonly Piece[], i: number): { readonly closing: string; readonly rest: string } {
  const { text = '', term } = parts[i] ?? {};
  if (term !== undefined) return { closing: '', rest: text };
  const closing = parts[i - 1]?.term === undefined ? '' : (/^[),]+/.exec(text)?.[0] ?? '');
  return { closing, rest: text.slice(closing.length) };
}

/** `T_max`: what stands behind the line is written below. */
export function Written({ text }: { readonly text: string }): ReactNode {
  const parts = text.split(/_([A-Za-zθ]+)/);
  return parts.map((part, i) => (i % 2 === 1 ? <sub key={i}>{part}</sub> : part));
}

/** Arrow keys lead from term to term: along the lines, or to the same pane of the next line. */
function walkTerms(event: KeyboardEvent<HTMLElement>): void {
  const { target, currentTarget } = event;
  if (!(target instanceof HTMLElement) || target.dataset.term === undefined) return;
  const all = [...currentTarget.querySelectorAll<HTMLElement>('[data-term]')];
  const at = all.indexOf(target);
  const pane = target.closest<HTMLElement>('[data-pane]')?.dataset.pane;
  const lineOf = (element: HTMLElement): Element | null => element.closest('[role=row]');
  const inPane = (element: HTMLElement): boolean => element.closest<HTMLElement>('[data-pane]')?.dataset.pane === pane && lineOf(element) !== lineOf(target);
  const to = {
    ArrowRight: all[at + 1],
    ArrowLeft: all[at - 1],
    ArrowDown: all.slice(at).find(inPane),
    ArrowUp: all.slice(0, at).findLast(inPane),
  }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  to.focus();
}
