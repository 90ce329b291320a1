/** Every setting that can be changed: where it lies, what it may be. Form and links are made from this. Pure. */
import { NO_CLIP } from '../../../grpo/settings.ts';
import type { RunSettings } from '../../../lab/protocol.ts';
import { grpoOf, isWorkflow } from '../../../lab/suite-settings.ts';
import { TOOL_NAMES } from '../../../rollout/environments.ts';
import { differences, flatten, PRESET_SETTINGS, PRESETS, presetOf, STARTS, type Leaf, type PresetName } from './presets.ts';

interface NumberKind {
  readonly kind: 'number';
  readonly least: number;
  readonly most: number | ((settings: RunSettings) => number);
  readonly whole?: true;
  /** The value that means "no limit". */
  readonly unlimited?: number;
}

interface ChoiceKind {
  readonly kind: 'choice';
  readonly values: readonly string[];
}

export type Kind = NumberKind | ChoiceKind | { readonly kind: 'switch' };

const count = (least: number, most: NumberKind['most']): NumberKind => ({ kind: 'number', least, most, whole: true });
const number = (least: number, most: number, unlimited?: number): NumberKind => ({ kind: 'number', least, most, ...(unlimited === undefined ? {} : { unlimited }) });

/** Settings of Python and of the rule of its questions: they say nothing of workflows. */
const OF_PYTHON: readonly FieldPath[] = ['tool', 'grpo.reward.noCall'];

export function applies(path: FieldPath, { suite }: RunSettings): boolean {
  return !isWorkflow(suite) || !OF_PYTHON.includes(path);
}

/** In groups, as they stand in the form; by path within the settings. */
export const FIELD_GROUPS = {
  run: {
    model: { kind: 'choice', values: Object.keys(STARTS) },
    tool: { kind: 'choice', values: TOOL_NAMES },
    seed: count(0, 2 ** 31 - 1),
    steps: count(1, 10_000),
  },
  sampling: {
    'grpo.questions': count(1, 64),
    'grpo.group': count(1, 32),
    'grpo.temperature': number(0.1, 3),
    'grpo.maxCalls': count(0, 10),
    'grpo.maxLength': count(32, 160),
  },
  reward: {
    'grpo.reward.noCall': { kind: 'choice', values: ['paper', 'excluded', 'full'] },
    'grpo.reward.callCost': number(0, 2),
  },
  objective: {
    'grpo.mask': { kind: 'switch' },
    'grpo.advantage': { kind: 'choice', values: ['sample-std', 'population-std', 'mean'] },
    'grpo.aggregation': { kind: 'choice', values: ['sequence-mean', 'token-mean', 'constant'] },
    'grpo.epsilonLow': number(0, 1, NO_CLIP),
    'grpo.epsilonHigh': number(0, 10, NO_CLIP),
    'grpo.beta': number(0, 10),
    'grpo.innerEpochs': count(1, 16),
    'grpo.minibatches': count(1, ({ grpo }) => grpo.questions * grpo.group),
    'grpo.refills': count(0, 8),
  },
  optimizer: {
    'grpo.optimizer.learningRate': number(1e-7, 0.1),
    'grpo.optimizer.beta1': number(0, 0.9999),
    'grpo.optimizer.beta2': number(0, 0.99999),
    'grpo.optimizer.epsilon': number(1e-12, 1),
    'grpo.optimizer.weightDecay': number(0, 1),
    'grpo.optimizer.maxGradNorm': number(0.001, 1000, NO_CLIP),
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Kind>>>>;

type Groups = typeof FIELD_GROUPS;
export type GroupName = keyof Groups;
export type FieldPath = { [G in GroupName]: keyof Groups[G] & string }[GroupName];

/** The last part of a path: `grpo.reward.callCost` is called `callCost`. */
export type NameOf<P extends string> = P extends `${string}.${infer Rest}` ? NameOf<Rest> : P;
export type FieldName = NameOf<FieldPath>;

export function nameOf(path: FieldPath): FieldName {
  return path.split('.').at(-1) as FieldName;
}

export const FIELDS = new Map<FieldPath, Kind>(
  Object.values(FIELD_GROUPS).flatMap((fields) => Object.entries(fields) as [FieldPath, Kind][]),
);

export function valueAt(settings: RunSettings, path: FieldPath): Leaf {
  const value = flatten(settings).get(path);
  if (value === undefined) throw new RangeError(`there is no setting ${path}`);
  return value;
}

/**
 * The settings with one of them changed. A starting policy brings the questions and the tool that it was made with; where
 * its questions are scored by another rule, also the settings that belong to them.
 */
export function withValue(settings: RunSettings, path: FieldPath, value: Leaf): RunSettings {
  if (path === 'model') {
    const start = STARTS[value as keyof typeof STARTS];
    const grpo = isWorkflow(start.suite) === isWorkflow(settings.suite) ? settings.grpo : grpoOf(start.suite);
    return { ...settings, ...start, model: String(value), grpo };
  }
  const set = (object: object, [key = '', ...rest]: readonly string[]): object => ({
    ...object,
    [key]: rest.length === 0 ? value : set((object as Record<string, object>)[key] ?? {}, rest),
  });
  return set(settings, path.split('.')) as RunSettings;
}

export function mostOf(kind: NumberKind, settings: RunSettings): number {
  return typeof kind.most === 'number' ? kind.most : kind.most(settings);
}

/** A setting from a link, or undefined where it is nothing that the form would take. */
function read(text: string, kind: Kind, settings: RunSettings): Leaf | undefined {
  switch (kind.kind) {
    case 'switch':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'choice':
      return kind.values.find((value) => value === text);
    case 'number': {
      const value = text.trim() === '' ? NaN : Number(text);
      const fits = value >= kind.least && value <= mostOf(kind, settings) && (kind.whole !== true || Number.isInteger(value));
      return fits || value === kind.unlimited ? value : undefined;
    }
  }
}

/** The preset that a link or a form starts from, and every setting that differs from it. */
export function settingsQuery(settings: RunSettings, preset: PresetName = presetOf(settings) ?? 'paper'): string {
  const query = new URLSearchParams(preset === 'paper' ? {} : { preset });
  const start = withValue(PRESET_SETTINGS[preset], 'model', settings.model);
  if (start.model !== PRESET_SETTINGS[preset].model) query.set('model', start.model);
  for (const { path, value } of differences(settings, start)) query.set(path, String(value));
  return query.toString();
}

/** The settings of a link. What the form would not take is ignored. */
export function parseSettings(search: string): RunSettings {
  const query = new URLSearchParams(search);
  let settings = PRESET_SETTINGS[PRESETS.find((name) => name === query.get('preset')) ?? 'paper'];
  for (const [path, kind] of FIELDS) {
    const text = query.get(path);
    const value = text === null ? undefined : read(text, kind, settings);
    if (value !== undefined) settings = withValue(settings, path, value);
  }
  return settings;
}
