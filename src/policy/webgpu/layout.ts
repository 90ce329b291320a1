/**
 * How weights lie on the GPU. Every width is padded to a multiple of 4 with zeros, so that kernels load vec4s at any
 * size of the policy: padding columns and rows stay zero through forward, backward and AdamW. Matrices that are
 * multiplied together lie together: q, k, v are one matrix, and so are gate and up, whose rows alternate.
 */
import { parameterLayout, type PolicyConfig } from '../config.ts';

const pad4 = (n: number): number => Math.ceil(n / 4) * 4;

/** A matrix or gain on the GPU: offset and size in floats, the offset a multiple of 64 (256 bytes). */
export interface Region {
  readonly offset: number;
  readonly size: number;
  readonly decayed: boolean;
}

export interface LayerRegions {
  readonly inputNorm: Region;
  readonly qkv: Region;
  readonly o: Region;
  readonly postNorm: Region;
  readonly gateUp: Region;
  readonly down: Region;
}

/** One run of consecutive floats, equal on both sides. */
interface Run {
  readonly flat: number;
  readonly padded: number;
  readonly length: number;
}

export interface GpuModel {
  readonly config: PolicyConfig;
  /** Padded widths. `q` and `kv` count all heads; `qkv` is q + 2·kv. */
  readonly width: {
    readonly hidden: number; readonly head: number; readonly q: number; readonly kv: number; readonly qkv: number;
    readonly intermediate: number; readonly vocab: number;
  };
  readonly embedding: Region;
  readonly layers: readonly LayerRegions[];
  readonly norm: Region;
  /** The embedding again where it is tied. */
  readonly head: Region;
  /** Floats of the arena, a multiple of 64. */
  readonly size: number;
  readonly runs: readonly Run[];
}

/** Where each weight of a policy lies on the GPU. */
export function gpuModel(config: PolicyConfig): GpuModel {
  const { head_dim, num_attention_heads: heads, num_key_value_heads: keyHeads } = config;
  const head = pad4(head_dim);
  const width = {
    hidden: pad4(config.hidden_size), head, q: heads * head, kv: keyHeads * head, qkv: (heads + 2 * keyHeads) * head,
    intermediate: pad4(config.intermediate_size), vocab: pad4(config.vocab_size),
  };
  let size = 0;
  const region = (floats: number, decayed: boolean): Region => {
    const own = { offset: size, size: floats, decayed };
    size += Math.ceil(floats / 64) * 64;
    return own;
  };
  const embedding = region(width.vocab * width.hidden, true);
  const layers = Array.from({ length: config.num_hidden_layers }, (): LayerRegions => ({
    inputNorm: region(width.hidden, false),
    qkv: region(width.qkv * width.hidden, true),
    o: region(width.hidden * width.q, true),
    postNorm: region(width.hidden, false),
    gateUp: region(2 * width.intermediate * width.hidden, true),
    down: region(width.hidden * width.intermediate, true),
  }));
  const norm = region(width.hidden, false);
  const untied = config.tie_word_embeddings ? undefined : region(width.vocab * width.hidden, true);

  const runs: Run[] = [];
  const slices = parameterLayout(config).slices;
  /** Rows go to `row(r)` of a matrix of `columns`; each row is cut into blocks of `block` that land `spread` apart. */
  const place = (
    name: string, to: Region, columns: number, row: (r: number) => number, block?: number, spread?: number,
  ): void => {
    const slice = slices.find((s) => s.name === name);
    if (slice === undefined) throw new RangeError(`no parameter ${name}`);
    const [rows, across] = slice.shape.length === 2 ? slice.shape : [1, slice.shape[0]];
    const length = block ?? across;
    for (let r = 0; r < rows; r++) {
      for (let b = 0; b * length < across; b++) {
        runs.push({
          flat: slice.offset + r * across + b * length,
          padded: to.offset + row(r) * columns + b * (spread ?? length),
          length,
        });
      }
    }
  };
  const same = (r: number): number => r;
  const headRow = (first: number) => (r: number): number => first + Math.floor(r / head_dim) * head + (r % head_dim);
  place('model.embed_tokens.weight', embedding, width.hidden, same);
  for (const [i, layer] of layers.entries()) {
    const prefix = `model.layers.${i}`;
    place(`${prefix}.input_layernorm.weight`, layer.inputNorm, width.hidden, same);
    place(`${prefix}.self_attn.q_proj.weight`, layer.qkv, width.hidden, headRow(0));
    place(`${prefix}.self_attn.k_proj.weight`, layer.qkv, width.hidden, headRow(width.q));
    place(`${prefix}.self_attn.v_proj.weight`, layer.qkv, width.hidden, headRow(width.q + width.kv));
    place(`${prefix}.self_attn.o_proj.weight`, layer.o, width.q, same, head_dim, head);
    place(`${prefix}.post_attention_layernorm.weight`, layer.postNorm, width.hidden, same);
    place(`${prefix}.mlp.gate_proj.weight`, layer.gateUp, width.hidden, (r) => 2 * r);
    place(`${prefix}.mlp.up_proj.weight`, layer.gateUp, width.hidden, (r) => 2 * r + 1);
    place(`${prefix}.mlp.down_proj.weight`, layer.down, width.intermediate, same);
  }
  place('model.norm.weight', norm, width.hidden, same);
  if (untied !== undefined) place('lm_head.weight', untied, width.hidden, same);
  return { config, width, embedding, layers, norm, head: untied ?? embedding, size, runs };
}

/** From the flat layout of `parameterLayout` to the GPU's. */
export function toGpu(model: GpuModel, flat: Float32Array): Float32Array<ArrayBuffer> {
  const padded = new Float32Array(model.size);
  for (const run of model.runs) padded.set(flat.subarray(run.flat, run.flat + run.length), run.padded);
  return padded;
}

/** And back. */
export function fromGpu(model: GpuModel, padded: Float32Array): Float32Array<ArrayBuffer> {
  const flat = new Float32Array(parameterLayout(model.config).size);
  for (const run of model.runs) flat.set(padded.subarray(run.padded, run.padded + run.length), run.flat);
  return flat;
}

/** For each block of 64 floats: 1 where AdamW decays it. */
export function decayedBlocks(model: GpuModel): Uint32Array<ArrayBuffer> {
  const blocks = new Uint32Array(model.size / 64);
  const regions = [model.embedding, model.head, ...model.layers.flatMap((layer) => Object.values(layer) as Region[])];
  for (const { offset, size, decayed } of regions) if (decayed) blocks.fill(1, offset / 64, Math.ceil((offset + size) / 64));
  return blocks;
}

/** Cosines and sines of the rotary angles: [positions][head_dim / 2] pairs, computed in float64. */
export function rotaryAngles(config: PolicyConfig): Float32Array<ArrayBuffer> {
  const half = config.head_dim / 2;
  const angles = new Float32Array(config.max_position_embeddings * config.head_dim);
  for (let position = 0; position < config.max_position_embeddings; position++) {
    for (let i = 0; i < half; i++) {
      const angle = position * config.rope_theta ** (-i / half);
      angles[2 * (position * half + i)] = Math.cos(angle);
      angles[2 * (position * half + i) + 1] = Math.sin(angle);
    }
  }
  return angles;
}
