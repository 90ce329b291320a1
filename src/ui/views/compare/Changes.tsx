import type { ReactNode } from 'react';
import { shownChange } from '../../text/format.ts';
import { format, t } from '../../text/text.ts';
import { Badge, type Source } from './Badge.tsx';
import type { Change } from './paper.ts';
import styles from './Changes.module.css';

export type ChangeRow = Pick<Change, 'from' | 'to' | 'over' | 'change'> & { readonly source: Source; readonly label: string; readonly digits: number };

interface ChangesProps {
  readonly title: string;
  /** Heads of the two columns of values. */
  readonly from: string;
  readonly to: string;
  readonly rows: readonly ChangeRow[];
}

/** Before and after beside each other, each row with its source. */
export function Changes({ title, from: before, to: after, rows }: ChangesProps): ReactNode {
  return (
    // A region that scrolls must be reachable by keyboard.
    // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div className={styles.scroll} role="region" aria-label={title} tabIndex={0}>
      <table>
        <caption>{title}</caption>
        <thead>
          <tr>
            <td />
            <th scope="col" className="figure">{before}</th>
            <th scope="col" className="figure">{after}</th>
            <th scope="col" className="figure">{t('paper.change')}</th>
            <th scope="col">{t('paper.source')}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ label, from, to, over, digits, change = shownChange(from, to, digits), source }) => (
            <tr key={label}>
              <th scope="row" className={styles.row}>{label}</th>
              <td className="figure">{format.fixed(from, digits)}</td>
              <td className="figure">{over === true ? t('paper.over', { value: format.fixed(to, digits) }) : format.fixed(to, digits)}</td>
              <td className="figure">{over === true ? t('paper.over', { value: format.signed(change, digits) }) : format.signed(change, digits)}</td>
              <td><Badge source={source} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
