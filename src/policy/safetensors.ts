/**
 * The `safetensors` format: a length, a JSON header with name, dtype, shape and byte range of each tensor, then the
 * bytes, little-endian. Files come from outside, so every claim of the header is checked against the bytes.
 */
import * as v from 'valibot';

export interface Tensor {
  readonly shape: readonly number[];
  readonly data: Float32Array;
}

/** A file that cannot be used, in words for the person who opened it. */
export class CheckpointError extends Error {
  override readonly name = 'CheckpointError';
}

const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const EntrySchema = v.object({ dtype: v.string(), shape: v.array(count), data_offsets: v.tuple([count, count]) });
const HeaderSchema = v.record(v.string(), v.unknown());

const PREFIX_BYTES = 8;
const FLOAT_BYTES = 4;
/** The reference implementation's limit on the header. */
const MAX_HEADER_BYTES = 100_000_000;

/** @param metadata goes under `__metadata__`; values must be texts. */
export function encodeSafetensors(
  tensors: ReadonlyMap<string, Tensor>,
  metadata: Readonly<Record<string, string>> = {},
): Uint8Array {
  const header: Record<string, unknown> = { __metadata__: { format: 'pt', ...metadata } };
  let offset = 0;
  for (const [name, { shape, data }] of tensors) {
    header[name] = { dtype: 'F32', shape, data_offsets: [offset, offset + data.byteLength] };
    offset += data.byteLength;
  }
  const text = new TextEncoder().encode(JSON.stringify(header));
  // Data starts at a multiple of 8, as the reference implementation writes it.
  const headerBytes = Math.ceil(text.length / 8) * 8;
  const file = new Uint8Array(PREFIX_BYTES + headerBytes + offset).fill(0x20, PREFIX_BYTES, PREFIX_BYTES + headerBytes);
  new DataView(file.buffer).setBigUint64(0, BigInt(headerBytes), true);
  file.set(text, PREFIX_BYTES);
  let at = PREFIX_BYTES + headerBytes;
  for (const { data } of tensors.values()) {
    file.set(new Uint8Array(data.buffer, data.byteOffset, data.byteLength), at);
    at += data.byteLength;
  }
  return file;
}

/** @throws CheckpointError for anything that is not a sound file of float32 tensors. */
export function decodeSafetensors(file: Uint8Array): Map<string, Tensor> {
  if (file.length < PREFIX_BYTES) throw new CheckpointError(`model.safetensors is truncated: ${file.length} bytes`);
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const headerBytes = Number(view.getBigUint64(0, true));
  if (headerBytes > MAX_HEADER_BYTES || PREFIX_BYTES + headerBytes > file.length) {
    throw new CheckpointError(
      `model.safetensors is truncated or not a safetensors file: its header would take ${headerBytes} bytes of ${file.length}`,
    );
  }
  const start = PREFIX_BYTES + headerBytes;
  const tensors = new Map<string, Tensor>();
  for (const [name, value] of Object.entries(parseHeader(file.subarray(PREFIX_BYTES, start)))) {
    if (name === '__metadata__') continue;
    const entry = v.safeParse(EntrySchema, value);
    if (!entry.success) throw new CheckpointError(`model.safetensors: the entry of ${name} is malformed`);
    const { dtype, shape, data_offsets: [from, to] } = entry.output;
    if (dtype !== 'F32') throw new CheckpointError(`model.safetensors: ${name} is ${dtype}; only F32 is supported`);
    const size = shape.reduce((a, b) => a * b, 1);
    if (to - from !== size * FLOAT_BYTES) {
      throw new CheckpointError(`model.safetensors: ${name} has ${to - from} bytes, its shape [${shape.join(', ')}] needs ${size * FLOAT_BYTES}`);
    }
    if (start + to > file.length) {
      throw new CheckpointError(`model.safetensors is truncated: ${name} ends at byte ${start + to} of ${file.length}`);
    }
    // Copied: the file may start at an address that a Float32Array cannot view. (`slice` of a Node Buffer is no copy.)
    const data = new Float32Array(size);
    new Uint8Array(data.buffer).set(file.subarray(start + from, start + to));
    tensors.set(name, { shape, data });
  }
  return tensors;
}

function parseHeader(bytes: Uint8Array): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new CheckpointError('model.safetensors: the header is not JSON', { cause });
  }
  const header = v.safeParse(HeaderSchema, json);
  if (!header.success) throw new CheckpointError('model.safetensors: the header is not an object');
  return header.output;
}
