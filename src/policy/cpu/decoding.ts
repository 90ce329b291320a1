/**
 * Cached decoding of rows of different lengths. A row's keys and values lie on the host, slot p holding position p.
 * Each burst of 16 steps uploads them as a frozen cache, with a tail of 16 slots to write to (jax-js has no update
 * in place), and then takes the tail back, so that rows that have ended drop out between bursts. Context tokens are
 * fed through the same step, without sampling; rows that start alike are fed once and copied.
 */
import { numpy as np } from '@jax-js/jax';
import { samplingUniform } from '../random.ts';
import type { SampledRow, SampleRequest } from '../engine.ts';
import {
  byLayer, download, feedForward, gather, MASKED, rmsNorm, rotate, rotation, tensor, type Rotation, type Tensor,
} from './model.ts';
import type { Programs } from './programs.ts';
import { draw, excludedIds, type Law } from './sampling.ts';
import { bucket } from './shapes.ts';

/** Steps between two uploads of the cache. */
const BURST = 16;

/** Numbers of rows for which steps are compiled. */
const BATCHES = [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128];

function batchOf(rows: number): number {
  return BATCHES.find((size) => size >= rows) ?? Math.ceil(rows / 64) * 64;
}

/** Keys and values of a row's first tokens. */
class RowCache {
  readonly tokens: number[] = [];
  /** A layer each: [K, D, capacity], transposed as the scores read them. */
  keys: Float32Array[];
  /** A layer each: [K, capacity, D]. */
  values: Float32Array[];

  constructor(
    private readonly layers: number,
    private readonly heads: number,
    private readonly dim: number,
    private capacity: number,
  ) {
    this.keys = this.allocate();
    this.values = this.allocate();
  }

  /** Drops what does not begin `tokens`, or is its last token, which must be fed to be followed. */
  keepPrefixOf(tokens: Uint32Array): void {
    let same = 0;
    while (same < Math.min(this.tokens.length, tokens.length - 1) && this.tokens[same] === tokens[same]) same++;
    this.tokens.length = same;
  }

  copyFrom(other: RowCache): void {
    this.tokens.splice(0, Infinity, ...other.tokens);
    this.capacity = other.capacity;
    this.keys = other.keys.map((a) => a.slice());
    this.values = other.values.map((a) => a.slice());
  }

  reserve(length: number): void {
    if (length <= this.capacity) return;
    const capacity = bucket(length);
    const { keys, values, capacity: old } = this;
    this.capacity = capacity;
    this.keys = this.allocate();
    this.values = this.allocate();
    for (let layer = 0; layer < this.layers; layer++) {
      for (let line = 0; line < this.heads * this.dim; line++) copyRun(keys[layer], line * old, this.keys[layer], line * capacity, old);
      for (let head = 0; head < this.heads; head++) {
        copyRun(values[layer], head * old * this.dim, this.values[layer], head * capacity * this.dim, old * this.dim);
      }
    }
  }

  /** Writes this row into a frozen cache of `slots` slots, as row `at` of the batch. */
  freeze(layer: number, keys: Float32Array, values: Float32Array, at: number, slots: number): void {
    const { heads, dim, capacity } = this;
    const length = this.tokens.length;
    for (let line = 0; line < heads * dim; line++) {
      copyRun(this.keys[layer], line * capacity, keys, (at * heads * dim + line) * slots, length);
    }
    for (let head = 0; head < heads; head++) {
      copyRun(this.values[layer], head * capacity * dim, values, (at * heads + head) * slots * dim, length * dim);
    }
  }

  /** Takes one token's keys and values, [B, K, D] each, from row `at` of the batch: those of position `tokens.length`. */
  append(layer: number, keys: Float32Array, values: Float32Array, at: number): void {
    const { heads, dim, capacity, tokens: { length } } = this;
    const [toKeys, toValues] = [this.keys[layer], this.values[layer]];
    if (toKeys === undefined || toValues === undefined) throw new RangeError(`no layer ${layer}`);
    for (let head = 0; head < heads; head++) {
      for (let i = 0; i < dim; i++) {
        const line = head * dim + i;
        toKeys[line * capacity + length] = keys[at * heads * dim + line] ?? 0;
        toValues[(head * capacity + length) * dim + i] = values[at * heads * dim + line] ?? 0;
      }
    }
  }

  private allocate(): Float32Array[] {
    return Array.from({ length: this.layers }, () => new Float32Array(this.heads * this.dim * this.capacity));
  }
}

