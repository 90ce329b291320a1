/** The rules that are being written, one for each kind of question. They outlive the view and the group: a person tries one rule on many groups. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { EXAMPLE_RULES, PAPER_RULE, WORKFLOW_EXAMPLES, WORKFLOW_RULE, type ExampleName } from '../../../reward/rule.ts';

/** Which questions a rule scores: those with an answer, or workflows. */
export type RuleKind = 'math' | 'workflow';
export type RuleName = 'paper' | ExampleName;

/** Rules to start from. */
export const RULES: Readonly<Record<RuleKind, Readonly<Record<RuleName, string>>>> = {
  math: { paper: PAPER_RULE, ...EXAMPLE_RULES },
  workflow: { paper: WORKFLOW_RULE, ...WORKFLOW_EXAMPLES },
};

const draft = createStore<Readonly<Record<RuleKind, string>>>(() => ({ math: PAPER_RULE, workflow: WORKFLOW_RULE }));

export function useRuleDraft(kind: RuleKind): string {
  return useStore(draft, (s) => s[kind]);
}

export function writeRule(kind: RuleKind, code: string): void {
  draft.setState({ [kind]: code });
}
