/**
 * A thin layer over a `GPUDevice`: kernels compiled from WGSL, bind groups by name, one place where buffers are made
 * and commands are submitted, and counters over all of it. What it does not know: transformers.
 */
import { EngineError } from '../engine.ts';

/** WGSL sources by name, e.g. `rmsnorm`; `prelude` is prepended to the others. */
export type Shaders = Readonly<Record<string, string>>;

export type Constants = Readonly<Record<string, number | boolean>>;

interface Binding {
  readonly name: string;
  readonly index: number;
  readonly type: GPUBufferBindingType;
}

export interface Kernel {
  readonly name: string;
  readonly pipeline: GPUComputePipeline;
  readonly layout: GPUBindGroupLayout;
  readonly bindings: readonly Binding[];
}

/** A buffer, or a part of one: offset (a multiple of 256) and size in bytes. */
export type Bindable = GPUBuffer | { readonly buffer: GPUBuffer; readonly offset: number; readonly size: number };

/** A kernel bound to its buffers. `groups` says how many workgroups a batch of n items takes. */
export interface Dispatch {
  readonly kernel: Kernel;
  readonly bindGroup: GPUBindGroup;
  readonly groups: (items: number) => number;
}

/** How the kernels are tuned to the adapter. */
export interface Tuning {
  /** Tiled in workgroup memory for GPUs; barrier-free in registers for software adapters. */
  readonly matmul: 'tiled' | 'registers';
  /** Threads of a row kernel that share one row; 1 on software adapters. */
  readonly lanes: 1 | 32;
}

export class Gpu {
  /** Everything made, sent, or put into the cache of a decoder so far, for tests and measurements. */
  readonly counts = { dispatches: 0, submits: 0, buffers: 0, bindGroups: 0, pipelines: 0, promptTokens: 0 };
  /** Rejects when the device is lost. */
  readonly lost: Promise<never>;
  private fault: EngineError | undefined;
  private readonly kernels = new Map<string, Promise<Kernel>>();
  private readonly readbacks: GPUBuffer[] = [];

  constructor(
    readonly device: GPUDevice,
    private readonly shaders: Shaders,
  ) {
    this.lost = device.lost.then((info) => {
      this.fault = new EngineError(`The GPU was lost: ${info.message}`, 'lost');
      throw this.fault;
    });
    // Always observed, so that a loss between two calls is no unhandled rejection.
    this.lost.catch(() => undefined);
    device.addEventListener('uncapturederror', (event) => {
      // The first error is the cause; those after it are its consequences.
      this.fault ??= new EngineError(`The GPU reported: ${event.error.message}`, 'internal');
    });
  }

  /** @throws the first fault of the device, if there was one. */
  check(): void {
    if (this.fault !== undefined) throw this.fault;
  }

  buffer(label: string, bytes: number, usage: number): GPUBuffer {
    this.counts.buffers++;
    return this.device.createBuffer({ label, size: Math.max(16, Math.ceil(bytes / 16) * 16), usage });
  }

  /** A storage buffer that can be copied from and to. */
  storage(label: string, bytes: number): GPUBuffer {
    return this.buffer(label, bytes, USAGE.storage | USAGE.copySource | USAGE.copyTarget);
  }

  /** A uniform of at most 12 words, which may be written anew. */
  uniform(label: string, words: readonly Word[] = []): GPUBuffer {
    const data = packWords(words);
    const buffer = this.buffer(label, data.byteLength, USAGE.uniform | USAGE.copyTarget);
    this.device.queue.writeBuffer(buffer, 0, data);
    return buffer;
  }

  /** Compiles a kernel, once for each set of constants. @throws EngineError `unsupported` with the first message. */
  kernel(name: string, constants: Constants): Promise<Kernel> {
    const key = `${name} ${JSON.stringify(constants)}`;
    let kernel = this.kernels.get(key);
    if (kernel === undefined) {
      kernel = this.compile(name, constants);
      this.kernels.set(key, kernel);
    }
    return kernel;
  }

  private async compile(name: string, constants: Constants): Promise<Kernel> {
    const [prelude, source] = [this.shaders['prelude'], this.shaders[name]];
    if (prelude === undefined || source === undefined) throw new EngineError(`no shader ${name}`, 'internal');
    const header = Object.entries({ LANES: 1, ROWS: 1, HEAD_VEC4: 1, QUERIES: 1, ...constants })
      .map(([key, value]) => `const ${key} = ${typeof value === 'number' ? `${value}u` : String(value)};\n`).join('');
    const bindings = parseBindings(source);
    const layout = this.device.createBindGroupLayout({
      label: name,
      entries: bindings.map(({ index, type }) => ({ binding: index, visibility: COMPUTE_STAGE, buffer: { type } })),
    });
    const module = this.device.createShaderModule({ label: name, code: header + prelude + unroll(source, constants) });
    try {
      this.counts.pipelines++;
      const pipeline = await this.device.createComputePipelineAsync({
        label: `${name} ${JSON.stringify(constants)}`,
        layout: this.device.createPipelineLayout({ bindGroupLayouts: [layout] }),
        compute: { module, entryPoint: 'main' },
      });
      return { name, pipeline, layout, bindings };
    } catch (error) {
      const { messages } = await module.getCompilationInfo();
      const first = messages.find((message) => message.type === 'error')?.message ?? String(error);
      throw new EngineError(`The GPU's driver refused the kernel ${name}: ${first}`, 'unsupported', { cause: error });
    }
  }

