/** What a hidden control is called on the page. Wants the parts `teach` and `train` of the catalogue. */
import { t } from '../text/text.ts';
import { FIELDS, nameOf, type FieldName } from '../views/train/fields.ts';
import type { Control, RailName } from './controls.ts';

const fieldNames: ReadonlySet<string> = new Set([...FIELDS.keys()].map(nameOf));
const isField = (name: Control): name is FieldName => fieldNames.has(name);
const isRailEntry = (name: Control): name is `rail.${RailName}` => name.startsWith('rail.');

export function hideLabel(name: Control): string {
  if (isRailEntry(name)) return t('hide.railEntry', { view: t(`view.${name.slice('rail.'.length) as RailName}`) });
  if (isField(name)) return t(`set.${name}`);
  switch (name) {
    case 'rail':
    case 'top':
    case 'settings':
    case 'algorithm':
    case 'engine':
    case 'keys':
    case 'variants':
    case 'rule':
    case 'runs':
    case 'signals':
      return t(`hide.${name}`);
    case 'language':
    case 'theme':
      return t(`app.${name}`);
    case 'presets':
    case 'variant':
      return t(`setup.${name}`);
    case 'run':
    case 'sampling':
    case 'reward':
    case 'objective':
    case 'optimizer':
      return t('hide.group', { name: t(`set.${name}`) });
  }
}
