/**
 * A policy as the files that other programs know: `config.json`, `generation_config.json`, `model.safetensors`,
 * `tokenizer.json`, `tokenizer_config.json`. Optimiser state is not part of them.
 */
import * as v from 'valibot';
import { parameterLayout, parseConfig } from './config.ts';
import type { Checkpoint } from './engine.ts';
import { CheckpointError, decodeSafetensors, encodeSafetensors, type Tensor } from './safetensors.ts';
import { Tokenizer } from './tokenizer.ts';

export { CheckpointError } from './safetensors.ts';

/** A policy with the tokenizer that belongs to it. */
export interface PolicyFiles {
  readonly checkpoint: Checkpoint;
  readonly tokenizer: Tokenizer;
}

export const FILE_NAMES = [
  'config.json', 'generation_config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json',
] as const;
export type FileName = (typeof FILE_NAMES)[number];

/** The files that are needed to load; the others are for other programs. */
const REQUIRED: readonly FileName[] = ['config.json', 'model.safetensors', 'tokenizer.json', 'generation_config.json'];

const GenerationSchema = v.object({ suppress_tokens: v.optional(v.array(v.pipe(v.number(), v.integer(), v.minValue(0))), []) });

export function encodePolicy({ checkpoint, tokenizer }: PolicyFiles): Record<FileName, Uint8Array> {
  const { config, weights, suppressTokens } = checkpoint;
  const tensors = new Map<string, Tensor>();
  for (const { name, shape, offset, size } of parameterLayout(config).slices) {
    tensors.set(name, { shape, data: weights.subarray(offset, offset + size) });
  }
  const { bos_token_id, eos_token_id, pad_token_id } = config;
  return {
    'config.json': json(config),
    'generation_config.json': json({
      bos_token_id, eos_token_id, pad_token_id, do_sample: true, temperature: 1, suppress_tokens: suppressTokens,
    }),
    'model.safetensors': encodeSafetensors(tensors),
    'tokenizer.json': json(tokenizer.toJSON()),
    'tokenizer_config.json': json({
      tokenizer_class: 'PreTrainedTokenizerFast',
      bos_token: tokenizer.token(bos_token_id),
      eos_token: tokenizer.token(eos_token_id),
      pad_token: tokenizer.token(pad_token_id),
      model_max_length: config.max_position_embeddings,
      clean_up_tokenization_spaces: false,
    }),
  };
}

/**
 * @param read returns the bytes of one file, or undefined where it is missing.
 * @throws CheckpointError or ConfigError that names the file and what is wrong with it.
 */
export async function loadPolicy(read: (name: FileName) => Promise<Uint8Array | undefined>): Promise<PolicyFiles> {
  const files = new Map<FileName, Uint8Array>();
  for (const name of REQUIRED) {
    const bytes = await read(name);
    if (bytes === undefined) throw new CheckpointError(`${name} is missing`);
    files.set(name, bytes);
  }
  const bytesOf = (name: FileName): Uint8Array => files.get(name) ?? new Uint8Array();
  const config = parseConfig(parseJson('config.json', bytesOf('config.json')));
  const tokenizer = Tokenizer.fromJSON(parseJson('tokenizer.json', bytesOf('tokenizer.json')));
  if (tokenizer.size > config.vocab_size) {
    throw new CheckpointError(`tokenizer.json has ${tokenizer.size} tokens, config.json a vocabulary of ${config.vocab_size}`);
  }
  const generation = v.safeParse(GenerationSchema, parseJson('generation_config.json', bytesOf('generation_config.json')));
  if (!generation.success) throw new CheckpointError('generation_config.json: suppress_tokens must be a list of ids');
  // Ids that the tokenizer cannot write have no text: they are never sampled, whatever the file says.
  const unused = Array.from({ length: config.vocab_size - tokenizer.size }, (_, i) => tokenizer.size + i);
  const suppressTokens = [...new Set([...generation.output.suppress_tokens, ...unused])].sort((a, b) => a - b);
  if (suppressTokens.some((id) => id >= config.vocab_size)) {
    throw new CheckpointError('generation_config.json: suppress_tokens holds an id outside the vocabulary');
  }
  if (suppressTokens.length >= config.vocab_size) throw new CheckpointError('generation_config.json: every token is suppressed');

  const tensors = decodeSafetensors(bytesOf('model.safetensors'));
  const { slices, size } = parameterLayout(config);
  const weights = new Float32Array(size);
  for (const { name, shape, offset } of slices) {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw new CheckpointError(`model.safetensors: ${name} is missing`);
    if (tensor.shape.length !== shape.length || tensor.shape.some((n, i) => n !== shape[i])) {
      throw new CheckpointError(
        `model.safetensors: ${name} has the shape [${tensor.shape.join(', ')}], config.json asks for [${shape.join(', ')}]`,
      );
    }
    const bad = tensor.data.findIndex((x) => !Number.isFinite(x));
    if (bad >= 0) throw new CheckpointError(`model.safetensors: ${name} holds ${tensor.data[bad]} at element ${bad}`);
    weights.set(tensor.data, offset);
    tensors.delete(name);
  }
  // A tied head may be stored a second time; anything else would silently be a different model.
  if (config.tie_word_embeddings) tensors.delete('lm_head.weight');
  const [extra] = tensors.keys();
  if (extra !== undefined) throw new CheckpointError(`model.safetensors: ${extra} is not part of the model of config.json`);
  return { checkpoint: { config, weights, suppressTokens }, tokenizer };
}

function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}

function parseJson(name: FileName, bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new CheckpointError(`${name} is not JSON`, { cause });
  }
}
