/**
 * The recorded run that ships with the page, so that there is something real to look at before anything is trained:
 * `recorded/run.json` with settings and curves, `recorded/step_00001.jsonl` and so on with some steps in full.
 */
import type { StepRecord } from '../grpo/record.ts';
import { decodeStep, FormatError } from '../formats/rollouts.ts';
import type { Checkpoint, Snapshot } from '../policy/engine.ts';
import { decodeSafetensors, encodeSafetensors, type Tensor } from '../policy/safetensors.ts';
import type { InspectedRun } from './microscope.ts';
import type { RecordedRun, RunSettings, RunSummary, StepSummary } from './protocol.ts';

/** `recorded/run.json`. Written by us beside the page, so its shape is not checked again in depth. */
export interface RecordedFile {
  readonly run: RunSummary;
  readonly steps: readonly StepSummary[];
  /** Steps that lie beside it in full. */
  readonly recorded: readonly number[];
}

export function stepFile(step: number): string {
  return `step_${String(step).padStart(5, '0')}.jsonl`;
}

/** The weights that sampled a recorded step, with Adam's state: the first step's are those of the model. */
export function snapshotFile(step: number): string {
  return `before_${String(step).padStart(5, '0')}.safetensors`;
}

/** Flat, as `parameterLayout` says. */
export function encodeSnapshot({ weights, optimizer }: Snapshot): Uint8Array {
  const tensors: Record<string, Float32Array> = { weights, 'adam.m': optimizer.m, 'adam.v': optimizer.v, 'adam.step': Float32Array.of(optimizer.step) };
  return encodeSafetensors(new Map(Object.entries(tensors).map(([name, data]): [string, Tensor] => [name, { shape: [data.length], data }])));
}

/** @param model what the run started from. @throws FormatError where the file is not of such a policy. */
export function decodeSnapshot(file: Uint8Array, { config, suppressTokens, weights }: Checkpoint): Snapshot {
  const tensors = decodeSafetensors(file);
  const of = (name: string, length: number): Float32Array => {
    const data = tensors.get(name)?.data;
    if (data?.length !== length) throw new FormatError(`the recorded weights have no ${name} of ${length} numbers`);
    return data;
  };
  const n = weights.length;
  const [step = 0] = of('adam.step', 1);
  return { config, suppressTokens, weights: of('weights', n), optimizer: { step, m: of('adam.m', n), v: of('adam.v', n) } };
}

/** The recorded run as the microscope sees it. @param loadModel gives the policy that the run started from. */
export async function inspectRecorded(base: string, loadModel: (name: string) => Promise<{ readonly checkpoint: Checkpoint }>): Promise<InspectedRun & { readonly id: string }> {
  const { run, records } = await fetchRecordedRun(base);
  const recorded = records.map(({ step }) => step).sort((a, b) => b - a);
  return {
    id: run.id,
    settings: run.settings,
    step: run.step,
    record: (step) => Promise.resolve(records.find((record) => record.step === step)),
    async snapshot(upTo) {
      const before = recorded.find((step) => step > 1 && step - 1 <= upTo);
      if (before === undefined) return undefined;
      const response = await fetch(new URL(`recorded/${snapshotFile(before)}`, base));
      if (!response.ok) throw new FormatError(`recorded/${snapshotFile(before)} could not be loaded (${response.status})`);
      const { checkpoint } = await loadModel(run.settings.model);
      return { step: before - 1, snapshot: decodeSnapshot(new Uint8Array(await response.arrayBuffer()), checkpoint) };
    },
  };
}

/** @param base address of the folder that holds `recorded/`, with a slash at its end. @throws where it is not there. */
export async function fetchRecordedRun(base: string, signal?: AbortSignal): Promise<RecordedRun> {
  const get = async (name: string): Promise<Response> => {
    const response = await fetch(new URL(`recorded/${name}`, base), signal === undefined ? {} : { signal });
    if (!response.ok) throw new FormatError(`recorded/${name} could not be loaded (${response.status})`);
    return response;
  };
  const { run, steps, recorded } = (await (await get('run.json')).json()) as RecordedFile;
  const records = await Promise.all(
    recorded.map(async (step): Promise<StepRecord> => {
      const summary = steps.find((s) => s.step === step);
      const decoded = decodeStep(await (await get(stepFile(step))).text(), run.settings.grpo.advantage);
      return { ...decoded, metrics: {}, warnings: [], ...summary };
    }),
  );
  return { run: withTool(run), steps, records };
}

/** Recorded before there was a choice of tools. */
function withTool(run: RunSummary): RunSummary {
  return { ...run, settings: { ...run.settings, tool: (run.settings as Partial<RunSettings>).tool ?? 'plain' } };
}
