/** Where the visitor was in the lesson, as it keeps it between visits. */
import { STAGES } from '../../../lesson/stages.ts';
import { remembered } from '../../stores/memory.ts';

/** Stages count from 1; undefined for whoever has not begun. */
export function lessonPlace(): { readonly stage: number; readonly of: number } | undefined {
  const at = STAGES.indexOf(remembered('lesson', STAGES, 'gap'));
  return at > 0 ? { stage: at + 1, of: STAGES.length } : undefined;
}
