/**
 * The recorded run that ships with the page, so that there is something real to look at before anything is trained:
 * `recorded/run.json` with settings and curves, `recorded/step_00001.jsonl` and so on with some steps in full.
 */
import type { StepRecord } from '../grpo/record.ts';
import { decodeStep, FormatError } from '../formats/rollouts.ts';
import type { RecordedRun, RunSummary, StepSummary } from './protocol.ts';

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
  return { run, steps, records };
}
