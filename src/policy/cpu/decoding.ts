/**
 * Cached decoding of rows of different lengths. A row's keys and values lie on the host, slot p holding position p.
 * Each burst of 16 steps uploads them as a frozen cache, with a tail of 16 slots for what the burst adds (jax-js has
 * no update in place); rows that have ended drop out between bursts. Context tokens are fed through the same step,
 * without sampling; rows that begin with the same context are fed once and copied.
 */
import { numpy as np } from '@jax-js/jax';
import type { SampledRow, SampleRequest } from '../engine.ts';
import { samplingUniform } from '../random.ts';
import { RowCache } from './cache.ts';
import {
  byLayer, download, feedForward, gather, MASKED, rmsNorm, rotate, rotation, tensor, type Resident, type Rotation, type Tensor,
} from './model.ts';
import type { Programs } from './programs.ts';
import { draw, excludedIds, type Law } from './sampling.ts';
import { batchFor, bucket, slotsFor } from './shapes.ts';

/** Steps between two uploads of the cache. */
const BURST = 16;

/** A row under way: `fed` of its `length` tokens are in the cache. */
interface Running {
  readonly stream: number;
  readonly cache: RowCache;
  readonly tokens: Uint32Array;
  readonly logProbs: number[];
  length: number;
  fed: number;
  stop: SampledRow['stop'] | undefined;
}

/** Asked of each row at the start, and after each token that was fed, with the logits of what follows it. */
type Ended = (row: Running, logits?: Float32Array) => boolean;

/** Awaited between two steps; false ends the call. */
export type Proceed = () => Promise<boolean>;

type Tail = {
  /** [B, K, D, 16] and [B, K, 16, D]. */
  tailKeys: Tensor;
  tailValues: Tensor;
};

type Frozen = {
  /** [B, K, D, S] and [B, K, S, D]. */
  keys: Tensor;
  values: Tensor;
};

type Slot = {
  /** [16]: 1 at the slot of this step; its complement; MASKED at later slots. */
  slot: Tensor;
  others: Tensor;
  tailMask: Tensor;
};

type Inputs = Slot & {
  /** [B, d] */
  x: Tensor;
  /** [B, 1, 2, D/2] */
  cos: Tensor;
  sin: Tensor;
  /** [B, 1, 1, S]: MASKED beyond a row's length. */
  frozenMask: Tensor;
  layers: (Frozen & Tail)[];
};

type Outputs = {
  /** [B, vocab] */
  logits: Tensor;
  /** [B, K, D] each: those of the token that was fed. */
  layers: (Tail & { key: Tensor; value: Tensor })[];
};

export class Decoder {
  private readonly cache = new Map<number, RowCache>();
  private readonly rotation: Rotation;
  private readonly slots: readonly Slot[];

  constructor(private readonly programs: Programs) {
    this.rotation = rotation(programs.config, programs.config.max_position_embeddings);
    const each = (s: number, value: (i: number) => number): Tensor => tensor(Float32Array.from({ length: BURST }, (_, i) => value(i - s)), [BURST]);
    this.slots = Array.from({ length: BURST }, (_, s) => ({
      slot: each(s, (ahead) => (ahead === 0 ? 1 : 0)),
      others: each(s, (ahead) => (ahead === 0 ? 0 : 1)),
      tailMask: each(s, (ahead) => (ahead > 0 ? MASKED : 0)),
    }));
  }

  /** Keys and values belong to the weights that made them. */
  forget(): void {
    this.cache.clear();
  }

  /** @returns undefined where `proceed` ended the call. */
  async continue(weights: Resident, request: Omit<SampleRequest, 'signal'>, proceed: Proceed): Promise<SampledRow[] | undefined> {
    const { config, suppressTokens } = this.programs;
    const law: Law = { ...request, excluded: excludedIds(config.vocab_size, suppressTokens, request.bannedTokens ?? []) };
    const rows = this.begin(request);
    const sample: Ended = (row, logits) => {
      if (row.stop !== undefined) return true;
      if (row.fed < row.length || logits === undefined) return false;
      const { token, logProb } = draw(logits, law, samplingUniform(request.seed, request.step, row.stream, row.length));
      row.tokens[row.length++] = token;
      row.logProbs.push(logProb);
      if (request.stopTokens.includes(token)) row.stop = 'token';
      else if (row.length >= request.maxLength) row.stop = 'length';
      return row.stop !== undefined;
    };
    const finished = (await this.prime(weights, rows, proceed)) && (await this.run(weights, rows, sample, proceed));
    if (!finished) return undefined;
    return rows.map(({ tokens, length, logProbs, stop }) => ({
      tokens: tokens.slice(length - logProbs.length, length),
      logProbs: Float32Array.from(logProbs),
      stop: stop ?? 'length',
    }));
  }

