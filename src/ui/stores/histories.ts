/** Curves of stored runs that are not open. Read again once a run has more steps. */
import { useEffect, useMemo } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { RunSummary, StepSummary } from '../../lab/protocol.ts';
import { onLabEvent, send, useLab } from './lab.ts';
import { useRecorded } from './recorded.ts';

const historyStore = createStore<{ readonly of: ReadonlyMap<string, readonly StepSummary[]> }>(() => ({ of: new Map() }));
/** Steps that a run had when its curves were asked for. */
const asked = new Map<string, number>();

onLabEvent((event) => {
  if (event.type !== 'run-history') return;
  historyStore.setState(({ of }) => ({ of: new Map([...of, [event.run, event.steps]]) }));
});

export interface Known {
  readonly summary: RunSummary;
  readonly kind: 'current' | 'stored' | 'recorded';
  /** Undefined while they are being read. */
  readonly steps: readonly StepSummary[] | undefined;
}

/** Every run that has a step: the current one, those of this browser, the recorded one. No steps are read for it. */
export function useRuns(): readonly Pick<Known, 'summary' | 'kind'>[] {
  const current = useLab((s) => s.run);
  const stored = useLab((s) => s.runs);
  const recorded = useRecorded();
  return useMemo(() => [
    ...(current === undefined || current.step === 0 ? [] : [{ summary: current, kind: 'current' as const }]),
    ...stored.filter(({ id, step }) => id !== current?.id && step > 0).map((summary) => ({ summary, kind: 'stored' as const })),
    ...(recorded.state === 'ready' ? [{ summary: recorded.recorded.run, kind: 'recorded' as const }] : []),
  ], [current, stored, recorded]);
}

/** The runs with these ids, in their order, with their curves. What is not there is left out. */
export function useHistories(ids: readonly string[]): readonly Known[] {
  const runs = useRuns();
  const steps = useLab((s) => s.steps);
  const open = useLab((s) => s.connection === 'open');
  const recorded = useRecorded();
  const histories = useStore(historyStore, (s) => s.of);
  const wanted = useMemo(() => ids.flatMap((id) => runs.find(({ summary }) => summary.id === id) ?? []), [ids, runs]);
  useEffect(() => {
    if (!open) return;
    for (const { kind, summary: { id, step } } of wanted) {
      if (kind !== 'stored' || asked.get(id) === step) continue;
      asked.set(id, step);
      send({ type: 'read-history', run: id });
    }
  }, [open, wanted]);
  return useMemo(() => wanted.map(({ summary, kind }): Known => ({
    summary, kind,
    steps: kind === 'current' ? steps : kind === 'stored' ? histories.get(summary.id) : recorded.state === 'ready' ? recorded.recorded.steps : undefined,
  })), [wanted, steps, histories, recorded]);
}
