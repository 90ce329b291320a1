/** What is written in the Python editor, and the calls that were made by hand: kept while other views are looked at. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { LIMITS } from './limits.ts';

export interface HandCall {
  /** From 1. */
  readonly number: number;
  readonly code: string;
}

interface HandCalls {
  readonly draft: string;
  /** The code of the address that the draft came after; another one there is newer than the draft. */
  readonly of: string | undefined;
  /** The latest last. */
  readonly calls: readonly HandCall[];
}

/** Calls that are listed. */
const KEPT = 8;

const store = createStore<HandCalls>(() => ({ draft: LIMITS[0].code, of: undefined, calls: [] }));

export function useHandCalls(): readonly HandCall[] {
  return useStore(store, (s) => s.calls);
}

/** What stands in the editor. */
export function useDraftCode(linked: string | undefined): string {
  const { draft, of } = useStore(store);
  return linked !== undefined && linked !== of ? linked : draft;
}

export function writeDraft(draft: string, linked: string | undefined): void {
  store.setState({ draft, of: linked });
}

/** @returns the calls that were added. */
export function makeCalls(codes: readonly string[]): HandCall[] {
  const { calls } = store.getState();
  const last = calls.at(-1)?.number ?? 0;
  const made = codes.map((code, i) => ({ number: last + 1 + i, code }));
  store.setState({ calls: [...calls, ...made].slice(-KEPT) });
  return made;
}
