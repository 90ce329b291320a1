/**
 * Continues rollouts on a decoding plan: which slot of the cache a rollout gets, what of its context is already there,
 * prompt passes, and chunks of tokens with one readback each.
 */
import type { PolicyConfig } from '../config.ts';
import { checkTokens, EngineError, type SampledRow, type SampleRequest, type SampleRow } from '../engine.ts';
import { cacheRows, CHUNK, CURSOR_WORDS, decodingPlan, type DecodingPlan } from './decoding.ts';
import { packWords, type Gpu } from './gpu.ts';
import type { Kernels } from './kernels.ts';
import type { GpuModel } from './layout.ts';
import type { Arenas } from './training.ts';

/** A rollout's place in the cache: the keys and values of these tokens are there. */
interface Slot {
  readonly index: number;
  stream: number;
  tokens: Uint32Array;
  used: number;
}

/** A rollout that is being continued. */
interface Job {
  readonly stream: number;
  readonly slot: Slot;
  readonly context: Uint32Array;
  readonly tokens: number[];
  readonly logProbs: number[];
  stop: SampledRow['stop'] | undefined;
  /** Where the last token of its context lies in the last prompt pass. */
  source: number;
}

export interface SamplerOptions {
  readonly gpu: Gpu;
  readonly kernels: Kernels;
  readonly model: GpuModel;
  readonly arenas: Arenas;
  readonly suppressTokens: readonly number[];
  /** Tokens of one prompt pass, at most. */
  readonly tokenLimit: number;
  readonly bindingLimit: number;
}

export class Sampler {
  private plan: DecodingPlan | undefined;
  private slots: Slot[] = [];
  private clock = 0;
  /** Milliseconds of one decoding step in the last chunk. */
  private pace = 0;

  constructor(private readonly options: SamplerOptions) {}

  /** @param frameBudget milliseconds that a submit should take. */
  async run(request: SampleRequest, frameBudget: number | undefined): Promise<SampledRow[]> {
    const { model, bindingLimit } = this.options;
    checkRequest(model.config, request);
    const flags = this.tokenFlags(request);
    const rows: SampledRow[] = request.rows.map(() => ({ tokens: new Uint32Array(0), logProbs: new Float32Array(0), stop: 'length' }));
    const open = [...request.rows.entries()].filter(([, row]) => row.tokens.length < request.maxLength);
    const atOnce = cacheRows(model, request.maxLength, bindingLimit);
    for (let first = 0; first < open.length; first += atOnce) {
      request.signal?.throwIfAborted();
      const part = open.slice(first, first + atOnce);
      const plan = this.planFor(part.map(([, row]) => row), request.maxLength);
      const jobs = this.assignSlots(part.map(([, row]) => row));
      this.options.gpu.device.queue.writeBuffer(plan.flags, 0, flags);
      await this.decode(plan, request, jobs, frameBudget);
      for (const [i, { tokens, logProbs, stop }] of jobs.entries()) {
        rows[part[i]?.[0] ?? 0] = { tokens: Uint32Array.from(tokens), logProbs: Float32Array.from(logProbs), stop: stop ?? 'length' };
      }
    }
    return rows;
  }

  /** Empties the cache: the weights have changed. */
  forget(): void {
    this.slots = [];
  }

  destroy(): void {
    this.plan?.destroy();
  }

  /** Per id: 1 without mass, 2 ends a rollout. @throws EngineError `invalid` where no id keeps any mass. */
  private tokenFlags(request: SampleRequest): Uint32Array<ArrayBuffer> {
    const { model, suppressTokens } = this.options;
    const flags = new Uint32Array(model.width.vocab).fill(1, model.config.vocab_size);
    for (const id of [...suppressTokens, ...(request.bannedTokens ?? [])]) if (id < flags.length) flags[id] = 1;
    if (flags.every((flag) => flag === 1)) throw new EngineError('every token is banned', 'invalid');
    for (const id of request.stopTokens) if (id < flags.length) flags[id] = (flags[id] ?? 0) | 2;
    return flags;
  }

