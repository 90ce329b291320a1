export const offline = {} as const;
