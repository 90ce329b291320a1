/** The kernels' sources, read from `shaders/`. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Shaders } from './gpu.ts';

const folder = new URL('../../../shaders/', import.meta.url);

export const shaders: Shaders = Object.fromEntries(
  readdirSync(folder)
    .filter((file) => file.endsWith('.wgsl'))
    .map((file) => [file.slice(0, -5), readFileSync(new URL(file, folder), 'utf8')]),
);
