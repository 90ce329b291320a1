/** The recorded run that ships with the page: what is seen before anything was trained here. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { RecordedRun } from '../../lab/protocol.ts';

export type RecordedState =
  | { readonly state: 'loading' }
  | { readonly state: 'ready'; readonly recorded: RecordedRun }
  | { readonly state: 'missing' };

const recordedStore = createStore<{ readonly it: RecordedState }>(() => ({ it: { state: 'loading' } }));

export function useRecorded(): RecordedState {
  return useStore(recordedStore, (s) => s.it);
}

export async function loadRecorded(fetchIt: () => Promise<RecordedRun>): Promise<void> {
  try {
    recordedStore.setState({ it: { state: 'ready', recorded: await fetchIt() } });
  } catch {
    // The page is complete without it; the views say that there is nothing to show yet.
    recordedStore.setState({ it: { state: 'missing' } });
  }
}
