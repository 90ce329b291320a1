/** The settings of the next run. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { AdamW } from '../../policy/engine.ts';
import type { RewardSettings } from '../../reward/reward.ts';
import { VARIANTS, type GrpoSettings, type VariantName } from '../../grpo/settings.ts';
import type { RunSettings } from '../../lab/protocol.ts';
import { PRESET_SETTINGS, type PresetName } from '../views/train/presets.ts';

const draftStore = createStore<{ readonly settings: RunSettings }>(() => ({ settings: PRESET_SETTINGS.paper }));

export function useDraft(): RunSettings {
  return useStore(draftStore, (s) => s.settings);
}

export const currentDraft = (): RunSettings => draftStore.getState().settings;

const change = (make: (settings: RunSettings) => RunSettings): void => {
  draftStore.setState(({ settings }) => ({ settings: make(settings) }));
};

export const draft = {
  /** Keeps the seed. */
  preset: (name: PresetName): void => {
    change(({ seed }) => ({ ...PRESET_SETTINGS[name], seed }));
  },
  variant: (name: VariantName): void => {
    draft.grpo(VARIANTS[name].settings);
  },
  run: (part: Partial<Omit<RunSettings, 'grpo'>>): void => {
    change((settings) => ({ ...settings, ...part }));
  },
  grpo: (part: Partial<GrpoSettings>): void => {
    change((settings) => ({ ...settings, grpo: { ...settings.grpo, ...part } }));
  },
  reward: (part: Partial<RewardSettings>): void => {
    change((settings) => ({ ...settings, grpo: { ...settings.grpo, reward: { ...settings.grpo.reward, ...part } } }));
  },
  optimizer: (part: Partial<AdamW>): void => {
    change((settings) => ({ ...settings, grpo: { ...settings.grpo, optimizer: { ...settings.grpo.optimizer, ...part } } }));
  },
};
