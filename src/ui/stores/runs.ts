/** One way to look at a run, be it going on, stored, or recorded. */
import { useEffect, useMemo } from 'react';
import type { StepRecord } from '../../grpo/record.ts';
import type { RunSummary, StepSummary } from '../../lab/protocol.ts';
import { lab, recordKey, useLab } from './lab.ts';
import { useRecorded } from './recorded.ts';

export interface RunView {
  readonly kind: 'current' | 'stored' | 'recorded';
  readonly summary: RunSummary;
  /** For the curves; empty for a stored run that was not opened. */
  readonly steps: readonly StepSummary[];
  /** Steps whose groups can be opened, ascending. */
  readonly openable: readonly number[];
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

/** The run of this id; without one the current run, else the recorded one. */
export function useRunView(id?: string): RunView | undefined {
  const run = useLab((s) => s.run);
  const steps = useLab((s) => s.steps);
  const stored = useLab((s) => s.runs);
  const recorded = useRecorded();
  return useMemo((): RunView | undefined => {
    if (run !== undefined && (id === undefined || id === run.id)) {
      return { kind: 'current', summary: run, steps, openable: steps.map(({ step }) => step) };
    }
    const found = id === undefined ? undefined : stored.find((r) => r.id === id);
    if (found !== undefined) return { kind: 'stored', summary: found, steps: [], openable: upTo(found.step) };
    if (recorded.state !== 'ready') return undefined;
    const { recorded: it } = recorded;
    if (id !== undefined && id !== it.run.id) return undefined;
    return { kind: 'recorded', summary: it.run, steps: it.steps, openable: it.records.map(({ step }) => step) };
  }, [id, run, steps, stored, recorded]);
}

/** The groups of a step; asked for where they are not at hand. */
export function useRecord(view: RunView | undefined, step: number | undefined): StepRecord | undefined {
  const records = useLab((s) => s.records);
  const recorded = useRecorded();
  const connection = useLab((s) => s.connection);
  const fromLab = view !== undefined && view.kind !== 'recorded' && step !== undefined;
  const id = view?.summary.id;
  useEffect(() => {
    if (fromLab && id !== undefined && connection === 'open') lab.openStep(id, step);
  }, [fromLab, id, step, connection]);
  if (view === undefined || step === undefined) return undefined;
  if (view.kind !== 'recorded') return records.get(recordKey(view.summary.id, step));
  return recorded.state === 'ready' ? recorded.recorded.records.find((r) => r.step === step) : undefined;
}
