/** The matrix product alone: our kernels, a naive one, and what the adapter itself reaches in multiplying and adding. */
import { Gpu, USAGE, type Dispatch, type Shaders } from '../src/policy/webgpu/gpu.ts';
import { Kernels, type Product, type ProductShape } from '../src/policy/webgpu/kernels.ts';
import { chooseTuning } from '../src/policy/webgpu/tuning.ts';

export interface MatmulFigure {
  readonly name: string;
  /** Operations a second, in units of 10⁹. */
  readonly gflops: number;
}

export interface MatmulReport {
  /** Measured by a loop of vec4 products and sums in registers. */
  readonly fma: number;
  readonly variant: string;
  readonly cube: number;
  readonly cubeGflops: number;
  readonly naiveGflops: number;
  /** The largest difference of a cube's result from float64, relative to the largest entry. */
  readonly error: number;
  readonly shapes: readonly MatmulFigure[];
}

const FMA = /* wgsl */ `
@group(0) @binding(0) var<storage, read_write> out: array<vec4f>;
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  let x = vec4f(f32(id.x) * 1e-9 + 0.999);
  let y = vec4f(1e-6);
  var a = x; var b = x + 1.0; var c = x + 2.0; var d = x + 3.0; var e = x + 4.0; var f = x + 5.0; var g = x + 6.0; var h = x + 7.0;
  for (var i = 0u; i < 256u; i++) {
    a = a * x + y; b = b * x + y; c = c * x + y; d = d * x + y; e = e * x + y; f = f * x + y; g = g * x + y; h = h * x + y;
    a = a * x + y; b = b * x + y; c = c * x + y; d = d * x + y; e = e * x + y; f = f * x + y; g = g * x + y; h = h * x + y;
  }
  out[id.x] = a + b + c + d + e + f + g + h;
}`;
const FMA_FLOPS = 256 * 16 * 4 * 2;

const NAIVE = /* wgsl */ `
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(8, 8)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  let n = groups.x * 8u;
  var sum = 0.0;
  for (var p = 0u; p < n; p++) { sum += a[id.y * n + p] * b[id.x * n + p]; }
  y[id.y * n + id.x] = sum;
}`;

/** Milliseconds that a measured submission should take at least: latency is then little of it. */
const LEAST = 60;

class Bench {
  constructor(readonly device: GPUDevice) {}

  /** Seconds of one `encode`: the median of five submissions, each repeating it until it is long enough. */
  async seconds(encode: (pass: GPUComputePassEncoder) => void): Promise<number> {
    const once = async (times: number): Promise<number> => {
      const encoder = this.device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      for (let i = 0; i < times; i++) encode(pass);
      pass.end();
      const began = performance.now();
      this.device.queue.submit([encoder.finish()]);
      await this.device.queue.onSubmittedWorkDone();
      return performance.now() - began;
    };
    await once(1);
    let times = 1;
    while (times < 4096 && (await once(times)) < LEAST) times *= 2;
    const samples = [];
    for (let i = 0; i < 5; i++) samples.push((await once(times)) / times / 1000);
    return samples.sort((a, b) => a - b)[2] ?? NaN;
  }

  async own(code: string, buffers: readonly GPUBuffer[], x: number, y = 1): Promise<(pass: GPUComputePassEncoder) => void> {
    const pipeline = await this.device.createComputePipelineAsync({ layout: 'auto', compute: { module: this.device.createShaderModule({ code }), entryPoint: 'main' } });
    const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries: buffers.map((buffer, binding) => ({ binding, resource: { buffer } })) });
    return (pass) => {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(x, y);
    };
  }
}

/** The model's products over `tokens` tokens, in the three layouts. */
function shapesOf(tokens: number, width: number, intermediate: number, vocab: number): [name: string, kind: Product, shape: ProductShape, flops: number][] {
  const each = (name: string, columns: number, sum: number): [string, Product, ProductShape, number][] => {
    const flops = 2 * tokens * columns * sum;
    return [
      [`${name} Y = XWᵀ`, 'forward', { columns, sum }, flops],
      [`${name} dX = dYW`, 'input', { columns: sum, sum: columns }, flops],
      [`${name} dW = dYᵀX`, 'weight', { rows: columns, columns: sum, splits: 8, stride: columns * sum }, flops],
    ];
  };
  return [
    ...each(`qkv ${3 * width}×${width}`, 3 * width, width), ...each(`gate-up ${2 * intermediate}×${width}`, 2 * intermediate, width),
    ...each(`down ${width}×${intermediate}`, width, intermediate), ...each(`head ${vocab}×${width}`, vocab, width),
  ];
}

