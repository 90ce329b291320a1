/** Which policies can be compared, and what they are called. */
import { useMemo } from 'react';
import { SHIPPED, type Condition } from '../../../evaluation/conditions.ts';
import type { RunSummary } from '../../../lab/protocol.ts';
import { useRuns } from '../../stores/histories.ts';
import { t } from '../../text/text.ts';
import { runName } from '../train/run-name.ts';
import { parsePolicy, policyId, type Policy } from './address.ts';

type Shipped = (typeof SHIPPED)[string];

const NONE: Shipped = { warmStart: '', trained: '' };

export function shippedOf(suite: string): Shipped {
  return SHIPPED[suite] ?? NONE;
}

/** What stands for a condition. */
export function policyOf(suite: string, condition: Condition): Policy {
  const { warmStart, trained } = shippedOf(suite);
  return { source: { model: condition === 'trained' ? trained : warmStart }, access: condition === 'base' ? 'none' : 'tools' };
}

/** Policies that ship beside those of the conditions. */
const FURTHER: Readonly<Record<string, readonly string[]>> = { arithmetic: ['arithmetic-small'] };

export interface PolicyItem {
  readonly value: string;
  readonly label: string;
}

/** The shipped policies of a suite and the runs that were made on it, each as it is now. */
export function usePolicies(suite: string): readonly PolicyItem[] {
  const runs = useRuns();
  return useMemo(() => {
    const { warmStart, trained } = shippedOf(suite);
    const ids = [`model:${warmStart}`, `base:${warmStart}`, `model:${trained}`, ...(FURTHER[suite] ?? []).map((name) => `model:${name}`)];
    const ofRuns = runs.filter(({ summary }) => summary.settings.suite === suite).map(({ summary }) => policyId({ source: { run: summary.id, step: summary.step }, access: 'tools' }));
    return [...ids, ...ofRuns].map((value) => ({ value, label: policyName(value, suite, runs) }));
  }, [suite, runs]);
}

/** @param runs those that can be named. */
export function policyName(id: string, suite: string, runs: readonly { readonly summary: RunSummary; readonly kind: 'current' | 'stored' | 'recorded' }[]): string {
  const policy = parsePolicy(id);
  if (policy === undefined) return id;
  if ('model' in policy.source) {
    const { model } = policy.source;
    const { warmStart, trained } = shippedOf(suite);
    if (model === warmStart) return t(policy.access === 'none' ? 'policy.base' : 'policy.prompted');
    return model === trained ? t('policy.trained') : t('policy.other', { name: model });
  }
  const { run, step } = policy.source;
  const found = runs.find(({ summary }) => summary.id === run);
  if (found === undefined) return t('policy.unknown');
  const { settings } = found.summary;
  const facts = { name: runName(settings), seed: settings.seed, step: step ?? found.summary.step };
  return found.kind === 'recorded' ? t('policy.recorded', facts) : t('policy.run', facts);
}

/** A suite is called by its name in recipes and on the command line where the catalogue has no words for it. */
export function suiteLabel(name: string): string {
  return name === 'arithmetic' || name === 'arithmetic-steps' || name === 'workflow' ? t(`suite.${name}`) : name;
}
