import type { offline as english } from '../en/offline.ts';
import type { Translation } from '../text.ts';

export const offline: Translation<typeof english> = {};
