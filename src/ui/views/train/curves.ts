/** Which curves a run has: metrics by name in, series out. Pure; words are keys of the catalogue. */
import { expectedEqualShare } from '../../../grpo/advantages.ts';
import type { RunSettings, StepSummary } from '../../../lab/protocol.ts';
import { isWorkflow, mostReward } from '../../../lab/suite-settings.ts';
import { niceDomain, type Domain } from '../../figures/scale.ts';

export type CurveName = 'reward' | 'accuracy' | 'calls' | 'equal' | 'length' | 'kl' | 'entropy' | 'clip' | 'gradient';
export type SeriesName =
  | 'total' | 'answer' | 'state' | 'functions' | 'format' | 'execution' | 'cost' | 'tier' | 'equal' | 'expected' | 'mean' | 'longest' | 'kl' | 'entropy'
  | 'clip' | 'gradient';

export interface CurveSeries {
  readonly name: SeriesName;
  readonly tier?: number;
  readonly values: readonly number[];
  readonly colour: string;
  readonly dashed?: boolean;
  readonly draw?: 'line' | 'band';
}

export interface Curve {
  readonly name: CurveName;
  readonly series: readonly CurveSeries[];
  readonly domain: Domain;
  readonly digits: number;
}

const INK = 'var(--ink)';
const DATA = 'var(--series-3)';

const metric = (steps: readonly StepSummary[], name: string): number[] => steps.map(({ metrics }) => metrics[name] ?? NaN);

/** Tiers that were asked for in any step, ascending. */
export function tiersOf(steps: readonly StepSummary[]): number[] {
  const tiers = new Set<number>();
  for (const { metrics } of steps) {
    for (const name of Object.keys(metrics)) {
      const match = /^accuracy\/tier_(\d+)$/.exec(name);
      if (match?.[1] !== undefined) tiers.add(Number(match[1]));
    }
  }
  return [...tiers].sort((a, b) => a - b);
}

function byTier(steps: readonly StepSummary[], metricName: string): CurveSeries[] {
  return tiersOf(steps).map((tier) => ({
    name: 'tier', tier, values: metric(steps, `${metricName}/tier_${tier}`), colour: `var(--series-${Math.min(tier, 4)})`,
  }));
}

export function rewardCurve(steps: readonly StepSummary[], inParts: boolean, { suite }: Pick<RunSettings, 'suite'>): Curve {
  const names = isWorkflow(suite) ? (['state', 'format', 'functions'] as const) : (['answer', 'format', 'execution'] as const);
  const total: CurveSeries = { name: 'total', values: metric(steps, 'reward'), colour: INK };
  const parts = names.map((name, i): CurveSeries => ({
    name, values: metric(steps, `rewards/${name}/mean`), colour: `var(--parts-${i + 1})`, draw: 'band',
  }));
  // Taken off the sum of the parts, so that the total runs below their upper edge.
  const cost: CurveSeries = { name: 'cost', values: metric(steps, 'rewards/call_cost/mean'), colour: 'var(--muted)', dashed: true };
  const costs = cost.values.some((value) => value < 0) ? [cost] : [];
  return {
    name: 'reward',
    series: inParts ? [...parts, ...costs, total] : [total],
    domain: niceDomain([...total.values, ...costs.flatMap(({ values }) => values)], [0, mostReward(suite)]),
    digits: 2,
  };
}

/** The curves beside the reward: what the policy does, then how the update went. */
export function otherCurves(steps: readonly StepSummary[], { grpo }: RunSettings): { readonly behaviour: readonly Curve[]; readonly update: readonly Curve[] } {
  const calls = byTier(steps, 'calls');
  const accuracy = metric(steps, 'accuracy');
  const lengths = metric(steps, 'completions/mean_length');
  const longest = metric(steps, 'completions/max_length');
  const one = (name: CurveName & SeriesName, key: string, least: number, digits: number): Curve => {
    const values = metric(steps, key);
    return { name, series: [{ name, values, colour: DATA }], domain: niceDomain(values, [0, least]), digits };
  };
  return {
    behaviour: [
      { name: 'accuracy', series: byTier(steps, 'accuracy'), domain: [0, 1], digits: 2 },
      { name: 'calls', series: calls, domain: niceDomain(calls.flatMap(({ values }) => values), [0, 1.5]), digits: 2 },
      {
        name: 'equal',
        series: [
          { name: 'expected', values: accuracy.map((p) => expectedEqualShare(p, grpo.group)), colour: 'var(--line-strong)', dashed: true },
          { name: 'equal', values: metric(steps, 'frac_reward_zero_std'), colour: DATA },
        ],
        domain: [0, 1],
        digits: 2,
      },
      {
        name: 'length',
        series: [
          { name: 'longest', values: longest, colour: 'var(--line-strong)', dashed: true },
          { name: 'mean', values: lengths, colour: DATA },
        ],
        domain: niceDomain(longest, [0, 100]),
        digits: 0,
      },
    ],
    update: [
      one('kl', 'kl', 0.01, 4),
      one('entropy', 'entropy', 0.1, 3),
      one('clip', 'clip_ratio/region_mean', 0.01, 3),
      one('gradient', 'grad_norm', 0.5, 2),
    ],
  };
}
