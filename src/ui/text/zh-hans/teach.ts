import type { teach as english } from '../en/teach.ts';
import type { Translation } from '../text.ts';

export const teach: Translation<typeof english> = {};
