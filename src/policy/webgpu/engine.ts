/**
 * The WGSL engine behind the PolicyEngine interface: plans grown to the batches that are asked for, one command buffer
 * a training step, chunks of tokens decoded without the host, one operation at a time in the order of the calls.
 */
import { parameterLayout, type PolicyConfig } from '../config.ts';
import {
  checkTokens, EngineError, type AdamW, type Checkpoint, type EngineInfo, type GradientReport,
  type PolicyEngine, type SampleRequest, type SampleResult, type ScoreRequest, type Snapshot,
  type TokenScores, type UpdateReport, type UpdateRequest,
} from '../engine.ts';
import { describeAdapter } from './device.ts';
import { Gpu, packWords, USAGE, type Dispatch, type Shaders, type Tuning } from './gpu.ts';
import { Kernels } from './kernels.ts';
import { decayedBlocks, fromGpu, gpuModel, rotaryAngles, toGpu, type GpuModel } from './layout.ts';
import { checkUpdateRows, countTokens, microBatches, packInputs, unpackScores, unpackUpdate, type PackedRow } from './packing.ts';
import { Sampler } from './sampler.ts';
import { runSelfTest } from './self-test.ts';
import { bytesPerToken, RESULT_WORDS, splitsFor, tokenLimit, trainingPlan, type Arenas, type TrainingPlan } from './training.ts';
import { chooseTuning } from './tuning.ts';

export interface WebGpuEngineOptions {
  readonly device: GPUDevice;
  /** `adapter.info`: names the engine, and says whether the adapter is emulated. */
  readonly adapterInfo: GPUAdapterInfo;
  readonly shaders: Shaders;
  /** For tests; by default measured at start-up. */
  readonly tuning?: Tuning;
  /** Tokens of one micro-batch, at most (a longer row is one of its own). Default 8192, less for large policies; 64 at least. */
  readonly microBatchTokens?: number;
  /** Bytes of one binding, at most. For tests; by default what the device allows. */
  readonly bindingLimit?: number;
  /** For tests of the test. Default true. */
  readonly selfTest?: boolean;
}

/** What the WGSL engine has beyond the interface: for tests and measurements. */
export interface WebGpuEngine extends PolicyEngine {
  readonly counts: Readonly<Gpu['counts']>;
  readonly tuning: Tuning;
  /**
   * Milliseconds of GPU time that one submit should take: 16 while a page is visible, so that its compositor gets a
   * turn. Steps and chunks are then cut by the time that earlier ones took; results do not change. Undefined for none.
   */
  frameBudget: number | undefined;
}

/**
 * An engine on a device that the caller owns: `dispose` frees the engine's buffers, not the device.
 * @throws EngineError `unsupported` where a kernel does not compile or the adapter miscalculates.
 */
export async function createWebGpuEngine(options: WebGpuEngineOptions): Promise<WebGpuEngine> {
  const gpu = new Gpu(options.device, options.shaders);
  const adapter = describeAdapter(options.adapterInfo);
  const tuning = options.tuning ?? (await chooseTuning(gpu, adapter.software));
  const engine = new Engine(gpu, { kind: 'webgpu', ...adapter }, tuning, options.microBatchTokens ?? 8192, options.bindingLimit);
  if (options.selfTest !== false) {
    await runSelfTest(engine);
    engine.unload();
  }
  return engine;
}

/** What is on the GPU for one loaded checkpoint. */
interface Loaded {
  readonly model: GpuModel;
  readonly kernels: Kernels;
  readonly arenas: Arenas;
  readonly suppressTokens: readonly number[];
  readonly tokenLimit: number;
  readonly optimizer: GPUBuffer;
  /** As grad_norm.wgsl leaves it: among others, the number of updates. */
  readonly norm: GPUBuffer;
  /** Sum of the partial gradients and its norm. */
  readonly reduce: readonly Dispatch[];
  readonly adamw: readonly Dispatch[];
  readonly sampler: Sampler;
  /** The buffer stays where the weights in it no longer count: plans are bound to it. */
  readonly reference: { buffer: GPUBuffer | undefined; held: boolean };
  training: TrainingPlan | undefined;
  alternatives: GPUBuffer | undefined;
  staging: GPUBuffer | undefined;
  readonly owned: GPUBuffer[];
}

