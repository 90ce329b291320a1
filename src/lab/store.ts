/** Runs kept in the browser as they go: summaries, curves, rollouts and snapshots, in IndexedDB. */
import { openDB, type DBSchema, type IDBPDatabase } from 'idb';
import type { StepRecord } from '../grpo/record.ts';
import type { Snapshot } from '../policy/engine.ts';
import type { RunSummary, StepSummary } from './protocol.ts';
import { readStoredRun } from './stored.ts';

/** Weights and optimiser after a step; with the run's settings and seed all that is needed to go on. */
export interface RunSnapshot {
  readonly step: number;
  /** Tokens sampled up to here. */
  readonly tokens: number;
  readonly snapshot: Snapshot;
}

export interface RunStore {
  runs(): Promise<RunSummary[]>;
  run(id: string): Promise<RunSummary | undefined>;
  putRun(run: RunSummary): Promise<void>;
  /** Keeps a step: its numbers and its rollouts. */
  putStep(run: string, summary: StepSummary, record: StepRecord): Promise<void>;
  steps(run: string): Promise<StepSummary[]>;
  record(run: string, step: number): Promise<StepRecord | undefined>;
  /** Keeps this snapshot in the place of the run's last one. */
  putSnapshot(run: string, snapshot: RunSnapshot): Promise<void>;
  snapshot(run: string): Promise<RunSnapshot | undefined>;
  /** Forgets steps after this one: they were made after the snapshot from which the run goes on. */
  truncate(run: string, step: number): Promise<void>;
  deleteRun(id: string): Promise<void>;
}

interface Schema extends DBSchema {
  /** Read through `readStoredRun` only. */
  runs: { key: string; value: unknown };
  steps: { key: [string, number]; value: StepSummary };
  records: { key: [string, number]; value: StepRecord };
  snapshots: { key: string; value: RunSnapshot };
}

/** All keys of one run, from a step on. */
function stepsFrom(run: string, step: number): IDBKeyRange {
  return IDBKeyRange.bound([run, step], [run, Number.MAX_SAFE_INTEGER]);
}

/** @throws where the browser has no storage for this page (private windows of some browsers). */
export async function openRunStore(name = 'atelier'): Promise<RunStore> {
  const db = await openDB<Schema>(name, 1, {
    upgrade(database) {
      database.createObjectStore('runs');
      for (const store of ['steps', 'records', 'snapshots'] as const) database.createObjectStore(store);
    },
    // Another tab with a newer build waits for this connection to close.
    blocking: (_current, _blocked, event) => { (event.target as IDBPDatabase | null)?.close(); },
  });
  return {
    runs: async () => (await db.getAll('runs'))
      .flatMap((stored) => readStoredRun(stored) ?? [])
      .sort((a, b) => b.started - a.started),
    run: async (id) => readStoredRun(await db.get('runs', id)),
    async putRun(run) {
      await db.put('runs', run, run.id);
    },
    async putStep(run, summary, record) {
      const transaction = db.transaction(['steps', 'records'], 'readwrite');
      await Promise.all([
        transaction.objectStore('steps').put(summary, [run, summary.step]),
        transaction.objectStore('records').put(record, [run, record.step]),
        transaction.done,
      ]);
    },
    steps: (run) => db.getAll('steps', stepsFrom(run, 0)),
    record: (run, step) => db.get('records', [run, step]),
    async putSnapshot(run, snapshot) {
      await db.put('snapshots', snapshot, run);
    },
    snapshot: (run) => db.get('snapshots', run),
    async truncate(run, step) {
      const transaction = db.transaction(['steps', 'records'], 'readwrite');
      const later = stepsFrom(run, step + 1);
      await Promise.all([
        transaction.objectStore('steps').delete(later),
        transaction.objectStore('records').delete(later),
        transaction.done,
      ]);
    },
    async deleteRun(id) {
      const transaction = db.transaction(['runs', 'steps', 'records', 'snapshots'], 'readwrite');
      const all = stepsFrom(id, 0);
      await Promise.all([
        transaction.objectStore('runs').delete(id),
        transaction.objectStore('steps').delete(all),
        transaction.objectStore('records').delete(all),
        transaction.objectStore('snapshots').delete(id),
        transaction.done,
      ]);
    },
  };
}

/** The same in memory: for a page without storage, and for tests. */
export function memoryRunStore(): RunStore {
  const runs = new Map<string, RunSummary>();
  const steps = new Map<string, Map<number, StepSummary>>();
  const records = new Map<string, Map<number, StepRecord>>();
  const snapshots = new Map<string, RunSnapshot>();
  const of = <T>(map: Map<string, Map<number, T>>, run: string): Map<number, T> => {
    const found = map.get(run) ?? new Map<number, T>();
    map.set(run, found);
    return found;
  };
  return {
    runs: () => Promise.resolve([...runs.values()].sort((a, b) => b.started - a.started)),
    run: (id) => Promise.resolve(runs.get(id)),
    putRun: (run) => Promise.resolve(void runs.set(run.id, run)),
    putStep(run, summary, record) {
      of(steps, run).set(summary.step, summary);
      of(records, run).set(record.step, record);
      return Promise.resolve();
    },
    steps: (run) => Promise.resolve([...of(steps, run).values()].sort((a, b) => a.step - b.step)),
    record: (run, step) => Promise.resolve(of(records, run).get(step)),
    putSnapshot: (run, snapshot) => Promise.resolve(void snapshots.set(run, snapshot)),
    snapshot: (run) => Promise.resolve(snapshots.get(run)),
    truncate(run, step) {
      for (const map of [of(steps, run), of(records, run)]) {
        for (const key of [...map.keys()]) if (key > step) map.delete(key);
      }
      return Promise.resolve();
    },
    deleteRun(id) {
      for (const map of [runs, steps, records, snapshots]) map.delete(id);
      return Promise.resolve();
    },
  };
}