  /** A plan that holds these rows. A new one starts with an empty cache, so it grows well: by doubling, as far as things fit. */
  private planFor(rows: readonly SampleRow[], maxLength: number): DecodingPlan {
    const { gpu, kernels, model, arenas, tokenLimit, bindingLimit } = this.options;
    const cached = (row: SampleRow): number => Math.min(
      row.tokens.length - 1,
      Math.max(0, ...this.slots.filter((slot) => slot.stream === row.stream).map((slot) => commonPrefix(slot.tokens, row.tokens))),
    );
    const count = (tokensOf: (row: SampleRow) => number): number => rows.reduce((sum, row) => sum + tokensOf(row), 0);
    // More than the limit takes several passes; the last tokens of all rows must fit one.
    const most = Math.max(tokenLimit, rows.length);
    const { plan } = this;
    if (
      plan !== undefined && plan.rows >= rows.length && plan.positions >= maxLength
      && plan.items >= Math.min(most, count((row) => row.tokens.length - cached(row)))
    ) return plan;

    const grown = (size: number, least: number, limit: number): number =>
      Math.max(size, Math.min(limit, Math.max(least, 2 ** Math.ceil(Math.log2(size)))));
    const positions = grown(Math.max(maxLength, plan?.positions ?? 0), 64, model.config.max_position_embeddings);
    const fits = cacheRows(model, positions, bindingLimit);
    plan?.destroy();
    this.forget();
    return (this.plan = decodingPlan(gpu, kernels, model, arenas, {
      // Longer rollouts leave room for fewer; these rows fit at their own length, by the caller's count.
      ...(fits < rows.length
        ? { rows: rows.length, positions: maxLength }
        : { rows: Math.min(fits, grown(Math.max(rows.length, plan?.rows ?? 0), 16, fits)), positions }),
      items: Math.min(most, grown(Math.max(count((row) => row.tokens.length), plan?.items ?? 0), 256, most)),
    }));
  }

  /** A slot of the cache for every row, the one that already holds some of it where there is one. */
  private assignSlots(rows: readonly SampleRow[]): Job[] {
    for (let index = this.slots.length; index < (this.plan?.rows ?? 0); index++) {
      this.slots.push({ index, stream: -1, tokens: new Uint32Array(0), used: -1 });
    }
    const used = ++this.clock;
    const free = new Set(this.slots);
    const claimed = rows.map((row) => {
      const known = [...free].find((slot) => slot.stream === row.stream && commonPrefix(slot.tokens, row.tokens) > 0);
      if (known !== undefined) free.delete(known);
      return known;
    });
    const oldest = [...free].sort((a, b) => a.used - b.used);
    return rows.map(({ tokens, stream }, i) => {
      const slot = claimed[i] ?? oldest.shift();
      if (slot === undefined) throw new EngineError('the cache has no free slot', 'internal');
      // At least the last token is run again: its logits draw the next one.
      const kept = Math.min(commonPrefix(slot.tokens, tokens), tokens.length - 1);
      Object.assign(slot, { stream, tokens: tokens.slice(0, kept), used });
      return { stream, slot, context: tokens, tokens: [], logProbs: [], stop: undefined, source: 0 };
    });
  }

