import { beforeEach, expect, it } from 'vitest';
import { RECORDED } from '../../lesson/recorded.ts';
import { lesson, lessonStore, parseLesson } from './lesson.ts';

const kept = new Map<string, string>();
Object.assign(globalThis, {
  localStorage: { getItem: (key: string) => kept.get(key) ?? null, setItem: (key: string, value: string) => kept.set(key, value) },
});

beforeEach(() => {
  kept.clear();
  lesson.forget();
});

it('keeps stage, predictions and findings across visits', () => {
  lesson.visit('comparing');
  lesson.predict('comparing', 'same-push');
  lesson.find('comparing', RECORDED.comparing);
  lesson.predict('gap', 'exact');
  lesson.again('gap');
  expect(parseLesson(kept.get('atelier.lesson'), kept.get('atelier.lesson.answers'))).toEqual(lessonStore.getState());
  expect(lessonStore.getState()).toEqual({ stage: 'comparing', said: { comparing: 'same-push' }, found: { comparing: RECORDED.comparing } });
});

it('takes nothing from a memory that is not its own', () => {
  const nothing = { stage: undefined, said: {}, found: {} };
  for (const text of [undefined, '', '{', 'null', '7', '[]', '{"said":[],"found":3}']) expect(parseLesson('nine', text)).toEqual(nothing);
  expect(parseLesson('', '{"said":{"gap":"masked","scoring":"top"},"found":{"comparing":{"rewards":["x"]},"gap":{"ok":1}}}')).toEqual({ ...nothing, said: { scoring: 'top' } });
});
