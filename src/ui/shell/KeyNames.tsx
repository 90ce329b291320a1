import type { ReactNode } from 'react';
import { t } from '../text/text.ts';
import styles from './KeyNames.module.css';

const ARROWS: Readonly<Record<string, string>> = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓' };

/** Keys as they are printed on a keyboard; a row of figures as a range. */
function namesOf(keys: readonly string[]): readonly string[] {
  const [first, last] = [keys[0] ?? '', keys.at(-1) ?? ''];
  if (keys.length > 3 && keys.every((key) => /^\d$/.test(key))) return [t('keys.fromTo', { first, last })];
  return keys.map((key) => (key === ' ' ? t('keys.name.space') : (ARROWS[key] ?? key)));
}

export function KeyNames({ keys }: { readonly keys: readonly string[] }): ReactNode {
  return namesOf(keys).map((name) => <kbd key={name} className={styles.key}>{name}</kbd>);
}
