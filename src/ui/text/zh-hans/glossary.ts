import type { glossary as english } from '../en/glossary.ts';
import type { Translation } from '../text.ts';

export const glossary: Translation<typeof english> = {};