function copyRun(from: Float32Array | undefined, at: number, to: Float32Array | undefined, offset: number, count: number): void {
  if (from === undefined || to === undefined) throw new RangeError('no such layer');
  for (let i = 0; i < count; i++) to[offset + i] = from[at + i] ?? 0;
}

/** A row under way: `fed` of its `length` tokens are in the cache or the tail. */
interface Running {
  readonly stream: number;
  readonly cache: RowCache;
  readonly tokens: Uint32Array;
  readonly logProbs: number[];
  length: number;
  fed: number;
  stop: SampledRow['stop'] | undefined;
}

type Inputs = {
  /** [B, d] */
  x: Tensor;
  /** [B, 1, 2, D/2] */
  cos: Tensor;
  sin: Tensor;
  /** A layer each: [B, K, D, S] and [B, K, S, D]. */
  keys: Tensor[];
  values: Tensor[];
  /** [B, 1, 1, S] */
  frozenMask: Tensor;
  /** A layer each: [B, K, D, 16] and [B, K, 16, D]. */
  tailKeys: Tensor[];
  tailValues: Tensor[];
  /** [16]: 1 at the slot of this step; its complement; MASKED at later slots. */
  slot: Tensor;
  others: Tensor;
  tailMask: Tensor;
};

type Outputs = {
  logits: Tensor;
  /** Of the token that was fed, a layer each: [B, K, D]. */
  keys: Tensor[];
  values: Tensor[];
  tailKeys: Tensor[];
  tailValues: Tensor[];
};

export class Decoder {
  private readonly cache = new Map<number, RowCache>();
  private readonly rotation: Rotation;
  private readonly slots: { readonly slot: Tensor; readonly others: Tensor; readonly tailMask: Tensor }[];

  constructor(
    private readonly programs: Programs,
    private readonly suppressTokens: readonly number[],
  ) {
    this.rotation = rotation(programs.config, programs.config.max_position_embeddings);
    this.slots = Array.from({ length: BURST }, (_, s) => ({
      slot: tensor(Float32Array.from({ length: BURST }, (_, i) => (i === s ? 1 : 0)), [BURST]),
      others: tensor(Float32Array.from({ length: BURST }, (_, i) => (i === s ? 0 : 1)), [BURST]),
      tailMask: tensor(Float32Array.from({ length: BURST }, (_, i) => (i > s ? MASKED : 0)), [BURST]),
    }));
  }

  /** Keys and values belong to the weights that made them. */
  forget(): void {
    this.cache.clear();
  }

  /**
   * @param device the weights as `uploadWeights` gives them; kept. @param host the same weights, flat.
   * @param proceed awaited between two steps; false ends the call, which then gives undefined.
   */
  async continue(
    device: readonly Tensor[],
    host: Float32Array,
    request: Omit<SampleRequest, 'signal'>,
    proceed: () => Promise<boolean>,
  ): Promise<SampledRow[] | undefined> {
    const { config } = this.programs;
    const law: Law = { ...request, excluded: excludedIds(config.vocab_size, this.suppressTokens, request.bannedTokens ?? []) };
    const rows = this.begin(request);

    // Rollouts of one group begin with one prompt: its keys and values are the same for all.
    const groups = new Map<string, Running[]>();
    for (const row of rows) {
      if (row.stop !== undefined || row.fed > 0) continue;
      const prompt = row.tokens.subarray(0, row.length).join();
      groups.set(prompt, [...(groups.get(prompt) ?? []), row]);
    }
    const leaders = [...groups.values()].filter((group) => group.length > 1).flatMap((group) => group.slice(0, 1));
    const primed = await this.run(device, host, leaders, (row) => row.fed === row.length - 1, proceed);
    if (!primed) return undefined;
    for (const [leader, ...others] of groups.values()) {
      for (const row of others) if (leader !== undefined) row.cache.copyFrom(leader.cache);
      for (const row of others) row.fed = leader?.fed ?? 0;
    }

    const finished = await this.run(device, host, rows, (row, logits) => {
      if (row.stop !== undefined) return true;
      if (row.fed < row.length || logits === undefined) return false;
      const { token, logProb } = draw(logits, law, samplingUniform(request.seed, request.step, row.stream, row.length));
      row.tokens[row.length++] = token;
      row.logProbs.push(logProb);
      if (request.stopTokens.includes(token)) row.stop = 'token';
      else if (row.length >= request.maxLength) row.stop = 'length';
      return row.stop !== undefined;
    }, proceed);
    if (!finished) return undefined;
    return rows.map(({ tokens, length, logProbs, stop }) => ({
      tokens: tokens.slice(length - logProbs.length, length),
      logProbs: Float32Array.from(logProbs),
      stop: stop ?? 'length',
    }));
  }

