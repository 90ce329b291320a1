import type { ReactNode } from 'react';
import type { Control } from './controls.ts';
import { useHidden } from './useHidden.ts';

/** Its children, unless the address hides the control: then it is not there at all. */
export function Hideable({ name, children }: { readonly name: Control; readonly children: ReactNode }): ReactNode {
  return useHidden().has(name) ? null : children;
}
