/** How the code of a figure comes: apart from the text of the lesson, which does not wait for it. */
import type { ComponentType } from 'react';
import type { StageId } from '../../../lesson/stages.ts';
import { need, type Part } from '../../text/text.ts';
import type { FigureProps } from './figure-props.ts';

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
