/** The updates of a step: which rollouts each covers, with which arrays; and a step's updates made again from its record. */
import type { Objective, PolicyEngine, UpdateReport, UpdateRow } from '../policy/engine.ts';
import type { Trajectory } from '../rollout/trajectory.ts';
import { updateRows, type BatchItem } from './batch.ts';
import type { StepRecord } from './record.ts';
import type { GrpoSettings } from './settings.ts';

export interface ComparedRollout {
  readonly trajectory: Trajectory;
  readonly advantage: number;
}

/**
 * Adds what the objective needs beside the rollouts: log-probs of observations with the mask off, and the
 * reference's. To be called before the step's first update.
 */
export async function batchItems(
  engine: PolicyEngine,
  compared: readonly ComparedRollout[],
  { mask, beta, temperature }: Pick<GrpoSettings, 'mask' | 'beta' | 'temperature'>,
): Promise<BatchItem[]> {
  const request = { rows: compared.map(({ trajectory }) => trajectory.tokens), temperature };
  const own = mask ? undefined : await engine.score(request);
  const reference = beta > 0 ? await engine.score({ ...request, weights: 'reference' }) : undefined;
  return compared.map(({ trajectory, advantage }, i) => ({
    trajectory,
    advantage,
    oldLogProbs: own === undefined ? trajectory.logProbs : filledUp(trajectory.logProbs, own[i]?.logProbs),
    referenceLogProbs: reference?.[i]?.logProbs,
  }));
}

/** Sampled log-probs where there are any, else those of the scoring pass. */
function filledUp(sampled: Float32Array, scored: Float32Array | undefined): Float32Array {
  return sampled.map((logProb, t) => (Number.isNaN(logProb) ? (scored?.[t] ?? NaN) : logProb));
}

export interface PlannedUpdate<T extends BatchItem = BatchItem> {
  /** The pass over the step's rollouts, from 0. */
  readonly epoch: number;
  readonly items: readonly T[];
}

/** The updates of a step, in order. Rollouts are dealt out to minibatches; an empty one is no update. */
export function plannedUpdates<T extends BatchItem>(items: readonly T[], { innerEpochs, minibatches }: Pick<GrpoSettings, 'innerEpochs' | 'minibatches'>): PlannedUpdate<T>[] {
  const parts = Array.from({ length: minibatches }, (_, part) => items.filter((_item, i) => i % minibatches === part))
    // Dropped groups can leave fewer rollouts than there are minibatches.
    .filter((part) => part.length > 0);
  return Array.from({ length: innerEpochs }, (_, epoch) => parts.map((part) => ({ epoch, items: part }))).flat();
}

export function objectiveOf({ epsilonLow, epsilonHigh, beta }: Pick<GrpoSettings, 'epsilonLow' | 'epsilonHigh' | 'beta'>): Objective {
  return { kind: 'grpo', epsilonLow, epsilonHigh, beta };
}

/** Makes one planned update. */
export async function makeUpdate(engine: PolicyEngine, { items }: PlannedUpdate, settings: GrpoSettings): Promise<UpdateReport & { readonly batch: readonly UpdateRow[] }> {
  const rows = updateRows(items, settings);
  const report = await engine.update({ rows, temperature: settings.temperature, objective: objectiveOf(settings) }, settings.optimizer);
  return { ...report, batch: rows };
}

/** The rollouts that a step's updates covered, as its record holds them. */
export function comparedRollouts(record: StepRecord): ComparedRollout[] {
  return record.groups.filter(({ dropped }) => !dropped).flatMap(({ members }) => members.map((member) => ({ trajectory: member, advantage: member.advantage })));
}

/** Whether a step went to the engine at all; equal groups and rewards that are not finite end it before. */
export function madeUpdates(record: StepRecord): boolean {
  return record.skipped !== 'all-groups-equal' && record.groups.every(({ mean }) => Number.isFinite(mean));
}

/**
 * Makes the updates of a recorded step again, on the weights before it: nothing is sampled and no tool is asked, so on
 * the same engine the weights after it are those that the run had.
 */
export async function replayStep(engine: PolicyEngine, record: StepRecord, settings: GrpoSettings): Promise<void> {
  if (!madeUpdates(record)) return;
  const items = await batchItems(engine, comparedRollouts(record), settings);
  for (const planned of plannedUpdates(items, settings)) await makeUpdate(engine, planned, settings);
}
