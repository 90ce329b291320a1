/** The kernels' sources, bundled into the page. */
import type { Shaders } from './gpu.ts';

const files = import.meta.glob<string>('/shaders/*.wgsl', { query: '?raw', import: 'default', eager: true });

export const shaders: Shaders = Object.fromEntries(
  Object.entries(files).map(([path, source]) => [path.slice('/shaders/'.length, -'.wgsl'.length), source]),
);
