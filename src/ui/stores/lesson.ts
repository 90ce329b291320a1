/** How far a person is in the lesson: the stage, what was predicted, and what the figures found. Outlives the page. */
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { RECORDED } from '../../lesson/recorded.ts';
import { OPTIONS, STAGES, type Findings, type OptionOf, type StageId } from '../../lesson/stages.ts';
import { recalled, remember } from './memory.ts';

export type Said = { readonly [S in StageId]?: OptionOf<S> };
export type Found = { readonly [S in StageId]?: Findings[S] };

export interface LessonState {
  /** The stage that was open last; undefined before the lesson was begun. */
  readonly stage: StageId | undefined;
  readonly said: Said;
  readonly found: Found;
}

/** Whether a stored value is of the shape of a known one: whatever was written here is checked before it is used. */
function isLike(value: unknown, known: unknown): boolean {
  if (known === undefined) return true;
  if (Array.isArray(known)) return Array.isArray(value) && value.every((item) => isLike(item, known[0]));
  if (typeof known !== 'object' || known === null) return typeof value === typeof known;
  return typeof value === 'object' && value !== null
    && Object.entries(known).every(([key, part]) => isLike((value as Readonly<Record<string, unknown>>)[key], part));
}

/** A stage's option by its name; undefined where it has no such option. */
export function optionOf<S extends StageId>(stage: S, name: unknown): OptionOf<S> | undefined {
  return (OPTIONS[stage] as readonly OptionOf<S>[]).find((option) => option === name);
}

/** @param place the stage, @param text everything else, as they were remembered. */
export function parseLesson(place: string | undefined, text: string | undefined): LessonState {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? 'null');
  } catch {
    stored = null;
  }
  const { said, found } = (typeof stored === 'object' && stored !== null ? stored : {}) as Readonly<Record<string, unknown>>;
  const at = (of: unknown, id: StageId): unknown => (typeof of === 'object' && of !== null ? (of as Readonly<Record<string, unknown>>)[id] : undefined);
  return {
    stage: STAGES.find((id) => id === place),
    said: Object.fromEntries(STAGES.flatMap((id) => {
      const option = optionOf(id, at(said, id));
      return option === undefined ? [] : [[id, option]];
    })),
    found: Object.fromEntries(STAGES.flatMap((id) => {
      const finding = at(found, id);
      return finding !== undefined && isLike(finding, RECORDED[id]) ? [[id, finding]] : [];
    })),
  };
}

export const lessonStore = createStore<LessonState>(() => parseLesson(recalled('lesson'), recalled('lesson.answers')));

export function useLesson<T>(selector: (state: LessonState) => T): T {
  return useStore(lessonStore, selector);
}

function change(to: Partial<LessonState>): void {
  lessonStore.setState(to);
  const { stage = '', said, found } = lessonStore.getState();
  remember('lesson', stage);
  remember('lesson.answers', JSON.stringify({ said, found }));
}

export const lesson = {
  visit: (stage: StageId): void => {
    if (lessonStore.getState().stage !== stage) change({ stage });
  },
  predict: <S extends StageId>(stage: S, option: OptionOf<S>): void => {
    change({ said: { ...lessonStore.getState().said, [stage]: option } });
  },
  find: <S extends StageId>(stage: S, finding: Findings[S]): void => {
    if (JSON.stringify(lessonStore.getState().found[stage]) === JSON.stringify(finding)) return;
    change({ found: { ...lessonStore.getState().found, [stage]: finding } });
  },
  /** Takes a prediction back, to make it anew. */
  again: (stage: StageId): void => {
    const { said, found } = lessonStore.getState();
    change({
      said: Object.fromEntries(Object.entries(said).filter(([id]) => id !== stage)),
      found: Object.fromEntries(Object.entries(found).filter(([id]) => id !== stage)),
    });
  },
  forget: (): void => {
    change({ stage: undefined, said: {}, found: {} });
  },
};
