/**
 * The settings of the next run. In the train view they stand in the address too: whoever gets the link has them. Both
 * are changed by the same actions.
 */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { VARIANTS, type VariantName } from '../../grpo/settings.ts';
import type { RunSettings } from '../../lab/protocol.ts';
import { navigate, splitHash } from '../routes.ts';
import { parseSettings, settingsQuery, withValue, type FieldPath } from '../views/train/fields.ts';
import { PRESET_SETTINGS, type Leaf, type PresetName } from '../views/train/presets.ts';

const draftStore = createStore<{ readonly settings: RunSettings }>(() => ({ settings: PRESET_SETTINGS.paper }));

export function useDraft(): RunSettings {
  return useStore(draftStore, (s) => s.settings);
}

/** Where the train view is, with these settings. */
export function trainAddress(settings: RunSettings = draftStore.getState().settings): string {
  const query = settingsQuery(settings);
  return query === '' ? '/train' : `/train?${query}`;
}

/** Takes over the settings of a link, now and whenever one is followed. */
export function followLinks(): void {
  const follow = (): void => {
    const { path, search } = splitHash(location.hash);
    if (path === '/train' && search !== '') draftStore.setState({ settings: parseSettings(search) });
  };
  follow();
  addEventListener('hashchange', follow);
}

function change(make: (settings: RunSettings) => RunSettings): void {
  const settings = make(draftStore.getState().settings);
  draftStore.setState({ settings });
  if (splitHash(location.hash).path === '/train') navigate(trainAddress(settings), { replace: true });
}

export const draft = {
  current: (): RunSettings => draftStore.getState().settings,
  /** Keeps the seed. */
  preset: (name: PresetName): void => {
    change(({ seed }) => ({ ...PRESET_SETTINGS[name], seed }));
  },
  variant: (name: VariantName): void => {
    change((settings) => ({ ...settings, grpo: { ...settings.grpo, ...VARIANTS[name].settings } }));
  },
  set: (path: FieldPath, value: Leaf): void => {
    change((settings) => withValue(settings, path, value));
  },
};
