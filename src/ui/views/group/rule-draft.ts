/** The rule that is being written. It outlives the view and the group: a person tries one rule on many groups. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { PAPER_RULE } from '../../../reward/rule.ts';

const draft = createStore<{ readonly code: string }>(() => ({ code: PAPER_RULE }));

export function useRuleDraft(): string {
  return useStore(draft, (s) => s.code);
}

export function writeRule(code: string): void {
  draft.setState({ code });
}
