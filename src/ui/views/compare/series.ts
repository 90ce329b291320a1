/** Curves of several runs on one axis: which runs belong together, and what a line of them is. Pure. */
import type { RunSettings, StepSummary } from '../../../lab/protocol.ts';
import type { Metrics } from '../../../grpo/record.ts';
import { differences } from '../train/presets.ts';
import type { MetricName } from './address.ts';

/** The name of a metric in a step's record; with a tier that of the tier. Undefined where a tier has none. */
export function metricKey(name: MetricName, tier: number): string | undefined {
  const perTier = { reward: 'reward', accuracy: 'accuracy', calls: 'calls' } as const;
  if (tier > 0) return name in perTier ? `${perTier[name as keyof typeof perTier]}/tier_${tier}` : undefined;
  return {
    reward: 'reward', accuracy: 'accuracy', calls: 'tools/call_frequency', length: 'completions/mean_length', kl: 'kl', format: 'format_strict',
    gradient: 'grad_norm', entropy: 'entropy',
  }[name];
}

interface WithSettings {
  readonly summary: { readonly settings: RunSettings };
}

/** Runs whose settings differ in the seed alone, in the order of the first of each. Of two with the same seed each begins a group: a run is averaged once. */
export function bySettings<T extends WithSettings>(all: readonly T[]): (readonly [T, ...T[]])[] {
  const groups: [T, ...T[]][] = [];
  for (const run of all) {
    const { settings } = run.summary;
    const group = groups.find((runs) => {
      const [first] = runs;
      return !runs.some((each) => each.summary.settings.seed === settings.seed)
        && differences({ ...settings, seed: first.summary.settings.seed }, first.summary.settings).length === 0;
    });
    if (group === undefined) groups.push([run]);
    else group.push(run);
  }
  return groups;
}

export interface Line {
  /** One a step: the mean over the runs; NaN where one of them does not have it, since a mean over fewer would jump. */
  readonly values: readonly number[];
  /** Least and most over the runs; undefined for a run alone. */
  readonly spread: { readonly low: readonly number[]; readonly high: readonly number[] } | undefined;
}

/** @param steps numbers of the steps wanted. @param runs the steps of each run. */
export function lineOf(steps: readonly number[], runs: readonly (readonly StepSummary[])[], key: string): Line {
  const byStep = runs.map((run) => new Map(run.map(({ step, metrics }): [number, Metrics] => [step, metrics])));
  const at = steps.map((step) => byStep.map((run) => run.get(step)?.[key] ?? NaN).filter(Number.isFinite));
  const values = at.map((known) => (known.length < runs.length ? NaN : known.reduce((a, b) => a + b, 0) / known.length));
  if (runs.length < 2) return { values, spread: undefined };
  const edge = (pick: (...known: number[]) => number): number[] => at.map((known) => (known.length < runs.length ? NaN : pick(...known)));
  return { values, spread: { low: edge(Math.min), high: edge(Math.max) } };
}

/** All steps of some runs, ascending. */
export function stepsOf(runs: readonly (readonly StepSummary[])[]): number[] {
  return [...new Set(runs.flatMap((run) => run.map(({ step }) => step)))].sort((a, b) => a - b);
}
