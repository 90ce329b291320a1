/** Entries of a state and their changes, in words. */
import type { Domain } from '../../../tasks/workflow.ts';
import type { Change } from '../../../tools/workflow/workflow.ts';
import { format, t } from '../../text/text.ts';

const TRAVEL_KEYS = ['flight', 'hotel', 'nights', 'car_days', 'left'] as const;

/** The entries of a trip have names; those of returns are the ids of orders. */
export function keyWords(domain: Domain, key: string): string {
  const known = domain === 'travel' ? TRAVEL_KEYS.find((name) => name === key) : undefined;
  return known === undefined ? key : t(`tools.flow.key.${known}`);
}

export function valueWords(key: string, value: string | number | null): string {
  if (value === null) return t('tools.none');
  if (typeof value === 'string') return value;
  return key === 'left' ? t('tools.flow.yuan', { amount: value }) : format.integer(value);
}

export function changeWords(domain: Domain, changes: readonly Change[]): string {
  if (changes.length === 0) return t('tools.flow.unchanged');
  return t('tools.flow.changed', {
    changes: format.list(changes.map(({ key, before, after }) => t('tools.flow.change', { key: keyWords(domain, key), before: valueWords(key, before), after: valueWords(key, after) }))),
  });
}