  private async decode(plan: DecodingPlan, request: SampleRequest, jobs: readonly Job[], frameBudget: number | undefined): Promise<void> {
    const { gpu, kernels, model } = this.options;
    const { queue } = gpu.device;
    const stops = new Set(request.stopTokens);
    queue.writeBuffer(plan.sampling, 0, packWords([
      request.seed >>> 0, request.step >>> 0, request.topK ?? 0, CHUNK, model.config.vocab_size, model.width.vocab,
      { f32: request.temperature }, { f32: request.topP ?? 1 },
    ]));
    let encoder = this.encodePrompts(plan, jobs);
    let active = [...jobs];
    // A chunk runs past the end of rollouts that stop inside it: shorter ones where computing costs more than waiting.
    const longest = kernels.tuning.lanes === 1 ? CHUNK / 2 : CHUNK;
    for (let round = 0; active.length > 0; round++) {
      const cursors = new Uint32Array(CURSOR_WORDS * active.length);
      for (const [i, { context, tokens, slot, stream, source }] of active.entries()) {
        const token = tokens.at(-1) ?? context.at(-1) ?? 0;
        cursors.set([token, context.length + tokens.length - 1, slot.index, stream >>> 0, request.maxLength, 0, 0, source], CURSOR_WORDS * i);
      }
      queue.writeBuffer(plan.cursors.items, 0, cursors);
      queue.writeBuffer(plan.cursors.batch, 0, packWords([active.length]));
      const left = Math.max(...active.map(({ context, tokens }) => request.maxLength - context.length - tokens.length));
      // The pace holds the latency of a readback too, so it never shortens chunks to nothing.
      const fitting = frameBudget === undefined || this.pace === 0 ? longest : Math.max(4, Math.floor(frameBudget / this.pace));
      const steps = Math.min(longest, fitting, left);
      const started = performance.now();
      const pass = encoder.beginComputePass();
      for (let s = 0; s < steps; s++) gpu.encode(pass, round === 0 && s === 0 ? plan.begin : plan.step, active.length);
      pass.end();
      const bytes = 8 * CHUNK * active.length;
      const readback = gpu.readback(bytes);
      encoder.copyBufferToBuffer(plan.drawn, 0, readback, 0, bytes);
      gpu.submit(encoder);
      const data = await gpu.read(readback, bytes);
      if (round > 0) this.pace = (performance.now() - started) / steps;
      const [ids, logProbs] = [new Uint32Array(data), new Float32Array(data)];
      for (const [i, job] of active.entries()) {
        for (let s = 0; s < steps && job.stop === undefined; s++) {
          const at = 2 * (i * CHUNK + s);
          const id = ids[at] ?? 0;
          job.tokens.push(id);
          job.logProbs.push(logProbs[at + 1] ?? NaN);
          if (stops.has(id)) job.stop = 'token';
          else if (job.context.length + job.tokens.length >= request.maxLength) job.stop = 'length';
        }
        // The newest token is not in the cache yet.
        job.slot.tokens = Uint32Array.from([...job.context, ...job.tokens.slice(0, -1)]);
      }
      active = active.filter((job) => job.stop === undefined);
      if (active.length > 0) request.signal?.throwIfAborted();
      encoder = gpu.device.createCommandEncoder();
    }
  }

  /** What the cache does not hold yet, in passes of at most plan.items tokens. The last pass is left to be submitted. */
  private encodePrompts(plan: DecodingPlan, jobs: readonly Job[]): GPUCommandEncoder {
    const { gpu } = this.options;
    type Token = readonly [token: number, position: number, slot: number];
    // The last token of each row draws its next one, out of the last pass: they all come at the end.
    const before: Token[] = [];
    const ends: Token[] = [];
    for (const { slot, context } of jobs) {
      for (let position = slot.tokens.length; position < context.length; position++) {
        (position === context.length - 1 ? ends : before).push([context[position] ?? 0, position, slot.index]);
      }
    }
    const tokens = [...before, ...ends];
    gpu.counts.promptTokens += tokens.length;
    for (let first = 0; ; ) {
      const left = tokens.length - first;
      const end = left <= plan.items ? tokens.length : Math.min(first + plan.items, before.length);
      const words = new Uint32Array(CURSOR_WORDS * (end - first));
      for (const [i, token] of tokens.slice(first, end).entries()) words.set(token, CURSOR_WORDS * i);
      gpu.device.queue.writeBuffer(plan.prompt.items, 0, words);
      gpu.device.queue.writeBuffer(plan.prompt.batch, 0, packWords([end - first]));
      const encoder = gpu.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      gpu.encode(pass, plan.read, end - first);
      pass.end();
      if (end === tokens.length) {
        for (const [i, job] of jobs.entries()) job.source = before.length + i - first;
        return encoder;
      }
      gpu.submit(encoder);
      first = end;
    }
  }
}

function commonPrefix(a: Uint32Array, b: Uint32Array): number {
  const most = Math.min(a.length, b.length);
  for (let i = 0; i < most; i++) if (a[i] !== b[i]) return i;
  return most;
}

/** @throws EngineError `invalid`. */
function checkRequest(config: PolicyConfig, request: SampleRequest): void {
  checkTokens(config, request.rows.map((row) => row.tokens));
  if (!(request.temperature >= 0 && request.temperature < Infinity)) {
    throw new EngineError('the sampling temperature must be a number from 0', 'invalid');
  }
  if (request.maxLength > config.max_position_embeddings) {
    throw new EngineError(`maxLength is ${request.maxLength}; the policy has ${config.max_position_embeddings} positions`, 'invalid');
  }
}
