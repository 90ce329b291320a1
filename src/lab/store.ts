/** Runs kept in the browser as they go: summaries, curves, rollouts and snapshots, in IndexedDB. */
import { openDB, type DBSchema, type IDBPDatabase, type IDBPObjectStore, type StoreNames } from 'idb';
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
  /** Keeps this snapshot as the run's last. Of earlier ones the last of every ten steps stays: past steps are opened from it. */
  putSnapshot(run: string, snapshot: RunSnapshot): Promise<void>;
  /** The run's last snapshot, or its last one at `upTo` or before. */
  snapshot(run: string, upTo?: number): Promise<RunSnapshot | undefined>;
  /** Forgets steps and snapshots after this one: they were made after the snapshot from which the run goes on. */
  truncate(run: string, step: number): Promise<void>;
  deleteRun(id: string): Promise<void>;
}

interface Schema extends DBSchema {
  /** Read through `readStoredRun` only. */
  runs: { key: string; value: unknown };
  steps: { key: [string, number]; value: StepSummary };
  records: { key: [string, number]; value: StepRecord };
  snapshots: { key: [string, number]; value: RunSnapshot };
}

/** Steps of which one snapshot is kept. */
const SNAPSHOT_BLOCK = 10;

/** Which of a run's snapshots give way to a new one: later ones, which a run that went back has left, and those of its block. */
function superseded(kept: readonly number[], next: number): number[] {
  return kept.filter((step) => step >= next || Math.floor(step / SNAPSHOT_BLOCK) === Math.floor(next / SNAPSHOT_BLOCK));
}

/** All keys of one run, from a step on. */
function stepsFrom(run: string, step: number): IDBKeyRange {
  return IDBKeyRange.bound([run, step], [run, Number.MAX_SAFE_INTEGER]);
}

/** The first version kept one snapshot a run, under the run alone. */
async function moveSnapshots(store: IDBPObjectStore<Schema, StoreNames<Schema>[], 'snapshots', 'versionchange'>): Promise<void> {
  const [keys, values] = await Promise.all([store.getAllKeys(), store.getAll()]);
  await store.clear();
  await Promise.all(values.map((value, i) => store.put(value, [String(keys[i]), value.step])));
}

/** @throws where the browser has no storage for this page (private windows of some browsers). */
export async function openRunStore(name = 'atelier'): Promise<RunStore> {
  const db = await openDB<Schema>(name, 2, {
    upgrade(database, from, _to, transaction) {
      if (from === 0) for (const store of ['runs', 'steps', 'records', 'snapshots'] as const) database.createObjectStore(store);
      // A fault aborts the transaction, and with it the upgrade.
      else void moveSnapshots(transaction.objectStore('snapshots'));
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
      const transaction = db.transaction('snapshots', 'readwrite');
      const kept = (await transaction.store.getAllKeys(stepsFrom(run, 0))).map(([, step]) => step);
      await Promise.all([
        ...superseded(kept, snapshot.step).map((step) => transaction.store.delete([run, step])),
        transaction.store.put(snapshot, [run, snapshot.step]),
        transaction.done,
      ]);
    },
    async snapshot(run, upTo = Number.MAX_SAFE_INTEGER) {
      const last = await db.transaction('snapshots').store.openCursor(IDBKeyRange.bound([run, 0], [run, upTo]), 'prev');
      return last?.value;
    },
    async truncate(run, step) {
      const transaction = db.transaction(['steps', 'records', 'snapshots'], 'readwrite');
      const later = stepsFrom(run, step + 1);
      await Promise.all([
        ...(['steps', 'records', 'snapshots'] as const).map((store) => transaction.objectStore(store).delete(later)),
        transaction.done,
      ]);
    },
    async deleteRun(id) {
      const transaction = db.transaction(['runs', 'steps', 'records', 'snapshots'], 'readwrite');
      const all = stepsFrom(id, 0);
      await Promise.all([
        transaction.objectStore('runs').delete(id),
        ...(['steps', 'records', 'snapshots'] as const).map((store) => transaction.objectStore(store).delete(all)),
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
  const snapshots = new Map<string, Map<number, RunSnapshot>>();
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
    putSnapshot(run, snapshot) {
      const kept = of(snapshots, run);
      for (const step of superseded([...kept.keys()], snapshot.step)) kept.delete(step);
      kept.set(snapshot.step, snapshot);
      return Promise.resolve();
    },
    snapshot(run, upTo = Infinity) {
      const kept = [...of(snapshots, run).values()].filter(({ step }) => step <= upTo);
      return Promise.resolve(kept.reduce<RunSnapshot | undefined>((a, b) => (a === undefined || b.step > a.step ? b : a), undefined));
    },
    truncate(run, step) {
      for (const map of [of(steps, run), of(records, run), of(snapshots, run)]) {
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
