/**
 * The shape of a policy, in the words of a Hugging Face `config.json` of a Llama: RMSNorm, rotary positions
 * (rotating halves), SwiGLU, grouped-query attention, no biases. What this file does not know: weights.
 */
import * as v from 'valibot';

const size = v.pipe(v.number(), v.integer(), v.minValue(1));
const tokenId = v.pipe(v.number(), v.integer(), v.minValue(0));

/** The keys of `config.json` that the engines read; others are ignored, contradictions are refused. */
export const PolicyConfigSchema = v.pipe(
  v.object({
    model_type: v.literal('llama'),
    architectures: v.optional(v.array(v.string()), ['LlamaForCausalLM']),
    vocab_size: size,
    hidden_size: size,
    intermediate_size: size,
    num_hidden_layers: size,
    num_attention_heads: size,
    num_key_value_heads: size,
    head_dim: v.optional(v.nullable(size)),
    max_position_embeddings: size,
    rms_norm_eps: v.pipe(v.number(), v.gtValue(0)),
    rope_theta: v.pipe(v.number(), v.gtValue(1)),
    tie_word_embeddings: v.boolean(),
    hidden_act: v.optional(v.literal('silu'), 'silu'),
    attention_bias: v.optional(v.literal(false), false),
    mlp_bias: v.optional(v.literal(false), false),
    rope_scaling: v.optional(v.null(), null),
    bos_token_id: tokenId,
    eos_token_id: tokenId,
    pad_token_id: tokenId,
    torch_dtype: v.optional(v.string(), 'float32'),
  }),
  v.transform(({ head_dim, ...rest }) => ({
    ...rest,
    head_dim: head_dim ?? rest.hidden_size / rest.num_attention_heads,
  })),
  v.check((c) => Number.isInteger(c.head_dim) && c.head_dim % 2 === 0, 'head_dim must be an even whole number'),
  v.check(
    (c) => c.num_attention_heads % c.num_key_value_heads === 0,
    'num_attention_heads must be a multiple of num_key_value_heads',
  ),
  v.check(
    (c) => [c.bos_token_id, c.eos_token_id, c.pad_token_id].every((id) => id < c.vocab_size),
    'special token ids must lie below vocab_size',
  ),
);

/** A validated configuration; `head_dim` is always present. */
export type PolicyConfig = v.InferOutput<typeof PolicyConfigSchema>;

/** Bad input from outside, with a message for the person who opened it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Parses a `config.json`. @throws ConfigError that names the key at fault. */
export function parseConfig(json: unknown): PolicyConfig {
  const result = v.safeParse(PolicyConfigSchema, json);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const path = v.getDotPath(issue);
  throw new ConfigError(`config.json: ${path === null ? '' : `${path}: `}${issue.message}`);
}

/** One weight matrix (or gain vector: `cols` is 1 then) inside the flat array of all weights. */
export interface ParameterSlice {
  /** The Hugging Face name, e.g. `model.layers.0.self_attn.q_proj.weight`. */
  readonly name: string;
  /** Rows first, as in `model.safetensors`: a projection is [out, in], an embedding [vocab, hidden]. */
  readonly shape: readonly [number, number] | readonly [number];
  readonly offset: number;
  readonly size: number;
  /** Matrices are decayed by AdamW, gains are not. The embedding counts as a matrix. */
  readonly decayed: boolean;
}

export interface ParameterLayout {
  readonly slices: readonly ParameterSlice[];
  /** Number of weights. */
  readonly size: number;
}

/**
 * Where each parameter lies in a flat `Float32Array` of all weights, in this order: embedding; a layer's
 * input norm, q, k, v, o, post-attention norm, gate, up, down; final norm; `lm_head` where it is not tied.
 */
export function parameterLayout(config: PolicyConfig): ParameterLayout {
  const { hidden_size: d, intermediate_size: f, vocab_size: vocab, head_dim } = config;
  const q = config.num_attention_heads * head_dim;
  const kv = config.num_key_value_heads * head_dim;
  const slices: ParameterSlice[] = [];
  let offset = 0;
  const add = (name: string, shape: ParameterSlice['shape']): void => {
    const count = shape.reduce((a, b) => a * b, 1);
    slices.push({ name, shape, offset, size: count, decayed: shape.length === 2 });
    offset += count;
  };
  add('model.embed_tokens.weight', [vocab, d]);
  for (let layer = 0; layer < config.num_hidden_layers; layer++) {
    const prefix = `model.layers.${layer}`;
    add(`${prefix}.input_layernorm.weight`, [d]);
    add(`${prefix}.self_attn.q_proj.weight`, [q, d]);
    add(`${prefix}.self_attn.k_proj.weight`, [kv, d]);
    add(`${prefix}.self_attn.v_proj.weight`, [kv, d]);
    add(`${prefix}.self_attn.o_proj.weight`, [d, q]);
    add(`${prefix}.post_attention_layernorm.weight`, [d]);
    add(`${prefix}.mlp.gate_proj.weight`, [f, d]);
    add(`${prefix}.mlp.up_proj.weight`, [f, d]);
    add(`${prefix}.mlp.down_proj.weight`, [d, f]);
  }
  add('model.norm.weight', [d]);
  if (!config.tie_word_embeddings) add('lm_head.weight', [vocab, d]);
  return { slices, size: offset };
}
