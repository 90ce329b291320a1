/** English numbers, plurals and durations, for the parts of the English catalogue. */
import { formatFor } from './format.ts';

export const f = formatFor('en');
export const n = f.integer;

export const plural = (count: number, one: string, other: string): string => `${n(count)} ${f.plural(count, { one, other })}`;

/** "45 s", "1 min 20 s", "2 h 5 min": never more than two units. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${n(whole)} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${n(minutes)} min` : `${n(minutes)} min ${n(whole % 60)} s`;
  return `${n(Math.floor(minutes / 60))} h ${n(minutes % 60)} min`;
}

export const engineName = (kind: 'webgpu' | 'cpu'): string => (kind === 'webgpu' ? 'WGSL engine' : 'CPU engine');
