/** What the rollout view says. */
export const enRollout = {
} as const;