  private begin({ rows, maxLength }: Omit<SampleRequest, 'signal'>): Running[] {
    const { num_hidden_layers, num_key_value_heads, head_dim } = this.programs.config;
    const known = new Map(this.cache);
    this.cache.clear();
    return rows.map(({ tokens, stream }) => {
      const buffer = new Uint32Array(Math.max(maxLength, tokens.length));
      buffer.set(tokens);
      const cache = known.get(stream) ?? new RowCache(num_hidden_layers, num_key_value_heads, head_dim, bucket(tokens.length));
      // A second row of the same stream has a cache of its own.
      known.delete(stream);
      this.cache.set(stream, cache);
      cache.keepPrefixOf(tokens);
      return {
        stream, cache, tokens: buffer, logProbs: [], length: tokens.length, fed: cache.tokens.length,
        stop: tokens.length >= maxLength ? 'length' : undefined,
      };
    });
  }

  /** Feeds rows until `ended` says so of each; it is asked at the start and after each token, with what follows it. */
  private async run(
    device: readonly Tensor[],
    host: Float32Array,
    rows: readonly Running[],
    ended: (row: Running, logits?: Float32Array) => boolean,
    proceed: () => Promise<boolean>,
  ): Promise<boolean> {
    let alive = rows.filter((row) => !ended(row));
    while (alive.length > 0) {
      const next = await this.burst(device, host, alive, ended, proceed);
      if (next === undefined) return false;
      alive = next;
    }
    return true;
  }

  /** Up to 16 steps of these rows. @returns those that go on, or undefined where the call ends here. */
  private async burst(
    device: readonly Tensor[],
    host: Float32Array,
    rows: readonly Running[],
    ended: (row: Running, logits?: Float32Array) => boolean,
    proceed: () => Promise<boolean>,
  ): Promise<Running[] | undefined> {
    const { config } = this.programs;
    const { num_hidden_layers: L, num_key_value_heads: K, head_dim: D, vocab_size: vocab, hidden_size: d } = config;
    const B = batchOf(rows.length);
    const S = bucket(Math.max(...rows.map((row) => row.fed)));
    const program = this.programs.get(`decode ${B} × ${S}`, (weights, inputs: Inputs) => this.step(weights, inputs));
    const frozen = this.frozen(rows, B, S);
    const zeros = (shape: number[]): Tensor[] => Array.from({ length: L }, () => np.zeros(shape));
    let tailKeys = zeros([B, K, D, BURST]);
    let tailValues = zeros([B, K, BURST, D]);

    const tokens = new Uint32Array(B);
    const positions = new Uint32Array(B);
    let alive = [...rows.keys()];
    let goOn = true;
    try {
      for (const { slot, others, tailMask } of this.slots) {
        for (const [b, row] of rows.entries()) {
          positions[b] = row.fed;
          tokens[b] = row.tokens[row.fed] ?? 0;
        }
        const outputs = program(device.map((w) => w.ref), {
          x: tensor(gather(host, d, tokens), [B, d]),
          cos: tensor(gather(this.rotation.cos, D, positions), [B, 1, 2, D / 2]),
          sin: tensor(gather(this.rotation.sin, D, positions), [B, 1, 2, D / 2]),
          keys: frozen.keys.map((a) => a.ref),
          values: frozen.values.map((a) => a.ref),
          frozenMask: frozen.mask.ref,
          tailKeys, tailValues,
          slot: slot.ref, others: others.ref, tailMask: tailMask.ref,
        });
        ({ tailKeys, tailValues } = outputs);
        const logits = download(outputs.logits);
        const newKeys = outputs.keys.map(download);
        const newValues = outputs.values.map(download);
        alive = alive.filter((b) => {
          const row = rows[b];
          if (row === undefined) return false;
          row.cache.reserve(row.fed + 1);
          for (let layer = 0; layer < L; layer++) row.cache.append(layer, newKeys[layer] ?? logits, newValues[layer] ?? logits, b);
          row.cache.tokens.push(row.tokens[row.fed++] ?? 0);
          return !ended(row, logits.subarray(b * vocab, (b + 1) * vocab));
        });
        goOn = await proceed();
        if (!goOn || alive.length === 0 || batchOf(alive.length) * 2 <= B) break;
      }
    } finally {
      for (const array of [...frozen.keys, ...frozen.values, frozen.mask, ...tailKeys, ...tailValues]) array.dispose();
    }
    return goOn ? rows.filter((_, b) => alive.includes(b)) : undefined;
  }