const ARENA_LABEL = 'weights';
/** Memory for the activations of one micro-batch; a single row may take more. */
const ACTIVATION_BYTES = 2 ** 30;

class Engine implements WebGpuEngine {
  private tail: Promise<unknown> = Promise.resolve();
  private loaded: Loaded | undefined;
  private disposed = false;
  frameBudget: number | undefined;
  /** Milliseconds that the last training step took for each of its tokens. */
  private pace = 0;
  /** When the results of the last one had come. */
  private lastRead = 0;
  private readonly bindingLimit: number;

  constructor(
    private readonly gpu: Gpu,
    readonly info: EngineInfo,
    readonly tuning: Tuning,
    private readonly microBatchTokens: number,
    bindingLimit = Infinity,
  ) {
    const { maxStorageBufferBindingSize, maxBufferSize } = gpu.device.limits;
    this.bindingLimit = Math.min(maxStorageBufferBindingSize, maxBufferSize, bindingLimit);
  }

  get counts(): Gpu['counts'] {
    return this.gpu.counts;
  }

  get config(): PolicyConfig | undefined {
    return this.loaded?.model.config;
  }

  load(checkpoint: Checkpoint): Promise<void> {
    return this.enqueue(async () => {
      const model = gpuModel(checkpoint.config);
      const limit = tokenLimit(model, this.bindingLimit);
      const largest = Math.max(model.embedding.size, model.width.intermediate * model.width.hidden * 2, model.width.qkv * model.width.hidden);
      if (
        limit < checkpoint.config.max_position_embeddings || 4 * largest > this.bindingLimit
        || 4 * model.size > this.gpu.device.limits.maxBufferSize
      ) {
        throw new EngineError('The GPU cannot hold a policy of this size.', 'unsupported');
      }
      const { size } = parameterLayout(checkpoint.config);
      if (checkpoint.weights.length !== size) {
        throw new EngineError(`the checkpoint has ${checkpoint.weights.length} weights, its config ${size}`, 'invalid');
      }
      if (this.loaded !== undefined && sameShape(this.loaded, checkpoint)) {
        this.refill(this.loaded, checkpoint);
        return;
      }
      const kernels = await Kernels.compile(this.gpu, this.tuning, model.width.head / 4);
      this.unload();
      this.gpu.device.pushErrorScope('out-of-memory');
      const affordable = Math.floor(ACTIVATION_BYTES / bytesPerToken(model));
      const loaded = this.allocate(model, kernels, checkpoint, Math.max(64, Math.min(this.microBatchTokens, limit, affordable)));
      const failure = await Promise.race([this.gpu.device.popErrorScope(), this.gpu.lost]);
      if (failure !== null) {
        for (const buffer of loaded.owned) buffer.destroy();
        throw new EngineError('The GPU has not enough memory for this policy.', 'unsupported');
      }
      this.loaded = loaded;
    });
  }

  snapshot(): Promise<Snapshot> {
    return this.run(async ({ model, arenas, norm, suppressTokens }) => {
      const [weights, m, v, state] = await this.gpu.download(arenas.weights, arenas.m, arenas.v, norm);
      const step = state?.[3] ?? 0;
      const flat = (padded: Float32Array | undefined): Float32Array => fromGpu(model, padded ?? new Float32Array(0));
      return { config: model.config, weights: flat(weights), optimizer: { step, m: flat(m), v: flat(v) }, suppressTokens };
    });
  }

  holdReference(weights?: Float32Array): Promise<void> {
    return this.run((loaded) => {
      if (weights !== undefined) {
        const { size } = parameterLayout(loaded.model.config);
        if (weights.length !== size) throw new EngineError(`the reference has ${weights.length} weights; the policy has ${size}`, 'invalid');
      }
      const { reference } = loaded;
      if (reference.buffer === undefined) loaded.owned.push((reference.buffer = this.gpu.storage('reference', 4 * loaded.model.size)));
      reference.held = true;
      if (weights !== undefined) {
        this.gpu.device.queue.writeBuffer(reference.buffer, 0, toGpu(loaded.model, weights));
        return;
      }
      const encoder = this.gpu.device.createCommandEncoder();
      encoder.copyBufferToBuffer(loaded.arenas.weights, 0, reference.buffer, 0, 4 * loaded.model.size);
      this.gpu.submit(encoder);
    });
  }

