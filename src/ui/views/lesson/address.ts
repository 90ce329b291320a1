/** Where a person is in the lesson, as it stands in the address: stage, prediction, and what of the figure is chosen. Pure. */
import { LESSON, STAGES, type OptionId, type Stage, type StageId } from '../../../lesson/stages.ts';
import { optionOf } from '../../stores/lesson.ts';

/** Names of what a figure keeps in the address; their values are checked there. */
const KEPT = ['trace', 'at', 'attempt', 'group', 'rollout', 'token', 'mask', 'calls', 'seed'] as const;
export type KeptName = (typeof KEPT)[number];
export type Kept = Readonly<Partial<Record<KeptName, string>>>;

export interface LessonPlace {
  /** Undefined: where the person was last. */
  readonly stage: StageId | undefined;
  readonly said: OptionId | undefined;
  readonly kept: Kept;
}

export function parseLessonPlace(search: string): LessonPlace {
  const query = new URLSearchParams(search);
  const number = query.get('stage');
  const stage = number !== null && /^[1-8]$/.test(number) ? STAGES[Number(number) - 1] : undefined;
  return {
    stage,
    said: stage && optionOf(stage, query.get('said')),
    kept: Object.fromEntries(KEPT.flatMap((name) => {
      const value = query.get(name);
      return value === null || !/^[\w-]{1,40}$/.test(value) ? [] : [[name, value]];
    })),
  };
}

export function lessonAddress(stage: StageId, said?: OptionId, kept: Kept = {}): string {
  const query = new URLSearchParams({ stage: String(numberOf(stage)) });
  if (said !== undefined) query.set('said', said);
  for (const [name, value] of Object.entries(kept)) if (value !== '') query.set(name, value);
  return `/lesson?${query.toString()}`;
}

/** From 1. */
export function numberOf(stage: StageId): number {
  return STAGES.indexOf(stage) + 1;
}

export function stageOf(id: StageId): Stage {
  const stage = LESSON[numberOf(id) - 1];
  if (stage === undefined) throw new RangeError(`there is no stage ${id}`);
  return stage;
}

/** A whole number of the address within its range, else the preset. */
export function wholeAt(value: string | undefined, least: number, most: number, preset: number): number {
  const number = value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : NaN;
  return number >= least && number <= most ? number : preset;
}
