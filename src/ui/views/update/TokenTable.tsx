import { useState, type ReactNode } from 'react';
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { ENVIRONMENT, PROMPT } from '../../../rollout/trajectory.ts';
import { format, t } from '../../text/text.ts';
import { spanAt, tokenText } from '../step/tokens.ts';
import { short } from './numbers.ts';
import styles from './TokenTable.module.css';

interface TokenTableProps {
  readonly label: string;
  readonly rollout: TrainedTrajectory;
  readonly columns: readonly { readonly name: string; readonly value: (token: number) => number }[];
}

/** The twin of what is drawn at the tokens: the same numbers, made when it is opened; in full in the cells' `value`. */
export function TokenTable({ label, rollout, columns }: TokenTableProps): ReactNode {
  const [open, setOpen] = useState(false);
  const owner = (i: number): string => t(rollout.owner[i] === PROMPT ? 'owner.prompt' : rollout.owner[i] === ENVIRONMENT ? 'owner.environment' : 'owner.policy');
  return (
    <details className={styles.details} onToggle={(event) => {
      setOpen(event.currentTarget.open);
    }}>
      <summary>{label}</summary>
      {open && (
        // A region that scrolls must be reachable by keyboard.
        // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        <div className={styles.scroll} role="region" aria-label={label} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th scope="col" className="figure">{t('column.position')}</th>
                {(['token', 'owner', 'kind'] as const).map((name) => <th key={name} scope="col">{t(`column.${name}`)}</th>)}
                {columns.map(({ name }) => <th key={name} scope="col" className="figure">{name}</th>)}
              </tr>
            </thead>
            <tbody>
              {Array.from(rollout.tokens, (_, i) => (
                <tr key={i}>
                  <th scope="row" className="figure">{format.integer(i)}</th>
                  <td><code>{tokenText(rollout, i)}</code></td>
                  <td>{owner(i)}</td>
                  <td>{t(`kind.${spanAt(rollout, i)?.kind ?? 'stray'}`)}</td>
                  {columns.map(({ name, value }) => <td key={name} className="figure"><data value={String(value(i))}>{short(value(i))}</data></td>)}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
