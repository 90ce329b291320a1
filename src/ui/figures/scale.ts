/** Layout maths of the figures: numbers in, numbers and path texts out. No DOM. */

export type Domain = readonly [number, number];

/** Linear, from a domain to a range of pixels. An empty domain maps to the middle. */
export function linear([d0, d1]: Domain, [r0, r1]: Domain): (x: number) => number {
  if (d0 === d1) return () => (r0 + r1) / 2;
  return (x) => r0 + ((x - d0) / (d1 - d0)) * (r1 - r0);
}

/** About `count` round numbers inside the domain. */
export function ticks([low, high]: Domain, count: number): number[] {
  if (!(high > low)) return [low];
  const raw = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999) ?? raw;
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}

/** Smallest domain of round ends that holds all finite values and `floor`. */
export function niceDomain(values: Iterable<number>, floor: Domain): Domain {
  let [low, high] = floor;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low === high) return [low, low + 1];
  const power = 10 ** Math.floor(Math.log10(high - low));
  const step = power / 2;
  return [Math.floor(low / step + 1e-9) * step, Math.ceil(high / step - 1e-9) * step];
}

export interface Point {
  readonly x: number;
  /** NaN where there is no value: the line is broken there. */
  readonly y: number;
}

const px = (x: number): string => x.toFixed(1);

/** A polyline; a point alone between gaps is drawn as a dot by the round line cap. */
export function linePath(points: readonly Point[]): string {
  let path = '';
  let open = false;
  for (const { x, y } of points) {
    if (Number.isFinite(y)) {
      path += `${open ? 'L' : 'M'}${px(x)} ${px(y)}`;
      if (!open) path += 'h0';
      open = true;
    } else open = false;
  }
  return path;
}

/** The area between two lines over the same x. */
export function bandPath(top: readonly Point[], bottom: readonly Point[]): string {
  if (top.length === 0) return '';
  const there = top.map(({ x, y }) => `${px(x)} ${px(y)}`);
  const back = [...bottom].reverse().map(({ x, y }) => `${px(x)} ${px(y)}`);
  return `M${[...there, ...back].join('L')}Z`;
}

/** Moves labels apart so that neighbours are at least `gap` from each other and all lie within the range. */
export function spread(positions: readonly number[], gap: number, [low, high]: Domain): number[] {
  const order = positions.map((at, i) => ({ at, i })).sort((a, b) => a.at - b.at);
  let next = low;
  for (const label of order) {
    label.at = Math.max(label.at, next);
    next = label.at + gap;
  }
  let limit = high;
  for (const label of order.toReversed()) {
    label.at = Math.min(label.at, limit);
    limit = label.at - gap;
  }
  const out = new Array<number>(positions.length).fill(0);
  for (const { at, i } of order) out[i] = at;
  return out;
}

/** At most `most` of the items, evenly, always with the first and the last. */
export function thin<T>(items: readonly T[], most: number): readonly T[] {
  if (items.length <= most) return items;
  return Array.from({ length: most }, (_, i) => items[Math.round((i * (items.length - 1)) / (most - 1))] as T);
}

/** The index whose value is nearest to `x`; values ascend. */
export function nearest(values: readonly number[], x: number): number {
  let best = 0;
  for (const [i, value] of values.entries()) if (Math.abs(value - x) < Math.abs((values[best] ?? NaN) - x)) best = i;
  return best;
}
