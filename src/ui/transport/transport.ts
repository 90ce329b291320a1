/**
 * One transport for all views that are stepped through: back, play, on, by a unit that the person chooses, at a speed,
 * or by dragging. A view says where one can stand; how it moves is the same everywhere.
 */

export const UNITS = ['token', 'turn', 'rollout', 'operation', 'update'] as const;
/** What one step is. A turn is a span of one owner: a thought, a call, its output. */
export type Unit = (typeof UNITS)[number];

export interface TransportSource {
  /** Where the view stands, 0 to `count` − 1, counted in the finest unit. */
  readonly at: number;
  readonly count: number;
  /** Units that this view has, the finest first, each with the places at which it stops, ascending. */
  readonly units: readonly { readonly unit: Unit; readonly stops: readonly number[] }[];
  readonly onMove: (to: number) => void;
  /** Units beyond this source (the next rollout, the next step): undefined at the end. */
  readonly beyond?: Readonly<Partial<Record<Unit, { readonly previous?: (() => void) | undefined; readonly next?: (() => void) | undefined }>>>;
  /** The place in words, for the slider's value. */
  readonly words: (at: number) => string;
}

/** The nearest stop after, or before, a place; undefined where there is none. */
export function neighbour(stops: readonly number[], at: number, direction: 1 | -1): number | undefined {
  return direction === 1 ? stops.find((stop) => stop > at) : stops.findLast((stop) => stop < at);
}
