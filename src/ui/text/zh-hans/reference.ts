import type { reference as english } from '../en/reference.ts';
import type { Translation } from '../text.ts';

export const reference: Translation<typeof english> = {};