  score(request: ScoreRequest): Promise<readonly TokenScores[]> {
    return this.run(async (loaded) => {
      const { model, arenas } = loaded;
      checkTokens(model.config, request.rows);
      if (!(request.temperature > 0)) throw new EngineError('scores need a temperature above 0', 'invalid');
      const weights = request.weights !== 'reference' ? arenas.weights : loaded.reference.held ? loaded.reference.buffer : undefined;
      if (weights === undefined) throw new EngineError('no reference is held: call holdReference first', 'invalid');
      const k = Math.min(request.alternatives ?? 0, model.config.vocab_size);
      const limit = k === 0 ? loaded.tokenLimit : Math.max(
        Math.min(loaded.tokenLimit, Math.floor(this.bindingLimit / (8 * k))), Math.max(...request.rows.map((row) => row.length)),
      );
      const batches = microBatches(request.rows.map((tokens): PackedRow => ({ tokens })), limit);
      if (batches.length === 0) return [];
      const plan = this.trainingFor(loaded, Math.max(...batches.map(countTokens)));
      const alternatives = k === 0 ? undefined : this.alternativesFor(loaded, 8 * k * Math.max(...batches.map(countTokens)));
      const scores: TokenScores[] = [];
      for (const rows of batches) {
        const count = countTokens(rows);
        const bytes = 4 * RESULT_WORDS * count;
        this.gpu.device.queue.writeBuffer(plan.inputs, 0, packInputs(rows, {
          parts: plan.parts, vocab: model.width.vocab, splits: 1, temperature: request.temperature, objective: undefined, alternatives: k,
        }));
        const readback = this.gpu.readback(bytes + 8 * k * count);
        const encoder = this.gpu.device.createCommandEncoder();
        this.encodePass(encoder, plan.score(weights, alternatives), count);
        encoder.copyBufferToBuffer(plan.results, 0, readback, 0, bytes);
        if (alternatives !== undefined) encoder.copyBufferToBuffer(alternatives, 0, readback, bytes, 8 * k * count);
        this.gpu.submit(encoder);
        const data = await this.gpu.read(readback, bytes + 8 * k * count);
        scores.push(...unpackScores(rows, data, bytes, request.alternatives === undefined ? undefined : k));
      }
      return scores;
    });
  }

  gradients(request: UpdateRequest): Promise<GradientReport> {
    return this.submitted((loaded) => ({
      result: this.step(loaded, request, undefined).then(({ report, gradient }) => ({ ...report, gradient: fromGpu(loaded.model, gradient) })),
    }));
  }

  update(request: UpdateRequest, optimizer: AdamW): Promise<UpdateReport> {
    return this.submitted((loaded) => ({ result: this.step(loaded, request, optimizer).then(({ report }) => report) }));
  }

  continue(request: SampleRequest): Promise<SampleResult> {
    return this.run(async ({ sampler }) => ({ rows: await sampler.run(request, this.frameBudget) }));
  }

  dispose(): void {
    this.disposed = true;
    this.unload();
    this.gpu.destroy();
  }

  /** Forgets the loaded policy. */
  unload(): void {
    const { loaded } = this;
    if (loaded === undefined) return;
    for (const buffer of [...loaded.owned, loaded.alternatives, loaded.staging]) buffer?.destroy();
    loaded.training?.destroy();
    loaded.sampler.destroy();
    this.loaded = undefined;
  }

  /** Runs an operation after all earlier ones, whether they failed or not. */
  private enqueue<T>(operation: () => T | Promise<T>): Promise<T> {
    const result = this.tail.then(() => {
      if (this.disposed) throw new EngineError('the engine was disposed', 'disposed');
      this.gpu.check();
      return this.guarded(operation);
    });
    this.tail = result.catch(() => undefined);
    return result;
  }

  private async guarded<T>(operation: () => T | Promise<T>): Promise<T> {
    try {
      const value = await operation();
      this.gpu.check();
      // A load that was under way when the engine was disposed has brought buffers with it.
      if (this.disposed) this.unload();
      return value;
    } catch (error) {
      // A call that fails because its engine went away says so, not what it stumbled over.
      this.gpu.check();
      if (this.disposed) throw new EngineError('the engine was disposed', 'disposed', { cause: error });
      throw error;
    }
  }

