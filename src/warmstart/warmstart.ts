/** How a base policy is made: supervised steps on demonstrations of mixed quality. */
import type { AdamW, PolicyEngine, UpdateReport, UpdateRow } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { RunCalls } from '../rollout/rollout.ts';
import { POLICY } from '../rollout/trajectory.ts';
import type { Suite } from '../tasks/task.ts';
import { writeDemonstrations, type Demonstration } from './demonstrations.ts';

export interface WarmStartSettings {
  readonly steps: number;
  /** Demonstrations a step. */
  readonly batch: number;
  readonly seed: number;
  readonly learningRate: number;
  readonly warmUpSteps: number;
  /** The cosine ends at this share of the learning rate. */
  readonly finalShare: number;
}

export const DEFAULT_WARM_START: WarmStartSettings = {
  steps: 3000, batch: 64, seed: 1, learningRate: 3e-3, warmUpSteps: 50, finalShare: 0.05,
};

const OPTIMIZER: Omit<AdamW, 'learningRate'> = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 };

/** Batches whose demonstrations are written at a time: their calls cross into Python together. */
const POOL_BATCHES = 16;

/** Linear warm-up, then a cosine. @param step from 0. */
export function learningRateAt(step: number, settings: WarmStartSettings): number {
  const { steps, warmUpSteps, learningRate, finalShare } = settings;
  if (step < warmUpSteps) return (learningRate * (step + 1)) / warmUpSteps;
  const progress = (step - warmUpSteps) / Math.max(1, steps - warmUpSteps);
  return learningRate * (finalShare + (1 - finalShare) * 0.5 * (1 + Math.cos(Math.PI * progress)));
}

export interface WarmStartProgress {
  /** Steps made. */
  readonly step: number;
  readonly report: UpdateReport;
}

/** Trains the engine's policy. Yields after each step; stop by leaving the loop. */
export async function* warmStart(
  engine: PolicyEngine,
  suite: Suite,
  tokenizer: Tokenizer,
  runCalls: RunCalls,
  settings: WarmStartSettings = DEFAULT_WARM_START,
): AsyncGenerator<WarmStartProgress> {
  const { steps, batch, seed } = settings;
  const maxLength = engine.config?.max_position_embeddings ?? Infinity;
  const pool = (number: number): Promise<Demonstration[]> =>
    writeDemonstrations(suite, tokenizer, runCalls, batch * POOL_BATCHES, maxLength, seed, number);
  let next = pool(0);
  for (let step = 0, number = 1; step < steps; number++) {
    const demonstrations = await next;
    if (step + Math.ceil(demonstrations.length / batch) < steps) {
      // Python writes the next pool while this one is trained on. A fault is met where the pool is awaited.
      next = pool(number);
      next.catch(() => undefined);
    }
    for (let from = 0; from < demonstrations.length && step < steps; from += batch) {
      // Mixed as they were drawn: in batches of one length, the tokens of short demonstrations would weigh more, and
      // short ones are those that answer without a call. Engines pack rows of like length themselves.
      const rows = supervisedRows(demonstrations.slice(from, from + batch));
      const optimizer = { ...OPTIMIZER, learningRate: learningRateAt(step, settings) };
      const report = await engine.update({ rows, temperature: 1, objective: { kind: 'supervised' } }, optimizer);
      step++;
      yield { step, report };
    }
  }
}

/** The mean over all policy tokens of the batch; prompt and observations are context only. */
export function supervisedRows(demonstrations: readonly Demonstration[]): UpdateRow[] {
  const count = demonstrations.reduce((n, d) => n + d.owner.filter((owner) => owner === POLICY).length, 0);
  return demonstrations.map(({ tokens, owner }) => ({
    tokens,
    weights: Float32Array.from(owner, (by) => (by === POLICY ? 1 / count : 0)),
  }));
}
