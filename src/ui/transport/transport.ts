/**
 * One transport for all views that are stepped through: back, play, on, by a unit that the person chooses, at a speed,
 * or by dragging. A view says where one can stand; how it moves is the same everywhere.
 */

export const UNITS = ['token', 'turn', 'rollout', 'operation', 'update'] as const;
/** What one step is. A turn is a span of one owner: a thought, a call, its output. */
export type Unit = (typeof UNITS)[number];

/** Steps a second while playing. */
export const SPEEDS = ['0.5', '1', '2', '5', '10', '25'] as const;
export type Speed = (typeof SPEEDS)[number];

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

/** Units that can be chosen: those with stops, then those that lead beyond. */
export function unitsOf({ units, beyond }: TransportSource): readonly Unit[] {
  const within = units.map(({ unit }) => unit);
  return [...within, ...UNITS.filter((unit) => beyond?.[unit] !== undefined && !within.includes(unit))];
}

/** The unit in use: what was chosen last among those that the view has, else its finest. */
export function unitIn(source: TransportSource, chosen: readonly Unit[]): Unit | undefined {
  const units = unitsOf(source);
  return chosen.find((unit) => units.includes(unit)) ?? units[0];
}

/** What one step by a unit does; undefined at the end. */
export function stepBy(source: TransportSource, unit: Unit, direction: 1 | -1): (() => void) | undefined {
  const stops = source.units.find((u) => u.unit === unit)?.stops ?? [];
  const to = neighbour(stops, source.at, direction);
  if (to !== undefined) return () => {
    source.onMove(to);
  };
  return direction === 1 ? source.beyond?.[unit]?.next : source.beyond?.[unit]?.previous;
}

/** The unit after another in a view, round and round. */
export function unitAfter(source: TransportSource, unit: Unit): Unit | undefined {
  const units = unitsOf(source);
  return units[(units.indexOf(unit) + 1) % units.length];
}