  private run<T>(operation: (loaded: Loaded) => T | Promise<T>): Promise<T> {
    return this.enqueue(() => {
      if (this.loaded === undefined) throw new EngineError('no policy is loaded', 'invalid');
      return operation(this.loaded);
    });
  }

  /** Like `run`, for an operation that submits all its work at once: the next one does not wait until this one's results are read. */
  private async submitted<T>(operation: (loaded: Loaded) => { readonly result: Promise<T> }): Promise<T> {
    const { result } = await this.run((loaded) => {
      const work = operation(loaded);
      // Observed even where a fault ends the call before its results are waited for.
      work.result.catch(() => undefined);
      return work;
    });
    return this.guarded(() => result);
  }

  /** Other weights of the same shape: buffers and plans stay. */
  private refill({ model, arenas, norm, sampler, ...loaded }: Loaded, { weights, optimizer }: Checkpoint): void {
    const { queue } = this.gpu.device;
    const zeros = new Float32Array(optimizer === undefined ? model.size : 0);
    queue.writeBuffer(arenas.weights, 0, toGpu(model, weights));
    queue.writeBuffer(arenas.m, 0, optimizer === undefined ? zeros : toGpu(model, optimizer.m));
    queue.writeBuffer(arenas.v, 0, optimizer === undefined ? zeros : toGpu(model, optimizer.v));
    queue.writeBuffer(norm, 0, Float32Array.of(0, 0, 0, optimizer?.step ?? 0));
    loaded.reference.held = false;
    sampler.forget();
  }

  private allocate(model: GpuModel, kernels: Kernels, checkpoint: Checkpoint, limit: number): Loaded {
    const { gpu } = this;
    const owned: GPUBuffer[] = [];
    const hold = (label: string, bytes: number, data?: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>): GPUBuffer => {
      const buffer = gpu.storage(label, bytes);
      owned.push(buffer);
      if (data !== undefined) gpu.device.queue.writeBuffer(buffer, 0, data);
      return buffer;
    };
    const bytes = 4 * model.size;
    const splits = splitsFor(model, this.tuning, this.bindingLimit);
    const angles = rotaryAngles(model.config);
    const allowed = new Float32Array(model.width.vocab).fill(1, 0, model.config.vocab_size);
    for (const id of checkpoint.suppressTokens) if (id < allowed.length) allowed[id] = 0;
    const { optimizer } = checkpoint;
    const suppressTokens = [...checkpoint.suppressTokens];
    const arenas: Arenas = {
      weights: hold(ARENA_LABEL, bytes, toGpu(model, checkpoint.weights)),
      m: hold('m', bytes, optimizer && toGpu(model, optimizer.m)),
      v: hold('v', bytes, optimizer && toGpu(model, optimizer.v)),
      grad: hold('grad', bytes),
      partials: hold('partials', splits * bytes),
      splits,
      allowed: hold('allowed', 4 * allowed.length, allowed),
      angles: hold('angles', 4 * angles.length, angles),
    };
    const blocks = model.size / 64;
    const decayed = hold('decayed', 4 * blocks, decayedBlocks(model));
    const squares = hold('squares', 4 * blocks);
    const norm = hold('norm', 32, Float32Array.of(0, 0, 0, optimizer?.step ?? 0));
    const settings = gpu.uniform('optimizer');
    owned.push(settings);

    // An arena past the limit of a binding is worked off in parts (of whole 256 bytes, as offsets must be), unsplit.
    const partBlocks = splits > 1 ? blocks : Math.floor(this.bindingLimit / 2 ** 14) * 64;
    const reduce: Dispatch[] = [];
    const adamw: Dispatch[] = [];
    for (let first = 0; first < blocks; first += partBlocks) {
      const count = Math.min(partBlocks, blocks - first);
      const part = (buffer: GPUBuffer, unit = 256, copies = 1): { buffer: GPUBuffer; offset: number; size: number } =>
        ({ buffer, offset: first * unit, size: count * unit * copies });
      reduce.push(kernels.dispatch(
        'grad_sum', [count, splits, model.size / 4],
        { partials: part(arenas.partials, 256, splits), grad: part(arenas.grad), squares: part(squares, 4) }, { fixed: count },
      ));
      adamw.push(kernels.dispatch(
        'adamw', [16 * count],
        {
          optimizer: settings, norm, decayed: part(decayed, 4), grad: part(arenas.grad), weights: part(arenas.weights),
          m: part(arenas.m), v: part(arenas.v),
        },
        { fixed: 16 * count },
      ));
    }
    reduce.push(kernels.dispatch('grad_norm', [], { optimizer: settings, squares, norm }, { fixed: 1 }));
    return {
      model, kernels, arenas, suppressTokens, tokenLimit: limit,
      optimizer: settings, norm, reduce, adamw, reference: { buffer: undefined, held: false }, training: undefined,
      alternatives: undefined, staging: undefined, owned,
      sampler: new Sampler({ gpu, kernels, model, arenas, suppressTokens, tokenLimit: limit, bindingLimit: this.bindingLimit }),
    };
  }

