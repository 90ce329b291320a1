import type { lesson as english } from '../en/lesson.ts';
import type { Translation } from '../text.ts';

export const lesson: Translation<typeof english> = {};
