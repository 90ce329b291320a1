/** Keys and values of one row on the host. */
import type { PolicyConfig } from '../config.ts';
import { bucket } from './shapes.ts';

interface Layer {
  /** [K, D, capacity]: transposed, as the scores read them. */
  keys: Float32Array;
  /** [K, capacity, D] */
  values: Float32Array;
}

/** Slot p holds position p: the keys and values of the row's first tokens, for every layer. */
export class RowCache {
  readonly tokens: number[] = [];
  private layers: Layer[];
  private readonly heads: number;
  private readonly dim: number;

  constructor(
    { num_hidden_layers, num_key_value_heads, head_dim }: PolicyConfig,
    private capacity: number,
  ) {
    this.heads = num_key_value_heads;
    this.dim = head_dim;
    this.layers = Array.from({ length: num_hidden_layers }, () => this.emptyLayer());
  }

  /** Drops what does not begin `tokens`, and their last one, which must be fed to be followed. */
  keepPrefixOf(tokens: Uint32Array): void {
    let same = 0;
    while (same < Math.min(this.tokens.length, tokens.length - 1) && this.tokens[same] === tokens[same]) same++;
    this.tokens.length = same;
  }

  copyFrom(other: RowCache): void {
    this.tokens.splice(0, Infinity, ...other.tokens);
    this.capacity = other.capacity;
    this.layers = other.layers.map(({ keys, values }) => ({ keys: keys.slice(), values: values.slice() }));
  }

  /** Writes one layer, [K, D, slots] and [K, slots, D], into a batch at row `at`. */
  freeze(layer: number, keys: Float32Array, values: Float32Array, at: number, slots: number): void {
    copyLayer(this.layer(layer), this.capacity, keys, values, at, slots, this.tokens.length, this.heads, this.dim);
  }

  /** Takes the next token: its keys and values lie at row `at` of a batch, a layer each, [B, K, D]. */
  append(token: number, fresh: readonly { readonly key: Float32Array; readonly value: Float32Array }[], at: number): void {
    const { heads, dim, tokens: { length } } = this;
    if (length === this.capacity) this.grow(bucket(length + 1));
    for (const [i, { key, value }] of fresh.entries()) {
      const layer = this.layer(i);
      for (let line = 0; line < heads * dim; line++) {
        layer.keys[line * this.capacity + length] = key[at * heads * dim + line] ?? 0;
        const head = Math.floor(line / dim);
        layer.values[(head * this.capacity + length) * dim + (line % dim)] = value[at * heads * dim + line] ?? 0;
      }
    }
    this.tokens.push(token);
  }

  private grow(capacity: number): void {
    const { layers, capacity: old, heads, dim } = this;
    this.capacity = capacity;
    this.layers = layers.map((layer) => {
      const grown = this.emptyLayer();
      copyLayer(layer, old, grown.keys, grown.values, 0, capacity, old, heads, dim);
      return grown;
    });
  }

  private layer(index: number): Layer {
    const layer = this.layers[index];
    if (layer === undefined) throw new RangeError(`no layer ${index}`);
    return layer;
  }

  private emptyLayer(): Layer {
    const size = this.heads * this.dim * this.capacity;
    return { keys: new Float32Array(size), values: new Float32Array(size) };
  }
}

/** Copies `count` positions of a layer with `capacity` slots to row `at` of a batch with `slots`. */
function copyLayer(
  from: Layer, capacity: number, keys: Float32Array, values: Float32Array, at: number, slots: number, count: number, heads: number, dim: number,
): void {
  for (let line = 0; line < heads * dim; line++) copyRun(from.keys, line * capacity, keys, (at * heads * dim + line) * slots, count);
  for (let head = 0; head < heads; head++) {
    copyRun(from.values, head * capacity * dim, values, (at * heads + head) * slots * dim, count * dim);
  }
}

/** Runs are short: a loop is faster than a view and `set`. */
function copyRun(from: Float32Array, at: number, to: Float32Array, offset: number, count: number): void {
  for (let i = 0; i < count; i++) to[offset + i] = from[at + i] ?? 0;
}