  /** A plan that holds so many tokens; grown by doubling, so that a run settles after its first steps. */
  private trainingFor(loaded: Loaded, tokens: number): TrainingPlan {
    if (loaded.training === undefined || loaded.training.capacity < tokens) {
      loaded.training?.destroy();
      const capacity = Math.min(Math.max(256, 2 ** Math.ceil(Math.log2(tokens))), Math.max(loaded.tokenLimit, tokens));
      loaded.training = trainingPlan(this.gpu, loaded.kernels, loaded.model, loaded.arenas, capacity, this.bindingLimit);
    }
    return loaded.training;
  }

  private alternativesFor(loaded: Loaded, bytes: number): GPUBuffer {
    if (loaded.alternatives === undefined || loaded.alternatives.size < bytes) {
      loaded.alternatives?.destroy();
      loaded.alternatives = this.gpu.storage('alternatives', bytes);
    }
    return loaded.alternatives;
  }

  private stagingFor(loaded: Loaded, bytes: number): GPUBuffer {
    if (loaded.staging === undefined || loaded.staging.size < bytes) {
      loaded.staging?.destroy();
      loaded.staging = this.gpu.buffer('staging', bytes, USAGE.copySource | USAGE.copyTarget);
    }
    return loaded.staging;
  }

  private encodePass(encoder: GPUCommandEncoder, dispatches: Iterable<Dispatch>, items: number): void {
    const pass = encoder.beginComputePass();
    this.gpu.encode(pass, dispatches, items);
    pass.end();
  }

