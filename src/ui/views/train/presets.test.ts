import { describe, expect, it } from 'vitest';
import { VARIANTS } from '../../../grpo/settings.ts';
import { differences, nameRun, PRESET_SETTINGS, PRESETS, presetOf, variantOf } from './presets.ts';

const { paper, selective } = PRESET_SETTINGS;

describe('presets', () => {
  it.each(PRESETS)('recognises %s under any seed', (name) => {
    expect(presetOf({ ...PRESET_SETTINGS[name], seed: 77 })).toBe(name);
  });

  it('is nobody’s preset after one change', () => {
    expect(presetOf({ ...paper, grpo: { ...paper.grpo, beta: 0.05 } })).toBeUndefined();
  });

  it('lists exactly what differs', () => {
    expect(differences(selective, paper)).toEqual([
      { path: 'steps', value: 60 },
      { path: 'grpo.reward.noCall', value: 'full' },
      { path: 'grpo.reward.callCost', value: 0.2 },
    ]);
  });

  it('names a run after the nearest preset', () => {
    const run = { ...selective, seed: 4 };
    expect(nameRun(run)).toEqual({ preset: 'selective', variant: undefined, differences: [{ path: 'seed', value: 4 }] });
  });
});

describe('variants', () => {
  it('are part of a run’s name', () => {
    const run = { ...paper, steps: 5, grpo: { ...paper.grpo, ...VARIANTS.dapo.settings } };
    expect(nameRun(run)).toEqual({ preset: 'paper', variant: 'dapo', differences: [{ path: 'steps', value: 5 }] });
  });

  it.each(Object.values(VARIANTS))('recognises $name', ({ name, settings }) => {
    expect(variantOf({ ...paper.grpo, ...settings })).toBe(name);
  });

  it('knows a mixture of them as none', () => {
    expect(variantOf({ ...paper.grpo, ...VARIANTS.dapo.settings, refills: 0 })).toBeUndefined();
  });
});
