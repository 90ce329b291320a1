/** What the update view says. */
export const enUpdate = {
} as const;
