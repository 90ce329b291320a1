import { Select } from 'radix-ui';
import type { ReactNode } from 'react';
import { Icon } from './Icon.tsx';
import styles from './Choice.module.css';

export interface ChoiceItem<T extends string> {
  readonly value: T;
  readonly label: string;
}

interface ChoiceProps<T extends string> {
  readonly label: string;
  readonly value: T;
  readonly items: readonly ChoiceItem<T>[];
  readonly onChange: (value: T) => void;
  readonly describedBy?: string;
}

/** One of a short list of words. */
export function Choice<T extends string>({ label, value, items, onChange, describedBy }: ChoiceProps<T>): ReactNode {
  return (
    <Select.Root
      value={value}
      onValueChange={(next) => {
        const item = items.find((i) => i.value === next);
        if (item !== undefined) onChange(item.value);
      }}
    >
      <Select.Trigger className={styles.trigger} aria-label={label} {...(describedBy === undefined ? {} : { 'aria-describedby': describedBy })}>
        <Select.Value />
        <Select.Icon>
          <Icon name="down" size={14} />
        </Select.Icon>
      </Select.Trigger>
      <Select.Portal>
        <Select.Content className={styles.content} position="popper" sideOffset={4}>
          <Select.Viewport>
            {items.map((item) => (
              <Select.Item key={item.value} value={item.value} className={styles.item}>
                <Select.ItemText>{item.label}</Select.ItemText>
              </Select.Item>
            ))}
          </Select.Viewport>
        </Select.Content>
      </Select.Portal>
    </Select.Root>
  );
}
