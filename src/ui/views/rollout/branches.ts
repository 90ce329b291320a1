/**
 * Branches of this visit: where the person went on from inside a rollout, or from another branch. Kept until the page
 * is closed; numbered in the order in which they were made.
 */
import { useMemo } from 'react';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import type { ScoredTrajectory, TrainedTrajectory } from '../../../grpo/record.ts';
import type { Inspection, InspectionResults, RolloutRef } from '../../../lab/inspection.ts';
import { policyMask } from '../../../rollout/trajectory.ts';
import { ask, cancelAsking } from '../../stores/microscope.ts';

export type BranchInspection = Extract<Inspection, { kind: 'branch' }>;

export interface Branch {
  readonly id: number;
  /** The rollout that it goes back to. */
  readonly of: string;
  /** The branch that it leaves; undefined: the rollout itself. */
  readonly parent: number | undefined;
  readonly inspection: BranchInspection;
  /** As soon as there is one. */
  readonly result: InspectionResults['branch'] | undefined;
}

interface BranchState {
  readonly last: number;
  readonly all: readonly Branch[];
}

export const branchStore = createStore<BranchState>(() => ({ last: 0, all: [] }));

export const rolloutKey = ({ run, step, group, rollout }: RolloutRef): string => `${run}/${step}/${group}/${rollout}`;

/** Under which its answer is kept. */
export const askKey = ({ id }: Pick<Branch, 'id'>): string => `branch/${id}`;

/** A prime, so that the seeds of branches do not meet those of neighbouring runs. */
const SEEDS_APART = 7919;

/**
 * Asks for a branch. Where something is put in, the random numbers stay those of the run: what differs comes from what
 * was put in. Where nothing is, they are others for each branch.
 * @returns its number.
 */
export function addBranch(parent: number | undefined, inspection: Omit<BranchInspection, 'seed'>, runSeed: number): number {
  const id = branchStore.getState().last + 1;
  const seed = inspection.insert.kind === 'nothing' ? runSeed + SEEDS_APART * id : runSeed;
  const branch: Branch = { id, of: rolloutKey(inspection.at), parent, inspection: { ...inspection, seed }, result: undefined };
  branchStore.setState(({ all }) => ({ last: id, all: [...all, branch] }));
  ask(askKey(branch), branch.inspection);
  return id;
}

export function keepResult(id: number, result: InspectionResults['branch']): void {
  branchStore.setState(({ all }) => ({ all: all.map((branch) => (branch.id === id ? { ...branch, result } : branch)) }));
}

/** Takes a branch away, with all that leave it. */
export function removeBranch(id: number): void {
  const gone = new Set([id]);
  const left: Branch[] = [];
  for (const branch of branchStore.getState().all) {
    if (gone.has(branch.id) || (branch.parent !== undefined && gone.has(branch.parent))) {
      gone.add(branch.id);
      cancelAsking(askKey(branch));
    } else left.push(branch);
  }
  branchStore.setState({ all: left });
}

export interface Twig {
  readonly branch: Branch;
  /** 1 where it leaves the rollout itself. */
  readonly depth: number;
}

/** Branches as a tree, written line by line: each below what it leaves. A parent is always older. */
export function treeOf(branches: readonly Branch[]): Twig[] {
  const below = (parent: number | undefined, depth: number): Twig[] =>
    branches.filter((branch) => branch.parent === parent).flatMap((branch) => [{ branch, depth }, ...below(branch.id, depth + 1)]);
  return below(undefined, 1);
}

export function useBranches(of: string): readonly Branch[] {
  const all = useStore(branchStore, (s) => s.all);
  return useMemo(() => all.filter((branch) => branch.of === of), [all, of]);
}

const trained = new WeakMap<ScoredTrajectory, TrainedTrajectory>();

/** A branch as the strip draws it. No update was made with it: its weights only repeat who wrote what. */
export function drawable(trajectory: ScoredTrajectory): TrainedTrajectory {
  let made = trained.get(trajectory);
  if (made === undefined) {
    made = { ...trajectory, weights: Float32Array.from(policyMask(trajectory)), update: undefined };
    trained.set(trajectory, made);
  }
  return made;
}
