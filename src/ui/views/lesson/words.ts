/** What a stage found, in words: each message takes the finding of its own stage. */
import { grade, type Findings, type StageId } from '../../../lesson/stages.ts';
import { t } from '../../text/text.ts';

export function foundWords<S extends StageId>(stage: S, finding: Findings[S]): string {
  // The compiler does not follow that key and parameter vary together.
  return t(`lesson.${stage}.found` as 'lesson.gap.found', finding as Findings['gap']);
}

export function explainWords<S extends StageId>(stage: S, finding: Findings[S]): string {
  return t(`lesson.${stage}.explain` as 'lesson.gap.explain', finding as Findings['gap']);
}

/** Undefined where nothing can be graded yet, or at all. */
export function isRight<S extends StageId>(stage: S, said: string, finding: Findings[S] | undefined): boolean | undefined {
  const borne = finding && grade(stage, finding);
  return borne && borne === said;
}
