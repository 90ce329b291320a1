/** What the rollout view says. */
export const enRollout = {
  'span.fork': 'branches here',
  'span.own': 'you wrote',
} as const;
