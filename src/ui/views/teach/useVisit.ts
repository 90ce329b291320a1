import { useEffect } from 'react';
import type { SectionId } from './plan.ts';
import { teach } from './store.ts';

/** What is presented is where the class is: the clock and the next visit begin there. */
export function useVisit(section: SectionId): void {
  useEffect(() => {
    teach.visit(section);
  }, [section]);
}
