/** What the transport and the list of keys say. */
export const enKeys = {
  'keys.signal': 'Choose the colour of the tokens',
} as const;