  /** Takes up what the last call left of these rows, and forgets the others: they have ended. */
  private begin({ rows, maxLength }: Omit<SampleRequest, 'signal'>): Running[] {
    const known = new Map(this.cache);
    this.cache.clear();
    return rows.map(({ tokens, stream }) => {
      const buffer = new Uint32Array(Math.max(maxLength, tokens.length));
      buffer.set(tokens);
      const cache = known.get(stream) ?? new RowCache(this.programs.config, bucket(tokens.length));
      // A second row of the same stream has a cache of its own.
      known.delete(stream);
      this.cache.set(stream, cache);
      cache.keepPrefixOf(tokens);
      const stop = tokens.length >= maxLength ? 'length' : undefined;
      return { stream, cache, tokens: buffer, logProbs: [], length: tokens.length, fed: cache.tokens.length, stop };
    });
  }

  /** Rollouts of one group begin with one prompt: all but its last token is fed once, and copied. */
  private async prime(weights: Resident, rows: readonly Running[], proceed: Proceed): Promise<boolean> {
    const groups = new Map<string, Running[]>();
    for (const row of rows) {
      if (row.stop !== undefined || row.fed > 0) continue;
      const prompt = row.tokens.subarray(0, row.length).join();
      groups.set(prompt, [...(groups.get(prompt) ?? []), row]);
    }
    const shared = [...groups.values()].filter((group) => group.length > 1);
    const leaders = shared.flatMap((group) => group.slice(0, 1));
    if (!(await this.run(weights, leaders, (row) => row.fed === row.length - 1, proceed))) return false;
    for (const [leader, ...others] of shared) {
      for (const row of others) {
        if (leader === undefined) continue;
        row.cache.copyFrom(leader.cache);
        row.fed = leader.fed;
      }
    }
    return true;
  }

  /** Feeds rows until all have ended. @returns false where `proceed` ended the call. */
  private async run(weights: Resident, rows: readonly Running[], ended: Ended, proceed: Proceed): Promise<boolean> {
    let alive: readonly Running[] | undefined = rows.filter((row) => !ended(row));
    while (alive !== undefined && alive.length > 0) alive = await this.burst(weights, alive, ended, proceed);
    return alive !== undefined;
  }

