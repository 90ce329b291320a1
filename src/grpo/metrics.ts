/** The metrics of a step, under TRL's names where TRL has one. All are of the tokens and rollouts that were sampled. */
import type { UpdateReport } from '../policy/engine.ts';
import { policyLength } from '../rollout/trajectory.ts';
import type { GroupRecord, Metrics, TrainedTrajectory } from './record.ts';
import type { GrpoSettings } from './settings.ts';

const mean = (xs: readonly number[]): number => (xs.length === 0 ? NaN : xs.reduce((a, b) => a + b, 0) / xs.length);
const least = (xs: readonly number[]): number => (xs.length === 0 ? NaN : Math.min(...xs));
const most = (xs: readonly number[]): number => (xs.length === 0 ? NaN : Math.max(...xs));
const std = (xs: readonly number[]): number => {
  const m = mean(xs);
  return xs.length < 2 ? 0 : Math.sqrt(xs.reduce((s, x) => s + (x - m) ** 2, 0) / (xs.length - 1));
};

/** What the trainer knows beside the groups. */
export interface StepCounters {
  /** Tokens of all rollouts of earlier steps. */
  readonly tokensBefore: number;
  /** Seconds of this step. */
  readonly seconds: number;
  readonly updates: readonly UpdateReport[];
}

/** Metrics without a value in this step (e.g. lengths of ended rollouts where none ended) are left out. */
export function stepMetrics(groups: readonly GroupRecord[], settings: GrpoSettings, counters: StepCounters): Metrics {
  const all = groups.flatMap((group) => group.members);
  const lengths = all.map(policyLength);
  const ended = all.filter((t) => t.stop === 'end').map(policyLength);
  const calls = all.reduce((n, t) => n + t.calls.length, 0);
  const failed = all.reduce((n, t) => n + t.calls.filter((call) => !call.ok).length, 0);
  const metrics: Record<string, number> = {
    reward: mean(all.map((t) => t.reward.total)),
    reward_std: mean(groups.map((group) => (group.members.length === 1 ? 0 : group.std))),
    frac_reward_zero_std: mean(groups.map((group) => (group.equal ? 1 : 0))),
    ...(all.some((t) => t.reward.workflow !== undefined)
      ? { ...part('state', all.map((t) => t.reward.workflow?.state ?? 0)), ...part('functions', all.map((t) => t.reward.workflow?.functions ?? 0)) }
      : part('answer', all.map((t) => t.reward.answer))),
    ...part('format', all.map((t) => t.reward.formatRelaxed + t.reward.formatStrict)),
    ...part('execution', all.flatMap((t) => (t.reward.execution === null ? [] : [t.reward.execution]))),
    'rewards/call_cost/mean': mean(all.map((t) => t.reward.callCost)),
    'completions/mean_length': mean(lengths),
    'completions/min_length': least(lengths),
    'completions/max_length': most(lengths),
    'completions/clipped_ratio': mean(all.map((t) => (t.stop === 'end' ? 0 : 1))),
    'completions/mean_terminated_length': mean(ended),
    'completions/min_terminated_length': least(ended),
    'completions/max_terminated_length': most(ended),
    'tools/call_frequency': calls / all.length,
    'tools/failure_frequency': calls === 0 ? 0 : failed / calls,
    // As TRL counts: prompts and observations too, since the run began.
    num_tokens: counters.tokensBefore + all.reduce((n, t) => n + t.tokens.length, 0),
    sampled_tokens: lengths.reduce((a, b) => a + b, 0),
    learning_rate: settings.optimizer.learningRate,
    step_time: counters.seconds,
    accuracy: mean(all.map((t) => (t.reward.correct ? 1 : 0))),
    format_strict: mean(all.map((t) => (t.reward.formatStrict > 0 ? 1 : 0))),
    ...perTier(groups),
    ...updateMetrics(all, counters.updates),
  };
  return Object.fromEntries(Object.entries(metrics).filter(([, value]) => Number.isFinite(value)));
}

function part(name: string, values: readonly number[]): Record<string, number> {
  return { [`rewards/${name}/mean`]: mean(values), [`rewards/${name}/std`]: std(values) };
}

function perTier(groups: readonly GroupRecord[]): Record<string, number> {
  const out: Record<string, number> = {};
  for (const tier of new Set(groups.map((group) => group.task.tier))) {
    const members = groups.filter((group) => group.task.tier === tier).flatMap((group) => group.members);
    out[`accuracy/tier_${tier}`] = mean(members.map((t) => (t.reward.correct ? 1 : 0)));
    out[`calls/tier_${tier}`] = mean(members.map((t) => t.calls.length));
    out[`reward/tier_${tier}`] = mean(members.map((t) => t.reward.total));
  }
  return out;
}

/** From the per-token numbers that the engine's own update left; the last pass over each rollout. */
function updateMetrics(all: readonly TrainedTrajectory[], updates: readonly UpdateReport[]): Record<string, number> {
  if (updates.length === 0) return {};
  const entropy: number[] = [];
  const kl: number[] = [];
  const low: number[] = [];
  const high: number[] = [];
  for (const { update, weights, advantage } of all) {
    if (update === undefined) continue;
    for (const [t, weight] of weights.entries()) {
      if (weight === 0) continue;
      entropy.push(update.entropy[t] ?? NaN);
      kl.push(update.kl[t] ?? NaN);
      const clipped = update.clipped[t] ?? 0;
      // The sign of the advantage says at which bound the clip acts.
      low.push(advantage < 0 ? clipped : 0);
      high.push(advantage > 0 ? clipped : 0);
    }
  }
  return {
    loss: mean(updates.map((u) => u.loss)),
    grad_norm: mean(updates.map((u) => u.gradNorm)),
    entropy: mean(entropy),
    kl: mean(kl),
    'clip_ratio/region_mean': mean(low) + mean(high),
    'clip_ratio/low_mean': mean(low),
    'clip_ratio/high_mean': mean(high),
    // TRL takes these over its processes; here there is one.
    'clip_ratio/low_min': mean(low),
    'clip_ratio/high_max': mean(high),
  };
}
