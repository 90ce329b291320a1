import { lazy, Suspense, type ReactNode } from 'react';
import type { ChoiceProps } from './choice-props.ts';
import { Icon } from './Icon.tsx';
import styles from './Choice.module.css';

// The code of menus is larger than the first view: the button paints without it.
const Menu = lazy(async () => ({ default: (await import('./ChoiceMenu.tsx')).ChoiceMenu }));

/** One of a short list of words. */
export function Choice<T extends string>({ onChange, ...rest }: ChoiceProps<T>): ReactNode {
  const choose = (next: string): void => {
    const item = rest.items.find((i) => i.value === next);
    if (item !== undefined) onChange(item.value);
  };
  const waiting = (
    <button type="button" className={styles.trigger} aria-label={rest.label} aria-busy="true">
      <span>{rest.items.find((i) => i.value === rest.value)?.label}</span>
      <Icon name="down" size={14} />
    </button>
  );
  return <Suspense fallback={waiting}><Menu {...rest} onChange={choose} /></Suspense>;
}
