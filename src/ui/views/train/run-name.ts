/** A run's name in words: its preset, and what differs from it. */
import type { RunSettings } from '../../../lab/protocol.ts';
import { format, t } from '../../text/text.ts';
import { nameRun, type Difference } from './presets.ts';

const short = (path: string): string => path.split('.').at(-1) ?? path;

/** Settings are called as in the recipe files and on the command line; their values are numbers and words of code. */
function say({ path, value }: Difference): string {
  if (typeof value === 'boolean') return t('name.switch', { name: short(path), on: value });
  return t('name.value', { name: short(path), value: typeof value === 'number' ? format.significant(value, 6) : value });
}

export function runName(settings: RunSettings): string {
  const { preset, variant, differences } = nameRun(settings);
  return [t(`preset.${preset}`), ...(variant === undefined ? [] : [t(`variant.${variant}`)]), ...differences.map(say)].join(t('name.join'));
}
