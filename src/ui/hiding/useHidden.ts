import { useMemo } from 'react';
import { useSearch } from 'wouter';
import { hiddenBy, parseHide, type Control } from './controls.ts';

/** What the address hides. */
export function useHidden(): ReadonlySet<Control> {
  const search = useSearch();
  return useMemo(() => hiddenBy(parseHide(search)), [search]);
}
