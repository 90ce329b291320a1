import { ToggleGroup } from 'radix-ui';
import type { ReactNode } from 'react';
import styles from './Segments.module.css';

export interface Segment<T extends string> {
  readonly value: T;
  readonly label: string;
  /** Shown in place of the label, which is then what a screen reader says. */
  readonly picture?: ReactNode;
  /** A key that does the same. */
  readonly hotkey?: string;
}

interface SegmentsProps<T extends string> {
  readonly label: string;
  readonly value: T | undefined;
  readonly items: readonly Segment<T>[];
  readonly onChange: (value: T) => void;
}

/** A few words side by side, of which one holds. */
export function Segments<T extends string>({ label, value, items, onChange }: SegmentsProps<T>): ReactNode {
  return (
    <ToggleGroup.Root
      type="single"
      className={styles.group}
      aria-label={label}
      value={value ?? ''}
      onValueChange={(next) => {
        const item = items.find((i) => i.value === next);
        if (item !== undefined) onChange(item.value);
      }}
    >
      {items.map((item) => (
        <ToggleGroup.Item
          key={item.value}
          value={item.value}
          className={styles.item}
          {...(item.picture === undefined ? {} : { 'aria-label': item.label, title: item.label })}
          {...(item.hotkey === undefined ? {} : { 'aria-keyshortcuts': item.hotkey })}
        >
          {item.hotkey !== undefined && <kbd className={styles.key}>{item.hotkey}</kbd>}
          {item.picture ?? item.label}
        </ToggleGroup.Item>
      ))}
    </ToggleGroup.Root>
  );
}
