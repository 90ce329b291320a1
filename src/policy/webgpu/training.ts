/**
 * The training and scoring plan: buffers for so many tokens, and every dispatch of forward, loss and backward bound once.
 * Rows lie end to end without padding, so a plan serves any batch of at most its capacity; only a uniform changes.
 */
import { USAGE, type Bindable, type Dispatch, type Gpu, type Tuning } from './gpu.ts';
import type { Kernels } from './kernels.ts';
import type { GpuModel, Region } from './layout.ts';

/** The arenas of a loaded policy, laid out as `gpuModel` says. */
export interface Arenas {
  readonly weights: GPUBuffer;
  readonly m: GPUBuffer;
  readonly v: GPUBuffer;
  readonly grad: GPUBuffer;
  /** `splits` partial gradients, one after the other. */
  readonly partials: GPUBuffer;
  readonly splits: number;
  /** Per id: 1, or 0 where it has no mass; 0 for padding columns. */
  readonly allowed: GPUBuffer;
  /** Rotary cosines and sines. */
  readonly angles: GPUBuffer;
}

/** How many partial sums a weight gradient is split into: enough threads for a long sum over a small output. */
export function splitsFor(model: GpuModel, tuning: Tuning, bindingLimit: number): number {
  const wanted = tuning.lanes === 1 ? 8 : 16;
  return Math.max(1, Math.min(wanted, Math.floor(Math.min(bindingLimit, 2 ** 26) / (4 * model.size))));
}

/** Tokens that one batch may have at most: the widest activation must fit a binding. */
export function tokenLimit(model: GpuModel, bindingLimit: number): number {
  const { hidden, q, qkv, intermediate } = model.width;
  return Math.floor(bindingLimit / 4 / Math.max(hidden, q, qkv, 2 * intermediate, ITEM_WORDS));
}

/** Bytes that a training plan holds for each token of its capacity, logits apart. */
export function bytesPerToken(model: GpuModel): number {
  const { hidden, q, qkv, intermediate } = model.width;
  const heads = model.config.num_attention_heads;
  const perLayer = 4 * hidden + 2 + qkv + q + heads + 3 * intermediate;
  const gradients = 3 * hidden + 3 * intermediate + q + qkv + heads;
  return 4 * (model.layers.length * perLayer + gradients + 2 * hidden + ITEM_WORDS + RESULT_WORDS);
}

export const ITEM_WORDS = 12;
export const RESULT_WORDS = 8;

export interface TrainingPlan {
  /** Tokens. */
  readonly capacity: number;
  /** What the host writes for each batch; byte offsets of its parts. */
  readonly inputs: GPUBuffer;
  readonly parts: { readonly items: number; readonly order: number; readonly starts: number; readonly size: number };
  /** [capacity, RESULT_WORDS], see loss.wgsl. */
  readonly results: GPUBuffer;
  /** Forward, loss and backward into the partial gradients. */
  readonly train: readonly Dispatch[];
  /** Forward and loss only, with the given weights; `alternatives` (ids and log-probs) where a buffer is given. */
  score(weights: GPUBuffer, alternatives?: GPUBuffer): readonly Dispatch[];
  destroy(): void;
}