  /** Up to 16 steps of these rows. @returns those that go on, or undefined where `proceed` ended the call. */
  private async burst({ device, host }: Resident, rows: readonly Running[], ended: Ended, proceed: Proceed): Promise<Running[] | undefined> {
    const { config } = this.programs;
    const { num_key_value_heads: K, head_dim: D, vocab_size: vocab, hidden_size: d } = config;
    const B = batchFor(rows.length);
    const S = slotsFor(Math.max(...rows.map((row) => row.fed)));
    const program = this.programs.get(`decode ${B} × ${S}`, (weights, inputs: Inputs) => this.step(weights, inputs));
    const frozen = this.frozen(rows, B, S);
    const mask = this.frozenMask(rows, B, S);
    let tails: Tail[] = frozen.map(() => ({ tailKeys: np.zeros([B, K, D, BURST]), tailValues: np.zeros([B, K, BURST, D]) }));
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
        const { logits, layers } = program(device.map((w) => w.ref), {
          x: tensor(gather(host, d, tokens), [B, d]),
          cos: tensor(gather(this.rotation.cos, D, positions), [B, 1, 2, D / 2]),
          sin: tensor(gather(this.rotation.sin, D, positions), [B, 1, 2, D / 2]),
          frozenMask: mask.ref,
          layers: frozen.map(({ keys, values }, i) => ({ keys: keys.ref, values: values.ref, ...item(tails, i) })),
          slot: slot.ref, others: others.ref, tailMask: tailMask.ref,
        });
        tails = layers.map(({ tailKeys, tailValues }) => ({ tailKeys, tailValues }));
        const next = download(logits);
        const fresh = layers.map(({ key, value }) => ({ key: download(key), value: download(value) }));
        alive = alive.filter((b) => {
          const row = item(rows, b);
          row.cache.append(tokens[b] ?? 0, fresh, b);
          row.fed++;
          return !ended(row, next.subarray(b * vocab, (b + 1) * vocab));
        });
        goOn = await proceed();
        if (!goOn || alive.length === 0 || batchFor(alive.length) * 2 <= B) break;
      }
    } finally {
      mask.dispose();
      for (const { keys, values } of frozen) for (const array of [keys, values]) array.dispose();
      for (const { tailKeys, tailValues } of tails) for (const array of [tailKeys, tailValues]) array.dispose();
    }
    return goOn ? alive.map((b) => item(rows, b)) : undefined;
  }

  /** The caches of these rows, as a batch of B rows with S slots each. */
  private frozen(rows: readonly Running[], B: number, S: number): Frozen[] {
    const { num_hidden_layers, num_key_value_heads: K, head_dim: D } = this.programs.config;
    return Array.from({ length: num_hidden_layers }, (_, layer) => {
      const keys = new Float32Array(B * K * D * S);
      const values = new Float32Array(B * K * S * D);
      for (const [b, row] of rows.entries()) row.cache.freeze(layer, keys, values, b, S);
      return { keys: tensor(keys, [B, K, D, S]), values: tensor(values, [B, K, S, D]) };
    });
  }

  private frozenMask(rows: readonly Running[], B: number, S: number): Tensor {
    const mask = new Float32Array(B * S).fill(MASKED);
    for (const [b, row] of rows.entries()) mask.fill(0, b * S, b * S + row.fed);
    return tensor(mask, [B, 1, 1, S]);
  }

  /** Feeds one token of every row. Consumes all. */
  private step(weights: Tensor[], { x, cos, sin, frozenMask, slot, others, tailMask, layers: caches }: Inputs): Outputs {
    const { config } = this.programs;
    const { num_attention_heads: H, num_key_value_heads: K, head_dim: D } = config;
    const B = x.shape[0] ?? 0;
    const { layers, norm, head } = byLayer(weights);
    const heads = (projected: Tensor, count: number): Tensor => rotate(projected.reshape([B, count, 2, D / 2]), cos.ref, sin.ref);
    /** The tail with this token in its slot. The slots of 16 lie along the last axis, or across it. */
    const put = (tail: Tensor, token: Tensor, shape: number[]): Tensor =>
      tail.mul(others.ref.reshape(shape)).add(token.mul(slot.ref.reshape(shape)));
    const outputs: Outputs['layers'] = [];
    let h = x;
    for (const [i, layer] of layers.entries()) {
      const cache = item(caches, i);
      const n = rmsNorm(config, h.ref, layer.inputNorm);
      const q = heads(np.matmul(n.ref, layer.q), H).reshape([B, K, H / K, D]);
      const key = heads(np.matmul(n.ref, layer.k), K).reshape([B, K, D]);
      const value = np.matmul(n, layer.v).reshape([B, K, D]);
      const tailKeys = put(cache.tailKeys, key.ref.reshape([B, K, D, 1]), [BURST]);
      const tailValues = put(cache.tailValues, value.ref.reshape([B, K, 1, D]), [BURST, 1]);
      outputs.push({ key, value, tailKeys: tailKeys.ref, tailValues: tailValues.ref });
      const old = np.matmul(q.ref, cache.keys).mul(D ** -0.5).add(frozenMask.ref);
      const recent = np.matmul(q, tailKeys).mul(D ** -0.5).add(tailMask.ref);
      const top = np.maximum(np.max(old.ref, -1, { keepdims: true }), np.max(recent.ref, -1, { keepdims: true }));
      const oldMass = np.exp(old.sub(top.ref));
      const recentMass = np.exp(recent.sub(top));
      const total = np.sum(oldMass.ref, -1, { keepdims: true }).add(np.sum(recentMass.ref, -1, { keepdims: true }));
      const mixed = np.matmul(oldMass, cache.values).add(np.matmul(recentMass, tailValues)).mul(np.reciprocal(total));
      h = h.add(np.matmul(mixed.reshape([B, H * D]), layer.o));
      h = h.ref.add(feedForward(rmsNorm(config, h, layer.postNorm), layer));
    }
    for (const used of [cos, sin, frozenMask, slot, others, tailMask]) used.dispose();
    return { logits: np.matmul(rmsNorm(config, h, norm), head), layers: outputs };
  }
}

function item<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new RangeError(`no item ${index} of ${list.length}`);
  return found;
}
