/** Which numbers of an evaluation are shown, and how. Pure. */
import type { EvaluationResult, Figures } from '../../../evaluation/evaluate.ts';
import { isWorkflow } from '../../../lab/suite-settings.ts';
import { format } from '../../text/text.ts';
import type { BarValue } from './Bars.tsx';

/** Not known is not 0: there was no call, or none failed. */
const known = (x: number | null | undefined): number => x ?? NaN;

const COMMON = ['calls', 'callSuccess', 'selfCorrection', 'rightAfterCorrection', 'strictFormat', 'tokens', 'end', 'length', 'tooManyCalls'] as const;
const MATH = ['accuracy', 'interval', 'reward', 'answer', 'format', 'execution', ...COMMON] as const;
const WORKFLOW = ['completed', 'interval', 'taskReward', 'state', 'functions', 'taskFormat', ...COMMON] as const;
export type RowName = (typeof MATH | typeof WORKFLOW)[number];

export const rowsOf = (suite: string): readonly RowName[] => (isWorkflow(suite) ? WORKFLOW : MATH);

/** The parts of a reward in the order in which they are stacked. */
export const partsOf = (suite: string): readonly ('answer' | 'state' | 'functions' | 'format' | 'execution')[] =>
  (isWorkflow(suite) ? ['state', 'format', 'functions'] : ['answer', 'format', 'execution']);

export function cell(name: RowName, f: Figures): string {
  switch (name) {
    case 'accuracy':
    case 'completed':
      return format.fixed(f.accuracy, 2);
    case 'interval':
      return f.accuracyInterval.map((end) => format.fixed(end, 2)).join('–');
    case 'reward':
    case 'taskReward':
      return format.fixed(f.reward, 2);
    case 'answer':
    case 'state':
    case 'functions':
    case 'format':
    case 'execution':
      return format.fixed(known(f.rewardParts[name]), 2);
    case 'taskFormat':
      return format.fixed(known(f.rewardParts.format), 2);
    case 'calls':
      return format.fixed(f.calls, 2);
    case 'callSuccess':
    case 'selfCorrection':
    case 'rightAfterCorrection':
    case 'strictFormat':
      return format.fixed(known(f[name]), 2);
    case 'tokens':
      return format.fixed(f.tokens, 1);
    case 'end':
    case 'length':
      return format.fixed(f.stops[name], 2);
    case 'tooManyCalls':
      return format.fixed(f.stops.calls, 2);
  }
}

/** pass@k for each k that there is, ascending. */
export function passes(f: Figures): (readonly [number, number])[] {
  return Object.entries(f.passAt).map(([k, share]) => [Number(k), share] as const).sort(([a], [b]) => a - b);
}

/** All tiers one by one, then all together. */
export function byTier(result: EvaluationResult | undefined, tiers: readonly number[], value: (f: Figures) => BarValue): (BarValue | undefined)[] {
  const of = (f: Figures | undefined): BarValue | undefined => f && value(f);
  return [...tiers.map((tier) => of(result?.tiers.find((each) => each.tier === tier))), of(result)];
}
