/** The masking experiment: which runs it is made of, and what is measured of them. Pure. */
import type { Drift } from '../../../evaluation/masking.ts';
import { MASKING_SETTINGS, type MaskingSetting } from '../../../evaluation/masking.ts';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import type { RunSettings, RunSummary, StepSummary } from '../../../lab/protocol.ts';
import type { RecordedMasking } from '../../stores/evaluations.ts';
import { differences } from '../train/presets.ts';
import type { CompareAddress } from './address.ts';

export const MASKING_STEPS = 60;

/** Steps at the end over which the figures of training are averaged: one step of 48 rollouts is noisy. */
export const LAST_STEPS = 10;

export interface PlannedRun {
  readonly setting: MaskingSetting;
  readonly settings: RunSettings;
}

export function settingsOf(which: CompareAddress['which']): readonly MaskingSetting[] {
  return MASKING_SETTINGS.filter(({ tool }) => which === 'both' || (tool === 'chatty') === (which === 'chatty'));
}

/** Pair by pair, seed by seed: whoever stops early has whole pairs. */
export function plannedRuns(which: CompareAddress['which'], seeds: number): PlannedRun[] {
  return Array.from({ length: seeds }, (_, i) => i + 1).flatMap((seed) => settingsOf(which).map((setting): PlannedRun => ({
    setting,
    settings: {
      suite: 'arithmetic', model: setting.model, seed, steps: MASKING_STEPS, tool: setting.tool,
      grpo: { ...DEFAULT_GRPO, questions: setting.questions, mask: setting.mask },
    },
  })));
}

/** The run with exactly these settings that has got furthest: experiments go on where an earlier visit left them. */
export function madeRun(settings: RunSettings, runs: readonly RunSummary[]): RunSummary | undefined {
  const same = runs.filter((run) => differences(run.settings, settings).length === 0);
  return same.reduce<RunSummary | undefined>((best, run) => (best === undefined || run.step > best.step ? run : best), undefined);
}

export const isMade = (run: RunSummary | undefined): boolean => run !== undefined && run.step >= run.settings.steps;

export const MEASURES = ['reward', 'strictFormat', 'klToBase', 'gradNorm', 'forged', 'outputAfterCall'] as const;
export type Measure = (typeof MEASURES)[number];
export type Measured = Readonly<Record<Measure, number>>;

/** Decimals, and the least end of the axis. */
export const MEASURE_AXES: Readonly<Record<Measure, readonly [digits: number, least: number]>> = {
  reward: [2, 4], strictFormat: [2, 1], klToBase: [3, 0.1], gradNorm: [2, 1], forged: [3, 0.05], outputAfterCall: [3, 0.1],
};

function meanOver(steps: readonly StepSummary[], key: string): number {
  const known = steps.map(({ metrics }) => metrics[key] ?? NaN).filter(Number.isFinite);
  return known.reduce((a, b) => a + b, 0) / known.length;
}

/** Of a run made here: reward and format of its last steps, the gradient over all of them, and the drift at the last. */
export function measuredOf(steps: readonly StepSummary[], drift: Drift | undefined): Measured {
  const last = steps.slice(-LAST_STEPS);
  return {
    reward: meanOver(last, 'reward'), strictFormat: meanOver(last, 'format_strict'), gradNorm: meanOver(steps, 'grad_norm'),
    klToBase: drift?.klToBase ?? NaN, forged: drift?.forged ?? NaN, outputAfterCall: drift?.outputAfterCall ?? NaN,
  };
}

/** Of a recorded run: reward and format on held-out questions after it. */
export function measuredOfRecorded({ reward, strictFormat, klToBase, gradNorm, forged, outputAfterCall }: RecordedMasking['runs'][number]): Measured {
  return { reward, strictFormat, klToBase, gradNorm: gradNorm ?? NaN, forged, outputAfterCall: outputAfterCall ?? NaN };
}