  /** Binds every name that the kernel declares. */
  bind(kernel: Kernel, buffers: Readonly<Record<string, Bindable>>, groups: Dispatch['groups']): Dispatch {
    this.counts.bindGroups++;
    const entries = kernel.bindings.map(({ name, index }): GPUBindGroupEntry => {
      const bound = buffers[name];
      if (bound === undefined) throw new EngineError(`${kernel.name}: nothing bound to ${name}`, 'internal');
      return { binding: index, resource: 'buffer' in bound ? bound : { buffer: bound } };
    });
    return { kernel, bindGroup: this.device.createBindGroup({ label: kernel.name, layout: kernel.layout, entries }), groups };
  }

  /** Records dispatches into a pass. Grids past the limit of one dimension are folded, see `linear_group`. */
  encode(pass: GPUComputePassEncoder, dispatches: Iterable<Dispatch>, items: number): void {
    let current: GPUComputePipeline | undefined;
    for (const { kernel, bindGroup, groups } of dispatches) {
      const count = groups(items);
      if (count === 0) continue;
      if (kernel.pipeline !== current) pass.setPipeline((current = kernel.pipeline));
      pass.setBindGroup(0, bindGroup);
      const x = Math.min(count, this.device.limits.maxComputeWorkgroupsPerDimension);
      pass.dispatchWorkgroups(x, Math.ceil(count / x));
      this.counts.dispatches++;
    }
  }

  submit(encoder: GPUCommandEncoder): void {
    this.counts.submits++;
    this.device.queue.submit([encoder.finish()]);
  }

  /** A mappable buffer of at least so many bytes, from a pool; `read` gives it back. */
  readback(bytes: number): GPUBuffer {
    const at = this.readbacks.findIndex((buffer) => buffer.size >= bytes);
    const [found] = at >= 0 ? this.readbacks.splice(at, 1) : [];
    return found ?? this.buffer('readback', 2 ** Math.ceil(Math.log2(Math.max(bytes, 1024))), USAGE.mapRead | USAGE.copyTarget);
  }

  /** The first bytes of a readback buffer, copied out once all that was submitted is done. */
  async read(buffer: GPUBuffer, bytes: number): Promise<ArrayBuffer> {
    try {
      await Promise.race([buffer.mapAsync(MAP_READ, 0, Math.ceil(bytes / 8) * 8), this.lost]);
    } catch (error) {
      // A mapping may fail a moment before the loss that it failed of is announced.
      await Promise.race([this.lost, new Promise((resolve) => setTimeout(resolve, 100))]);
      throw error;
    }
    const data = buffer.getMappedRange(0, Math.ceil(bytes / 8) * 8).slice(0, bytes);
    buffer.unmap();
    this.readbacks.push(buffer);
    this.check();
    return data;
  }

  /** Copies whole buffers out. */
  async download(...sources: readonly GPUBuffer[]): Promise<Float32Array[]> {
    const size = sources.reduce((sum, { size: bytes }) => sum + bytes, 0);
    const target = this.readback(size);
    const encoder = this.device.createCommandEncoder();
    let offset = 0;
    for (const source of sources) {
      encoder.copyBufferToBuffer(source, 0, target, offset, source.size);
      offset += source.size;
    }
    this.submit(encoder);
    const data = await this.read(target, size);
    offset = 0;
    return sources.map((source) => {
      const part = new Float32Array(data, offset, source.size / 4);
      offset += source.size;
      return part;
    });
  }

  destroy(): void {
    for (const buffer of this.readbacks.splice(0)) buffer.destroy();
  }
}

/** One 32-bit word of a uniform: a whole number, or a float. */
export type Word = number | { readonly f32: number };

/** Uniforms as bytes, in order, padded to the 48 bytes of the largest. */
export function packWords(words: readonly Word[]): ArrayBuffer {
  const view = new DataView(new ArrayBuffer(48));
  for (const [i, word] of words.entries()) {
    if (typeof word === 'number') view.setUint32(4 * i, word, true);
    else view.setFloat32(4 * i, word.f32, true);
  }
  return view.buffer;
}

/** The bindings that a source declares: the one place where they are written down is the WGSL. */
function parseBindings(source: string): Binding[] {
  const pattern = /@group\(0\) @binding\((\d+)\) var<(uniform|storage, read|storage, read_write)> (\w+)/g;
  return [...source.matchAll(pattern)].map(([, index, space, name]) => ({
    name: name ?? '',
    index: Number(index),
    type: space === 'uniform' ? 'uniform' : space === 'storage, read' ? 'read-only-storage' : 'storage',
  }));
}

/** Loops longer than this stay loops. */
const UNROLL = 16;

/**
 * Writes out `for (var c = 0u; c < NAME; c++) {…}` where NAME is a constant: software adapters keep a private array in
 * registers only where every index is a constant. The source means the same without.
 */
export function unroll(source: string, constants: Constants): string {
  const head = /for \(var (\w+) = 0u; \1 < ([A-Z_0-9]+); \1\+\+\) \{/;
  const match = head.exec(source);
  if (match === null) return source;
  const [text, variable = '', name = ''] = match;
  const start = match.index + text.length;
  let end = start;
  for (let depth = 1; depth > 0; end++) depth += source[end] === '{' ? 1 : source[end] === '}' ? -1 : 0;
  const body = unroll(source.slice(start, end - 1), constants);
  const times = constants[name];
  const written = typeof times === 'number' && times <= UNROLL
    ? Array.from({ length: times }, (_, i) => `{${body.replace(new RegExp(`\\b${variable}\\b`, 'g'), `${i}u`)}}`).join('')
    : `${text}${body}}`;
  return source.slice(0, match.index) + written + unroll(source.slice(end), constants);
}

/** Flags as numbers: their global objects exist in pages and workers, but not in Node. */
export const USAGE = { mapRead: 0x1, copySource: 0x4, copyTarget: 0x8, uniform: 0x40, storage: 0x80 } as const;
const MAP_READ = 0x1;
const COMPUTE_STAGE = 0x4;
