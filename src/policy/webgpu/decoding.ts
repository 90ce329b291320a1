/**
 * The decoding plan: the cache of keys and values, cursors of the rollouts, and every dispatch of a prompt pass and of
 * one decoding step. Tokens, positions and log-probabilities stay on the GPU from one token to the next.
 */
import type { Bindable, Dispatch, Gpu } from './gpu.ts';
import type { Kernels } from './kernels.ts';
import type { GpuModel, Region } from './layout.ts';
import type { Arenas } from './training.ts';

export const CURSOR_WORDS = 8;
/** Tokens between two readbacks, at most. */
export const CHUNK = 16;

export interface DecodingSize {
  /** Tokens of one prompt pass. */
  readonly items: number;
  /** Rollouts at a time. */
  readonly rows: number;
  /** Tokens of one rollout. */
  readonly positions: number;
}

export interface DecodingPlan extends DecodingSize {
  readonly prompt: { readonly batch: GPUBuffer; readonly items: GPUBuffer };
  readonly cursors: { readonly batch: GPUBuffer; readonly items: GPUBuffer };
  /** The uniform of sample.wgsl, and per id 1 for no mass, 2 for stop. */
  readonly sampling: GPUBuffer;
  readonly flags: GPUBuffer;
  /** [rows, CHUNK] pairs of id and log-probability. */
  readonly drawn: GPUBuffer;
  /** Puts the prompts' tokens into the cache. */
  readonly read: readonly Dispatch[];
  /** From the last prompt pass to each rollout's next token. */
  readonly begin: readonly Dispatch[];
  /** One token of every rollout. */
  readonly step: readonly Dispatch[];
  destroy(): void;
}

/** Rollouts that fit the cache at a time, for rollouts of so many tokens. */
export function cacheRows(model: GpuModel, positions: number, bindingLimit: number): number {
  const perLayer = 2 * model.width.kv * positions * 4;
  const budget = 2 ** 29 / Math.max(1, model.layers.length);
  return Math.max(1, Math.floor(Math.min(bindingLimit, budget) / perLayer));
}

export function decodingPlan(gpu: Gpu, kernels: Kernels, model: GpuModel, arenas: Arenas, size: DecodingSize): DecodingPlan {
  const { config, width: w } = model;
  const heads = config.num_attention_heads;
  const keyHeads = config.num_key_value_heads;
  const owned: GPUBuffer[] = [];
  const own = (buffer: GPUBuffer): GPUBuffer => {
    owned.push(buffer);
    return buffer;
  };
  const tensor = (label: string, floats: number): GPUBuffer => own(gpu.storage(label, 4 * floats));
  const tokens = Math.max(size.items, size.rows);

  const prompt = {
    batch: own(gpu.uniform('prompt batch')), items: tensor('prompt', CURSOR_WORDS * size.items),
  };
  const cursors = {
    batch: own(gpu.uniform('cursor batch')), items: tensor('cursors', CURSOR_WORDS * size.rows),
  };
  const sampling = own(gpu.uniform('sampling'));
  const flags = tensor('flags', w.vocab);
  const drawn = tensor('drawn', 2 * CHUNK * size.rows);
  const plane = size.rows * w.kv * size.positions;
  const caches = model.layers.map((_, i) => tensor(`cache ${i}`, 2 * plane));
  const x = tensor('decode x', tokens * w.hidden);
  const mid = tensor('decode mid', tokens * w.hidden);
  const qkv = tensor('decode qkv', tokens * w.qkv);
  const attended = tensor('decode heads', tokens * w.q);
  const act = tensor('decode act', tokens * w.intermediate);
  const hidden = tensor('decode hidden', size.rows * w.hidden);
  const logits = tensor('decode logits', size.rows * w.vocab);

  const of = (region: Region): Bindable => ({ buffer: arenas.weights, offset: 4 * region.offset, size: 4 * region.size });
  const normed = { sum: w.hidden, size: config.hidden_size, epsilon: config.rms_norm_eps };

  /** At most six dispatches a layer. */
  const layersOf = ({ batch, items }: { readonly batch: GPUBuffer; readonly items: GPUBuffer }): Dispatch[] => [
    kernels.dispatch(
      'embed', [w.hidden / 4, CURSOR_WORDS], { batch, items, table: of(model.embedding), x }, { per: w.hidden / 4 },
    ),
    ...model.layers.flatMap((layer, i) => {
      const cache = caches[i];
      if (cache === undefined) return [];
      return [
        kernels.product('forwardNorm', { columns: w.qkv, ...normed }, { batch, a: x, b: of(layer.qkv), extra: of(layer.inputNorm), y: qkv }),
        kernels.dispatch(
          'cache_write', [w.qkv, heads, keyHeads, w.head, config.head_dim / 2, size.positions, plane],
          { batch, items, angles: arenas.angles, qkv, cache }, { per: heads + 2 * keyHeads },
        ),
        kernels.dispatch(
          'attention_cached', [w.qkv / 4, heads, heads / keyHeads, size.positions, plane / 4, { f32: 1 / Math.sqrt(config.head_dim) }],
          { batch, items, qkv, cache, out: attended }, { per: heads },
        ),
        kernels.product('forwardResidual', { columns: w.hidden, sum: w.q }, { batch, a: attended, b: of(layer.o), extra: x, y: mid }),
        kernels.product(
          'forwardNormSwiglu', { columns: 2 * w.intermediate, ...normed },
          { batch, a: mid, b: of(layer.gateUp), extra: of(layer.postNorm), y: act },
        ),
        kernels.product('forwardResidual', { columns: w.hidden, sum: w.intermediate }, { batch, a: act, b: of(layer.down), extra: mid, y: x }),
      ];
    }),
  ];
  const draw = (from: GPUBuffer): Dispatch[] => [
    kernels.product(
      'forwardNorm', { columns: w.vocab, ...normed },
      { batch: cursors.batch, a: from, b: of(model.head), extra: of(model.norm), y: logits },
    ),
    kernels.dispatch('sample', [], { batch: cursors.batch, sampling, flags, logits, cursors: cursors.items, drawn }, { per: 1 }),
  ];

  return {
    ...size, prompt, cursors, sampling, flags, drawn,
    read: layersOf(prompt),
    begin: [
      kernels.dispatch(
        'gather', [w.hidden / 4], { batch: cursors.batch, cursors: cursors.items, x, y: hidden }, { per: w.hidden / 4 },
      ),
      ...draw(hidden),
    ],
    step: [...layersOf(cursors), ...draw(x)],
    destroy() {
      for (const buffer of owned) buffer.destroy();
    },
  };
}
