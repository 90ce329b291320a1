/** Starting points for a run, and how a run is named: by what differs. Pure. */
import { DEFAULT_GRPO, VARIANTS, type GrpoSettings, type VariantName } from '../../../grpo/settings.ts';
import type { RunSettings } from '../../../lab/protocol.ts';
import { grpoOf } from '../../../lab/suite-settings.ts';

export const PRESETS = ['paper', 'selective', 'unmasked', 'workflow', 'quick'] as const;
export type PresetName = (typeof PRESETS)[number];

const PAPER: RunSettings = { suite: 'arithmetic', model: 'arithmetic-base', seed: 1, steps: 40, tool: 'plain', grpo: DEFAULT_GRPO };

export const PRESET_SETTINGS: Readonly<Record<PresetName, RunSettings>> = {
  paper: PAPER,
  selective: { ...PAPER, steps: 60, grpo: { ...DEFAULT_GRPO, reward: { noCall: 'full', callCost: 0.2 } } },
  unmasked: { ...PAPER, grpo: { ...DEFAULT_GRPO, mask: false } },
  workflow: { suite: 'workflow', model: 'workflow-base', seed: 1, steps: 100, tool: 'plain', grpo: grpoOf('workflow') },
  quick: {
    ...PAPER,
    model: 'arithmetic-small',
    steps: 40,
    grpo: { ...DEFAULT_GRPO, questions: 4, optimizer: { ...DEFAULT_GRPO.optimizer, learningRate: 1e-3 } },
  },
};

/** The policies from which a run can set out, with the questions and the tool that each was made with. */
export const STARTS = {
  'arithmetic-base': { suite: 'arithmetic', tool: 'plain' },
  'arithmetic-small': { suite: 'arithmetic', tool: 'plain' },
  'steps-base': { suite: 'arithmetic-steps', tool: 'plain' },
  'chatty-base': { suite: 'arithmetic', tool: 'chatty' },
  'workflow-base': { suite: 'workflow', tool: 'plain' },
} as const satisfies Readonly<Record<string, Pick<RunSettings, 'suite' | 'tool'>>>;

export type Leaf = string | number | boolean;

/** Every setting by its path: `seed`, `grpo.mask`, `grpo.reward.callCost`. */
export function flatten(value: object, path = ''): ReadonlyMap<string, Leaf> {
  const out = new Map<string, Leaf>();
  for (const [key, item] of Object.entries(value) as [string, Leaf | object][]) {
    const at = path === '' ? key : `${path}.${key}`;
    if (typeof item === 'object') for (const [inner, leaf] of flatten(item, at)) out.set(inner, leaf);
    else out.set(at, item);
  }
  return out;
}

export interface Difference {
  readonly path: string;
  readonly value: Leaf;
}

/** The settings of `a` that are not those of `b`, in a fixed order. */
export function differences(a: RunSettings, b: RunSettings): Difference[] {
  const theirs = flatten(b);
  return [...flatten(a)].filter(([path, value]) => !Object.is(theirs.get(path), value)).map(([path, value]) => ({ path, value }));
}

/** The preset that these settings are, whatever their seed. */
export function presetOf(settings: RunSettings): PresetName | undefined {
  return PRESETS.find((name) => differences(settings, { ...PRESET_SETTINGS[name], seed: settings.seed }).length === 0);
}

/** The variant whose switches are all set as it sets them. */
export function variantOf(grpo: GrpoSettings): VariantName | undefined {
  const names = Object.keys(VARIANTS) as VariantName[];
  return names.find((name) =>
    Object.entries(VARIANTS[name].settings).every(([key, value]) => Object.is(grpo[key as keyof GrpoSettings], value)));
}

export interface RunName {
  readonly preset: PresetName;
  /** Left out where it is plain GRPO, which every preset is. */
  readonly variant: VariantName | undefined;
  readonly differences: readonly Difference[];
}

/** A run is named by the preset and the variant from which it differs least, and by what differs. */
export function nameRun(settings: RunSettings): RunName {
  const variants = [undefined, ...(Object.keys(VARIANTS) as VariantName[]).filter((name) => name !== 'grpo')];
  const names = PRESETS.flatMap((preset) => variants.map((variant): RunName => {
    const { grpo, ...rest } = PRESET_SETTINGS[preset];
    const base = { ...rest, grpo: variant === undefined ? grpo : { ...grpo, ...VARIANTS[variant].settings } };
    return { preset, variant, differences: differences(settings, base) };
  }));
  const length = (name: RunName): number => name.differences.length + (name.variant === undefined ? 0 : 1);
  return names.reduce((best, next) => (length(next) < length(best) ? next : best));
}
