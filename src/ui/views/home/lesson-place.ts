/** Where the visitor was in the lesson. Read from what it remembers: Home does not load the lesson for it. */
import { STAGES } from '../../../lesson/stages.ts';
import { recalled } from '../../stores/memory.ts';

/** Stages count from 1; undefined for whoever has not begun. */
export function lessonPlace(): { readonly stage: number; readonly of: number } | undefined {
  const at = STAGES.findIndex((stage) => stage === recalled('lesson'));
  return at < 0 ? undefined : { stage: at + 1, of: STAGES.length };
}
