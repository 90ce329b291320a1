import type { ReactNode } from 'react';

const PATHS = {
  home: 'M3 9.5 10 4l7 5.5M5 8.5V16h10V8.5',
  train: 'M3 16.5h14M3.5 13l4-4.5 3.5 2.5L16.5 4',
  group: 'M4 5h2m2 0h8M4 10h2m2 0h5M4 15h2m2 0h7',
  rollout: 'M3 6h9M8 10h9M3 14h6m3 0h5',
  update: 'M10 3v5m0 4v5M3 10h5m4 0h5M10 7.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5',
  tools: 'M3.5 5.5 8 10l-4.5 4.5M10 14.5h6.5',
  compare: 'M3 16.5h14M5.5 16.5V9.5h2.5v7M12 16.5V4.5h2.5v12',
  lesson: 'M10 6C8.5 4.7 6 4.3 3 4.5V15c3-.2 5.5.2 7 1.5 1.5-1.3 4-1.7 7-1.5V4.5c-3-.2-5.5.2-7 1.5v10.5',
  teach: 'M3 3.5h14v9.5H3zM10 13v3.5M6.5 16.5h7M6 7h5M6 9.5h8',
  reference: 'M5 3.5h10v13H5zM7.5 7h5M7.5 10h5M7.5 13h3',
  system: 'M3 5h14v8.5H3zM7.5 16.5h5',
  light: 'M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7M10 2.5v1.5M10 16v1.5M2.5 10H4M16 10h1.5M4.7 4.7l1 1M14.3 14.3l1 1M4.7 15.3l1-1M14.3 5.7l1-1',
  dark: 'M16 12.2A6.5 6.5 0 0 1 7.8 4 6.5 6.5 0 1 0 16 12.2Z',
  play: 'M6 4.5v11l9-5.5z',
  pause: 'M7 5v10M13 5v10',
  step: 'M5 5v10l7-5zM14.5 5v10',
  back: 'M15 5v10l-7-5zM5.5 5v10',
  reset: 'M5 5v4h4M5.3 8.8A5.5 5.5 0 1 1 5 12',
  previous: 'M12.5 5 7.5 10l5 5',
  next: 'm7.5 5 5 5-5 5',
  down: 'm5 8 5 5 5-5',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  cross: 'm5.5 5.5 9 9m0-9-9 9',
  warning: 'M10 3.5 17.5 16h-15zM10 8v4M10 13.8v.4',
} as const;

export type IconName = keyof typeof PATHS;

/** A line drawing beside a word that says the same; hidden from screen readers. */
export function Icon({ name, size = 18 }: { readonly name: IconName; readonly size?: number }): ReactNode {
  return (
    <svg viewBox="0 0 20 20" width={size} height={size} aria-hidden="true" focusable="false" style={{ flex: 'none' }}>
      <path d={PATHS[name]} fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