export async function measureMatmul(
  device: GPUDevice, shaders: Shaders, software: boolean, cube: number, tokens: number, width: number, intermediate: number, vocab: number,
): Promise<MatmulReport> {
  const bench = new Bench(device);
  const gpu = new Gpu(device, shaders);
  const tuning = await chooseTuning(gpu, software);
  const kernels = await Kernels.compile(gpu, tuning, 8);

  const threads = software ? 64 * 256 : 64 * 16_384;
  const out = gpu.storage('fma', 16 * threads);
  const fma = (threads * FMA_FLOPS) / (await bench.seconds(await bench.own(FMA, [out], threads / 64))) / 1e9;
  out.destroy();

  const random = (n: number): Float32Array<ArrayBuffer> => Float32Array.from({ length: n }, (_, i) => ((i * 2_654_435_761) % 1009) / 1009 - 0.5);
  const filled = (n: number): GPUBuffer => {
    const buffer = gpu.storage('operand', 4 * n);
    device.queue.writeBuffer(buffer, 0, random(n));
    return buffer;
  };
  const encoded = (dispatch: Dispatch, items: number) => (pass: GPUComputePassEncoder): void => {
    gpu.encode(pass, [dispatch], items);
  };
  const [a, b, y] = [filled(cube * cube), filled(cube * cube), gpu.storage('y', 4 * cube * cube)] as const;
  const batch = gpu.uniform('batch', [cube]);
  const product = kernels.product('forward', { columns: cube, sum: cube }, { batch, a, b, y });
  const cubeGflops = (2 * cube ** 3) / (await bench.seconds(encoded(product, cube))) / 1e9;
  const error = await rowError(gpu, y, random(cube * cube), cube);
  const naive = await bench.own(NAIVE, [a, b, y], cube / 8, cube / 8);
  const naiveGflops = (2 * cube ** 3) / (await bench.seconds(naive)) / 1e9;
  for (const buffer of [a, b, y, batch]) buffer.destroy();

  const shapes: MatmulFigure[] = [];
  for (const [name, kind, shape, flops] of shapesOf(tokens, width, intermediate, vocab)) {
    const { columns, sum = 0, rows = 0, splits = 1 } = shape;
    const [batchOf, left, right, result] = kind === 'weight'
      ? [gpu.uniform('batch', [tokens, Math.ceil(tokens / splits / 4) * 4]), filled(tokens * rows), filled(tokens * columns), filled(splits * rows * columns)]
      : [gpu.uniform('batch', [tokens]), filled(tokens * sum), filled(columns * sum), filled(tokens * columns)];
    const dispatch = kernels.product(kind, shape, { batch: batchOf, a: left, b: right, y: result });
    shapes.push({ name, gflops: flops / (await bench.seconds(encoded(dispatch, tokens))) / 1e9 });
    for (const buffer of [batchOf, left, right, result]) buffer.destroy();
  }
  gpu.destroy();
  return { fma, variant: tuning.matmul, cube, cubeGflops, naiveGflops, error, shapes };
}

/** The cube's first row against float64; both operands hold `values`. */
async function rowError(gpu: Gpu, y: GPUBuffer, values: Float32Array, n: number): Promise<number> {
  const bytes = 4 * n;
  const target = gpu.device.createBuffer({ size: bytes, usage: USAGE.mapRead | USAGE.copyTarget });
  const encoder = gpu.device.createCommandEncoder();
  encoder.copyBufferToBuffer(y, 0, target, 0, bytes);
  gpu.device.queue.submit([encoder.finish()]);
  await target.mapAsync(1);
  const row = new Float32Array(target.getMappedRange().slice(0));
  target.destroy();
  let [worst, largest] = [0, 0];
  for (let j = 0; j < n; j++) {
    let sum = 0;
    for (let p = 0; p < n; p++) sum += (values[p] ?? 0) * (values[j * n + p] ?? 0);
    worst = Math.max(worst, Math.abs(sum - (row[j] ?? NaN)));
    largest = Math.max(largest, Math.abs(sum));
  }
  return worst / largest;
}