  /** The caches of these rows, as a batch of B rows with S slots each. */
  private frozen(rows: readonly Running[], B: number, S: number): { keys: Tensor[]; values: Tensor[]; mask: Tensor } {
    const { num_hidden_layers: L, num_key_value_heads: K, head_dim: D } = this.programs.config;
    const mask = new Float32Array(B * S).fill(MASKED);
    for (const [b, row] of rows.entries()) mask.fill(0, b * S, b * S + row.fed);
    const keys: Tensor[] = [];
    const values: Tensor[] = [];
    for (let layer = 0; layer < L; layer++) {
      const k = new Float32Array(B * K * D * S);
      const v = new Float32Array(B * K * S * D);
      for (const [b, row] of rows.entries()) row.cache.freeze(layer, k, v, b, S);
      keys.push(tensor(k, [B, K, D, S]));
      values.push(tensor(v, [B, K, S, D]));
    }
    return { keys, values, mask: tensor(mask, [B, 1, 1, S]) };
  }

  /** One token of every row: its logits [B, vocab], and the tail with its key and value. Consumes all. */
  private step(weights: Tensor[], inputs: Inputs): Outputs {
    const { config } = this.programs;
    const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = config;
    const { cos, sin, frozenMask, slot, others, tailMask } = inputs;
    const B = inputs.x.shape[0] ?? 0;
    const { layers, norm, head } = byLayer(weights);
    const outputs: Omit<Outputs, 'logits'> = { keys: [], values: [], tailKeys: [], tailValues: [] };
    let h = inputs.x;
    for (const [i, layer] of layers.entries()) {
      const [keys, values, oldKeys, oldValues] = [inputs.keys[i], inputs.values[i], inputs.tailKeys[i], inputs.tailValues[i]];
      if (!keys || !values || !oldKeys || !oldValues) throw new RangeError(`no cache for layer ${i}`);
      const n = rmsNorm(config, h.ref, layer.inputNorm);
      const heads = (projected: Tensor, count: number): Tensor => rotate(projected.reshape([B, count, 2, D / 2]), cos.ref, sin.ref);
      const q = heads(np.matmul(n.ref, layer.q), H).reshape([B, K, H / K, D]);
      const k = heads(np.matmul(n.ref, layer.k), K).reshape([B, K, D]);
      const v = np.matmul(n, layer.v).reshape([B, K, D]);
      const tailK = oldKeys.mul(others.ref).add(k.ref.reshape([B, K, D, 1]).mul(slot.ref));
      const tailV = oldValues.mul(others.ref.reshape([BURST, 1])).add(v.ref.reshape([B, K, 1, D]).mul(slot.ref.reshape([BURST, 1])));
      outputs.keys.push(k);
      outputs.values.push(v);
      outputs.tailKeys.push(tailK.ref);
      outputs.tailValues.push(tailV.ref);
      const old = np.matmul(q.ref, keys).mul(D ** -0.5).add(frozenMask.ref);
      const recent = np.matmul(q, tailK).mul(D ** -0.5).add(tailMask.ref);
      const top = np.maximum(np.max(old.ref, -1, { keepdims: true }), np.max(recent.ref, -1, { keepdims: true }));
      const oldMass = np.exp(old.sub(top.ref));
      const recentMass = np.exp(recent.sub(top));
      const total = np.sum(oldMass.ref, -1, { keepdims: true }).add(np.sum(recentMass.ref, -1, { keepdims: true }));
      const mixed = np.matmul(oldMass, values).add(np.matmul(recentMass, tailV)).mul(np.reciprocal(total));
      h = h.add(np.matmul(mixed.reshape([B, H * D]), layer.o));
      h = h.ref.add(feedForward(rmsNorm(config, h, layer.postNorm), layer));
    }
    for (const used of [cos, sin, frozenMask, slot, others, tailMask]) used.dispose();
    return { logits: np.matmul(rmsNorm(config, h, norm), head), ...outputs };
  }
}
