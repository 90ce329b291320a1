/**
 * Controls that a link can hide: `hide=mask,reward`. A name hides the control and, where it is a group, all that belong
 * to it. A hidden control keeps the setting that the address gives it. Pure.
 */
import { FIELD_GROUPS, nameOf, type FieldName, type FieldPath, type GroupName } from '../views/train/fields.ts';

const fields = (group: GroupName): FieldName[] => (Object.keys(FIELD_GROUPS[group]) as FieldPath[]).map(nameOf);

/** Entries of the rail, by their address. */
export const RAIL = ['home', 'lesson', 'train', 'rollout', 'group', 'update', 'compare', 'tools', 'teach', 'reference'] as const;
export type RailName = (typeof RAIL)[number];
const TOP = ['engine', 'seed', 'language', 'theme', 'keys'] as const;

export type HideGroup = 'rail' | 'top' | 'settings' | 'algorithm' | GroupName;
export type Control = HideGroup | `rail.${RailName}` | (typeof TOP)[number] | 'presets' | 'variant' | 'variants' | 'rule' | 'runs' | 'signals' | FieldName;

export const HIDE_GROUPS: Readonly<Record<HideGroup, readonly Control[]>> = {
  rail: RAIL.map((name) => `rail.${name}` as const),
  top: TOP,
  settings: ['presets', 'run', 'sampling', 'reward', 'objective', 'optimizer'],
  run: fields('run'),
  sampling: fields('sampling'),
  reward: [...fields('reward'), 'rule'],
  objective: ['mask', 'algorithm'],
  algorithm: ['variant', 'variants', ...fields('objective').filter((name) => name !== 'mask')],
  optimizer: fields('optimizer'),
};

export function isGroup(name: Control): name is HideGroup {
  return Object.hasOwn(HIDE_GROUPS, name);
}

/** In the order in which a link names them. */
export const CONTROLS: readonly Control[] = [...new Set([...(Object.keys(HIDE_GROUPS) as HideGroup[]), ...Object.values(HIDE_GROUPS).flat(), 'runs' as const, 'signals' as const])];

/** The names that a link gives, without what nothing is called. */
export function parseHide(search: string): Control[] {
  const names = new Set((new URLSearchParams(search).get('hide') ?? '').split(','));
  return CONTROLS.filter((name) => names.has(name));
}

/** For the address: empty where nothing is hidden. */
export function hideQuery(names: readonly Control[]): string {
  return names.length === 0 ? '' : `hide=${CONTROLS.filter((name) => names.includes(name)).join(',')}`;
}

/** All that is hidden by these names. */
export function hiddenBy(names: readonly Control[]): ReadonlySet<Control> {
  const hidden = new Set<Control>();
  const add = (name: Control): void => {
    if (hidden.has(name)) return;
    hidden.add(name);
    if (isGroup(name)) HIDE_GROUPS[name].forEach(add);
  };
  names.forEach(add);
  return hidden;
}
