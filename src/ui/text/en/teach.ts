export const teach = {} as const;
