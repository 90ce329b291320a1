import { useId, type CSSProperties, type ReactNode } from 'react';
import styles from './Look.module.css';

/** Conditions are told apart without colour: empty, hatched, full. */
export const LOOKS = ['hollow', 'hatched', 'solid'] as const;
export type Look = (typeof LOOKS)[number];

/** The hatching, once in each drawing that uses it. */
export function Hatching({ id }: { readonly id: string }): ReactNode {
  return (
    <pattern id={id} width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect width="5" height="5" className={styles.ground} />
      <rect width="2.4" height="5" className={styles.ink} />
    </pattern>
  );
}

export function fillOf(look: Look, hatching: string): CSSProperties {
  return { fill: look === 'solid' ? 'var(--series-3)' : look === 'hatched' ? `url(#${hatching})` : 'var(--surface)', stroke: 'var(--series-3)' };
}

/** The sign of a look beside its name. */
export function Swatch({ look }: { readonly look: Look }): ReactNode {
  const id = useId();
  return (
    <svg width="14" height="14" aria-hidden="true" className={styles.swatch}>
      <defs><Hatching id={id} /></defs>
      <rect x="1" y="1" width="12" height="12" strokeWidth="1.5" style={fillOf(look, id)} />
    </svg>
  );
}

export function Legend({ items }: { readonly items: readonly { readonly key: string; readonly label: string; readonly look: Look }[] }): ReactNode {
  return (
    <ul className={styles.legend}>
      {items.map(({ key, label, look }) => <li key={key}><Swatch look={look} />{label}</li>)}
    </ul>
  );
}
