/** What the group view says of dragged rewards, switches and rules of its own. */
export const enGroup = {
} as const;
