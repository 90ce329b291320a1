import type { ButtonHTMLAttributes, ReactNode } from 'react';
import styles from './Button.module.css';

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly kind?: 'primary' | 'plain' | 'quiet';
  readonly size?: 'normal' | 'large';
  readonly children: ReactNode;
}

/** Anything that is pressed. */
export function Button({ kind = 'plain', size = 'normal', className = '', type = 'button', children, ...rest }: ButtonProps): ReactNode {
  return (
    <button type={type} className={[styles.button, styles[kind], styles[size], className].join(' ')} {...rest}>
      {children}
    </button>
  );
}