  /**
   * Forward, loss, backward, and AdamW where an optimizer is given: one command buffer, one submit, all of it before the
   * first await.
   */
  private async step(
    loaded: Loaded, request: UpdateRequest, optimizer: AdamW | undefined,
  ): Promise<{ report: UpdateReport; gradient: Float32Array }> {
    const { gpu } = this;
    const { model, arenas } = loaded;
    checkTokens(model.config, request.rows.map((row) => row.tokens));
    checkUpdateRows(request.rows, request.objective);
    if (!(request.temperature > 0)) throw new EngineError('an update needs a temperature above 0', 'invalid');
    const rows = request.rows.map((update): PackedRow => ({ tokens: update.tokens, update }));
    if (!request.rows.some((row) => row.weights.some((weight, t) => t > 0 && weight !== 0))) {
      const untouched = request.rows.map((row) => unpackUpdate(row, new Float32Array(0), 0, request.objective));
      return {
        report: { loss: 0, gradNorm: 0, applied: false, skipped: 'no-trainable-token', rows: untouched },
        gradient: new Float32Array(model.size),
      };
    }

    const batches = microBatches(rows, loaded.tokenLimit);
    const plan = this.trainingFor(loaded, Math.max(...batches.map(countTokens)));
    const packed = batches.map((batch) => packInputs(batch, {
      parts: plan.parts, vocab: model.width.vocab, splits: arenas.splits, temperature: request.temperature, objective: request.objective,
    }));
    const [only] = packed;
    // All writes land before the submit: several batches wait in a staging buffer for their turn.
    const staging = packed.length > 1 ? this.stagingFor(loaded, packed.length * plan.parts.size) : undefined;
    if (staging === undefined && only !== undefined) gpu.device.queue.writeBuffer(plan.inputs, 0, only);
    else if (staging !== undefined) for (const [i, data] of packed.entries()) gpu.device.queue.writeBuffer(staging, i * plan.parts.size, data);
    gpu.device.queue.writeBuffer(loaded.optimizer, 0, optimizerWords(model, optimizer));

    const resultBytes = 4 * RESULT_WORDS * countTokens(rows);
    const gradientBytes = optimizer === undefined ? 4 * model.size : 0;
    const readback = gpu.readback(resultBytes + 16 + gradientBytes);
    const started = performance.now();
    let encoder = gpu.device.createCommandEncoder();
    encoder.clearBuffer(arenas.partials);
    let at = 0;
    for (const [i, batch] of batches.entries()) {
      const count = countTokens(batch);
      if (staging !== undefined) encoder.copyBufferToBuffer(staging, i * plan.parts.size, plan.inputs, 0, plan.parts.size);
      const submits = this.frameBudget === undefined ? 1 : Math.max(1, Math.ceil((this.pace * count) / this.frameBudget));
      const length = Math.ceil(plan.train.length / submits);
      for (let first = 0; first < plan.train.length; first += length) {
        if (first > 0) {
          gpu.submit(encoder);
          encoder = gpu.device.createCommandEncoder();
        }
        this.encodePass(encoder, plan.train.slice(first, first + length), count);
      }
      encoder.copyBufferToBuffer(plan.results, 0, readback, at, 4 * RESULT_WORDS * count);
      at += 4 * RESULT_WORDS * count;
    }
    this.encodePass(encoder, optimizer === undefined ? loaded.reduce : [...loaded.reduce, ...loaded.adamw], 0);
    encoder.copyBufferToBuffer(loaded.norm, 0, readback, at, 16);
    if (optimizer === undefined) encoder.copyBufferToBuffer(arenas.grad, 0, readback, at + 16, gradientBytes);
    gpu.submit(encoder);
    if (optimizer !== undefined) loaded.sampler.forget();

    const data = new Float32Array(await gpu.read(readback, resultBytes + 16 + gradientBytes));
    // A step that was queued behind another began when that one ended.
    this.pace = (performance.now() - Math.max(started, this.lastRead)) / countTokens(rows);
    this.lastRead = performance.now();
    const [gradNorm = NaN, , notFinite = 1] = data.subarray(resultBytes / 4);
    const finite = notFinite === 0;
    let first = 0;
    const reports = request.rows.map((row) => {
      const own = unpackUpdate(row, data, first * RESULT_WORDS, request.objective);
      first += row.tokens.length;
      return own;
    });
    let loss = 0;
    for (let i = 0; i < first; i++) loss += data[i * RESULT_WORDS + 7] ?? 0;
    const outcome = !finite ? { applied: false, skipped: 'non-finite' as const }
      : optimizer === undefined ? { applied: false, skipped: 'not-requested' as const } : { applied: true };
    return { report: { loss, gradNorm, ...outcome, rows: reports }, gradient: data.subarray(resultBytes / 4 + 4) };
  }
}

function sameShape({ model, suppressTokens }: Loaded, checkpoint: Checkpoint): boolean {
  return JSON.stringify([model.config, suppressTokens]) === JSON.stringify([checkpoint.config, checkpoint.suppressTokens]);
}

/** The uniform of grad_norm.wgsl and adamw.wgsl. */
function optimizerWords(model: GpuModel, optimizer: AdamW | undefined): ArrayBuffer {
  const { learningRate = 0, beta1 = 0, beta2 = 0, epsilon = 1, weightDecay = 0, maxGradNorm = Infinity } = optimizer ?? {};
  // A β of 0 has no logarithm; at −80 its powers are as good as 0.
  const log = (beta: number): number => Math.max(Math.log(beta), -80);
  return packWords([
    model.size / 64, { f32: Math.min(maxGradNorm, 3.4e38) }, { f32: learningRate }, { f32: beta1 }, { f32: 1 - beta1 }, { f32: beta2 },
    { f32: 1 - beta2 }, { f32: epsilon }, { f32: weightDecay }, { f32: log(beta1) }, { f32: log(beta2) }, { f32: optimizer === undefined ? 0 : 1 },
  ]);
}
