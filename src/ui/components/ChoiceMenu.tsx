import { Select } from 'radix-ui';
import type { ReactNode } from 'react';
import type { ChoiceProps } from './choice-props.ts';
import { Icon } from './Icon.tsx';
import styles from './Choice.module.css';

/** The choice with its menu. */
export function ChoiceMenu({ label, value, items, onChange, describedBy }: ChoiceProps<string>): ReactNode {
  return (
    <Select.Root value={value} onValueChange={onChange}>
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
              <Select.Item key={item.value} value={item.value} className={styles.item} {...(item.lang === undefined ? {} : { lang: item.lang })}>
                <Select.ItemText>{item.label}</Select.ItemText>
              </Select.Item>
            ))}
          </Select.Viewport>
        </Select.Content>
      </Select.Portal>
    </Select.Root>
  );
}
