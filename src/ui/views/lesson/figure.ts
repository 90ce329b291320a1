/** What a figure of the lesson is given, and how its code comes: apart from the text, which does not wait for it. */
import type { ComponentType } from 'react';
import type { Findings, StageId } from '../../../lesson/stages.ts';
import { need, type Part } from '../../text/text.ts';
import type { Kept } from './address.ts';

export interface FigureProps<S extends StageId> {
  readonly kept: Kept;
  readonly onKept: (change: Kept) => void;
  /** Says what the figure found: the prediction is graded by it. */
  readonly onFound: (finding: Findings[S]) => void;
  /** The prediction was made just now: whatever takes time starts by itself. */
  readonly fresh: boolean;
}

export type Figure = ComponentType<FigureProps<StageId>>;

const FIGURES: { readonly [S in StageId]: readonly [parts: readonly Part[], code: () => Promise<ComponentType<FigureProps<S>>>] } = {
  gap: [['tools', 'step', 'compare'], async () => (await import('./figures/Gap.tsx')).Gap],
  interleaving: [['rollout', 'step', 'compare'], async () => (await import('./figures/Interleaving.tsx')).Interleaving],
  scoring: [['step', 'compare'], async () => (await import('./figures/Scoring.tsx')).Scoring],
  comparing: [['group', 'step', 'compare'], async () => (await import('./figures/Comparing.tsx')).Comparing],
  masking: [['update', 'group', 'step', 'compare'], async () => (await import('./figures/Masking.tsx')).Masking],
  strategy: [['step', 'compare'], async () => (await import('./figures/Strategy.tsx')).Strategy],
  workflows: [['tools', 'step', 'compare'], async () => (await import('./figures/Workflows.tsx')).Workflows],
  loop: [['train', 'step', 'compare'], async () => (await import('./figures/Loop.tsx')).Loop],
};

/** Rejects where code or words could not be loaded; asking again tries again. */
export async function loadFigure(stage: StageId): Promise<Figure> {
  const [parts, code] = FIGURES[stage];
  const [figure] = await Promise.all([code(), need(...parts)]);
  return figure as Figure;
}
