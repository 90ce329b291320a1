/** What the browser kept is input from outside: another build may have written it. Runs are checked when they are read. */
import * as v from 'valibot';
import { TOOL_NAMES } from '../rollout/environments.ts';
import type { RunSummary } from './protocol.ts';

const whole = v.pipe(v.number(), v.integer(), v.minValue(0));

const GrpoSchema = v.object({
  questions: whole, group: whole, temperature: v.number(), maxCalls: whole, maxLength: whole,
  advantage: v.picklist(['sample-std', 'population-std', 'mean']),
  epsilonLow: v.number(), epsilonHigh: v.number(), beta: v.number(),
  aggregation: v.picklist(['sequence-mean', 'token-mean', 'constant']),
  innerEpochs: whole, minibatches: whole, mask: v.boolean(), refills: whole,
  reward: v.object({ noCall: v.picklist(['paper', 'excluded', 'full']), callCost: v.number() }),
  optimizer: v.object({
    learningRate: v.number(), beta1: v.number(), beta2: v.number(), epsilon: v.number(), weightDecay: v.number(), maxGradNorm: v.number(),
  }),
});

const RunSchema = v.object({
  id: v.string(),
  started: v.number(),
  settings: v.object({ suite: v.string(), model: v.string(), seed: whole, steps: whole, tool: v.optional(v.picklist(TOOL_NAMES), 'plain'), grpo: GrpoSchema }),
  step: whole,
  state: v.picklist(['idle', 'preparing', 'running', 'paused', 'finished', 'failed']),
  engine: v.object({ kind: v.picklist(['webgpu', 'cpu']), adapter: v.string(), software: v.boolean() }),
  reward: v.optional(v.number()),
});

/** Undefined where a stored run is not one that this build can go on with. */
export function readStoredRun(value: unknown): RunSummary | undefined {
  const parsed = v.safeParse(RunSchema, value);
  if (!parsed.success) return undefined;
  const { reward, ...rest } = parsed.output;
  return { ...rest, ...(reward === undefined ? {} : { reward }) };
}
