/** What the run-sheet, the presenter and the sheets say of a section, in the language that is spoken. */
import { RECORDED } from '../../../lesson/recorded.ts';
import { grade, OPTIONS, STAGES, type OptionId, type StageId } from '../../../lesson/stages.ts';
import { t } from '../../text/text.ts';
import type { Notes } from './notes.ts';
import { SECTIONS, type SectionId } from './plan.ts';
import { workedGroup, type SheetAttempt } from './sheet.ts';

export function titleOf(section: SectionId): string {
  return section === 'closing' ? t('teach.closing') : t(`lesson.${section}.title`);
}

export function isStage(section: SectionId): section is StageId {
  return section !== 'closing';
}

/** The stage's number, from 1. */
export function numberOf(stage: StageId): number {
  return STAGES.indexOf(stage) + 1;
}

/** The notes of a section: the teacher's own, or those that came with the page. */
export function noteOf(section: SectionId, notes: Notes): string {
  return notes[section] ?? t(`teach.${section}.say`);
}

export function allNotes(notes: Notes): Record<SectionId, string> {
  return Object.fromEntries(SECTIONS.map((id) => [id, noteOf(id, notes)])) as Record<SectionId, string>;
}

/** What the lab's figure found when it was recorded, as a sentence. */
export function foundAt(stage: StageId): string {
  switch (stage) {
    case 'gap':
      return t('lesson.gap.found', RECORDED.gap);
    case 'interleaving':
      return t('lesson.interleaving.found', RECORDED.interleaving);
    case 'scoring':
      return t('lesson.scoring.found', RECORDED.scoring);
    case 'comparing':
      return t('lesson.comparing.found', RECORDED.comparing);
    case 'masking':
      return t('lesson.masking.found', RECORDED.masking);
    case 'strategy':
      return t('lesson.strategy.found', RECORDED.strategy);
    case 'workflows':
      return t('lesson.workflows.found', RECORDED.workflows);
    case 'loop':
      return t('lesson.loop.found', RECORDED.loop);
  }
}

export interface Option {
  readonly id: OptionId;
  readonly label: string;
  /** Whether the recorded finding bears it out. */
  readonly right: boolean;
  /** What to answer whoever chose it wrongly. */
  readonly rejoinder: string;
}

export function optionsOf(stage: StageId): Option[] {
  const right: OptionId | undefined = grade(stage, RECORDED[stage]);
  return OPTIONS[stage].map((id) => ({ id, label: t(`lesson.option.${id}`), right: id === right, rejoinder: t(`lesson.rejoinder.${id}`) }));
}

/** The expected answer to the question that is asked afterwards; where it has numbers, they are computed. */
export function answerTo(stage: StageId): string {
  switch (stage) {
    case 'scoring': {
      const { rows } = workedGroup();
      const of = (id: SheetAttempt): number => rows.find((row) => row.id === id)?.reward.total ?? NaN;
      return t('teach.scoring.answer', { dummy: of('dummy'), wrong: of('wrong') });
    }
    case 'comparing': {
      const { rows, mean } = workedGroup();
      const row = rows.find(({ id }) => id === 'dummy');
      return t('teach.comparing.answer', { reward: row?.reward.total ?? NaN, mean, advantage: row?.advantage ?? NaN });
    }
    case 'loop':
      return t('teach.loop.answer', RECORDED.loop);
    case 'gap':
    case 'interleaving':
    case 'masking':
    case 'strategy':
    case 'workflows':
      return t(`teach.${stage}.answer`);
  }
}
