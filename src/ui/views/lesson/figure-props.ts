/** What every figure of the lesson is given. */
import type { Findings, StageId } from '../../../lesson/stages.ts';
import type { Kept } from './address.ts';

export interface FigureProps<S extends StageId> {
  readonly kept: Kept;
  readonly onKept: (change: Kept) => void;
  /** Says what the figure found: the prediction is graded by it. */
  readonly onFound: (finding: Findings[S]) => void;
  /** The prediction was made just now: whatever takes time starts by itself. */
  readonly fresh: boolean;
}