export function trainingPlan(
  gpu: Gpu, kernels: Kernels, model: GpuModel, arenas: Arenas, capacity: number, bindingLimit: number,
): TrainingPlan {
  const { config, width: w } = model;
  const heads = config.num_attention_heads;
  const keyHeads = config.num_key_value_heads;
  const owned: GPUBuffer[] = [];
  const tensor = (label: string, columns: number, rows = capacity): GPUBuffer => {
    const buffer = gpu.storage(label, 4 * rows * columns);
    owned.push(buffer);
    return buffer;
  };

  const align = (bytes: number): number => Math.ceil(bytes / 256) * 256;
  const order = 256 + align(4 * ITEM_WORDS * capacity);
  const starts = order + align(4 * capacity);
  const parts = { items: 256, order, starts, size: starts + align(4 * (w.vocab + 1)) };
  const inputs = gpu.buffer('inputs', parts.size, USAGE.storage | USAGE.uniform | USAGE.copyTarget);
  owned.push(inputs);
  const batch = { buffer: inputs, offset: 0, size: 32 };
  const items = { buffer: inputs, offset: parts.items, size: 4 * ITEM_WORDS * capacity };

  const acts = model.layers.map((_, i) => ({
    x: tensor(`x ${i}`, w.hidden), r1: tensor(`r1 ${i}`, 1), n1: tensor(`n1 ${i}`, w.hidden), qkv: tensor(`qkv ${i}`, w.qkv),
    heads: tensor(`heads ${i}`, w.q), lse: tensor(`lse ${i}`, heads), mid: tensor(`mid ${i}`, w.hidden),
    r2: tensor(`r2 ${i}`, 1), n2: tensor(`n2 ${i}`, w.hidden), gu: tensor(`gu ${i}`, 2 * w.intermediate),
    act: tensor(`act ${i}`, w.intermediate),
  }));
  const last = { x: tensor('x', w.hidden), r: tensor('r', 1), n: tensor('n', w.hidden) };
  // A large vocabulary has its logits worked off in parts.
  const most = Math.min(capacity, Math.max(64, Math.floor(Math.min(bindingLimit, 2 ** 27) / (4 * w.vocab) / 64) * 64));
  const logits = tensor('logits', w.vocab, most);
  const results = tensor('results', RESULT_WORDS);
  const d = {
    stream: tensor('dstream', w.hidden), mid: tensor('dmid', w.hidden), n: tensor('dn', w.hidden),
    act: tensor('dact', w.intermediate), gu: tensor('dgu', 2 * w.intermediate), heads: tensor('dheads', w.q),
    qkv: tensor('dqkv', w.qkv), delta: tensor('delta', heads),
  };

  const of = (arena: GPUBuffer, region: Region): Bindable => ({ buffer: arena, offset: 4 * region.offset, size: 4 * region.size });
  const partial = (region: Region): Bindable => ({
    buffer: arenas.partials, offset: 4 * region.offset, size: 4 * ((arenas.splits - 1) * model.size + region.size),
  });
  const normDims = [w.hidden / 4, { f32: config.hidden_size }];
  const attentionDims = [
    w.qkv / 4, heads, w.q / 4, (w.q + w.kv) / 4, heads / keyHeads, { f32: 1 / Math.sqrt(config.head_dim) },
  ];

  const norm = (weights: GPUBuffer, gain: Region, x: GPUBuffer, y: GPUBuffer, r: GPUBuffer): Dispatch =>
    kernels.dispatch('rmsnorm', [...normDims, { f32: config.rms_norm_eps }], { batch, x, y, r, gain: of(weights, gain) }, { per: 1 });
  const rope = (qkv: GPUBuffer, sign: 1 | -1): Dispatch =>
    kernels.dispatch(
      'rope', [w.qkv, heads + keyHeads, w.head, config.head_dim / 2, { f32: sign }],
      { batch, items, angles: arenas.angles, qkv }, { per: heads + keyHeads },
    );

  const forward = (weights: GPUBuffer): Dispatch[] => [
    kernels.dispatch(
      'embed', [w.hidden / 4, ITEM_WORDS], { batch, items, table: of(weights, model.embedding), x: acts[0]?.x ?? last.x },
      { per: w.hidden / 4 },
    ),
    ...model.layers.flatMap((layer, i) => {
      const t = acts[i];
      if (t === undefined) return [];
      return [
        norm(weights, layer.inputNorm, t.x, t.n1, t.r1),
        kernels.product('forward', { columns: w.qkv, sum: w.hidden }, { batch, a: t.n1, b: of(weights, layer.qkv), y: t.qkv }),
        rope(t.qkv, 1),
        kernels.dispatch('attention', attentionDims, { batch, items, qkv: t.qkv, out: t.heads, lse: t.lse }, { per: heads, block: kernels.queries }),
        kernels.product(
          'forwardResidual', { columns: w.hidden, sum: w.q },
          { batch, a: t.heads, b: of(weights, layer.o), extra: t.x, y: t.mid },
        ),
        norm(weights, layer.postNorm, t.mid, t.n2, t.r2),
        kernels.product('forward', { columns: 2 * w.intermediate, sum: w.hidden }, { batch, a: t.n2, b: of(weights, layer.gateUp), y: t.gu }),
        kernels.dispatch('swiglu', [w.intermediate / 4], { batch, gu: t.gu, y: t.act }, { per: w.intermediate / 4 }),
        kernels.product(
          'forwardResidual', { columns: w.hidden, sum: w.intermediate },
          { batch, a: t.act, b: of(weights, layer.down), extra: t.mid, y: acts[i + 1]?.x ?? last.x },
        ),
      ];
    }),
    norm(weights, model.norm, last.x, last.n, last.r),
  ];

  const rowsFrom = (buffer: GPUBuffer, first: number): Bindable => {
    const offset = 4 * first * w.hidden;
    return { buffer, offset, size: 4 * Math.min(most, capacity - first) * w.hidden };
  };
  /** For each part of the logits: the dispatches from hidden states to results, and what follows them. */
  const byPart = (weights: GPUBuffer, then: (first: number) => Dispatch[]): Dispatch[] =>
    Array.from({ length: Math.ceil(capacity / most) }, (_, i) => i * most).flatMap((first) => [
      kernels.product(
        'forward', { columns: w.vocab, sum: w.hidden, first, most },
        { batch, a: rowsFrom(last.n, first), b: of(weights, model.head), y: logits },
      ),
      kernels.dispatch(
        'loss', [w.vocab / 4, first, most], { batch, items, allowed: arenas.allowed, logits, results }, { per: 1, first, most },
      ),
      ...then(first),
    ]);

  const weightGrad = (region: Region, a: Bindable, rows: number, b: Bindable, columns: number, first = 0, count = capacity): Dispatch =>
    kernels.product(
      'weight', { rows, columns, splits: arenas.splits, stride: model.size, first, most: count },
      { batch, a, b, y: partial(region) },
    );
  const inputGrad = (region: Region, a: Bindable, sum: number, y: Bindable, columns: number, first = 0, count = capacity): Dispatch =>
    kernels.product('input', { columns, sum, first, most: count }, { batch, a, b: of(arenas.weights, region), y });
  const normGrad = (gain: Region, x: GPUBuffer, r: GPUBuffer, dy: GPUBuffer, residual: GPUBuffer | undefined, dx: GPUBuffer): Dispatch[] => [
    kernels.dispatch(
      'gain_grad', [w.hidden / 4, model.size / 4, arenas.splits], { batch, x, r, dy, grad: partial(gain) },
      { fixed: (w.hidden / 4) * arenas.splits },
    ),
    kernels.dispatch(
      'rmsnorm_grad', [...normDims, residual === undefined ? 0 : 1],
      { batch, x, r, dy, dx, gain: of(arenas.weights, gain), residual: residual ?? dy }, { per: 1 },
    ),
  ];

  const backward = (): Dispatch[] => [
    ...normGrad(model.norm, last.x, last.r, d.n, undefined, d.stream),
    ...model.layers.map((layer, i) => {
      const t = acts[i];
      if (t === undefined) return [];
      return [
        inputGrad(layer.down, d.stream, w.hidden, d.act, w.intermediate),
        weightGrad(layer.down, d.stream, w.hidden, t.act, w.intermediate),
        kernels.dispatch('swiglu_grad', [w.intermediate / 4], { batch, gu: t.gu, dy: d.act, dgu: d.gu }, { per: w.intermediate / 4 }),
        inputGrad(layer.gateUp, d.gu, 2 * w.intermediate, d.n, w.hidden),
        weightGrad(layer.gateUp, d.gu, 2 * w.intermediate, t.n2, w.hidden),
        ...normGrad(layer.postNorm, t.mid, t.r2, d.n, d.stream, d.mid),
        inputGrad(layer.o, d.mid, w.hidden, d.heads, w.q),
        weightGrad(layer.o, d.mid, w.hidden, t.heads, w.q),
        kernels.dispatch(
          'attention_dq', attentionDims,
          { batch, items, qkv: t.qkv, out: t.heads, lse: t.lse, dout: d.heads, delta: d.delta, dqkv: d.qkv }, { per: heads, block: kernels.queries },
        ),
        kernels.dispatch(
          'attention_dkv', attentionDims,
          { batch, items, qkv: t.qkv, lse: t.lse, dout: d.heads, delta: d.delta, dqkv: d.qkv }, { per: keyHeads, block: kernels.queries },
        ),
        rope(d.qkv, -1),
        inputGrad(layer.qkv, d.qkv, w.qkv, d.n, w.hidden),
        weightGrad(layer.qkv, d.qkv, w.qkv, t.n1, w.hidden),
        ...normGrad(layer.inputNorm, t.x, t.r1, d.n, d.mid, d.stream),
      ];
    }).reverse().flat(),
    kernels.dispatch(
      'embed_grad', [w.hidden / 4, w.vocab],
      {
        batch, dx: d.stream, grad: partial(model.embedding),
        starts: { buffer: inputs, offset: parts.starts, size: 4 * (w.vocab + 1) },
        order: { buffer: inputs, offset: parts.order, size: 4 * capacity },
      },
      { fixed: (w.vocab * w.hidden) / 4 },
    ),
  ];

  let train: Dispatch[] | undefined;
  const scores = new Map<string, readonly Dispatch[]>();
  return {
    capacity, inputs, parts, results,
    get train() {
      return (train ??= [
        ...forward(arenas.weights),
        ...byPart(arenas.weights, (first) => [
          inputGrad(model.head, logits, w.vocab, rowsFrom(d.n, first), w.hidden, first, most),
          weightGrad(model.head, logits, w.vocab, rowsFrom(last.n, first), w.hidden, first, most),
        ]),
        ...backward(),
      ]);
    },
    score(weights, alternatives) {
      const key = `${weights.label} ${alternatives?.size ?? 0}`;
      const known = scores.get(key);
      if (known !== undefined) return known;
      const made = [
        ...forward(weights),
        ...byPart(weights, (first) => alternatives === undefined ? [] : [
          kernels.dispatch(
            'alternatives', [w.vocab, first, most, config.vocab_size],
            { batch, allowed: arenas.allowed, logits, results, best: alternatives }, { per: 1, first, most },
          ),
        ]),
      ];
      scores.set(key, made);
      return made;
    },
    destroy() {
      for (const buffer of owned) buffer.destroy();
    },
  };
}
