/**
 * The policy engine on the processor: jax-js in threads of our own. This is the front: it owns the weights and
 * AdamW, shares rows out among the threads and adds their gradients up. It computes nothing of the transformer.
 */
import { parameterLayout, type ParameterLayout, type PolicyConfig } from '../config.ts';
import {
  checkTokens, EngineError,
  type AdamW, type Checkpoint, type EngineInfo, type GradientReport, type PolicyEngine, type SampleRequest,
  type SampleResult, type ScoreRequest, type Snapshot, type TokenScores, type UpdateReport, type UpdateRequest, type UpdateTokens,
} from '../engine.ts';
import { adamW, globalNorm, type Moments } from './adamw.ts';
import { share, unshare } from './chunks.ts';
import type { Commands, FromWorker, Kind, Results, Spawn, ToWorker, WeightsName, WorkerHandle } from './protocol.ts';

export interface CpuEngineOptions {
  readonly spawn: Spawn;
  /** Threads; half of the batch each. Default: 2. The same number gives the same weights from the same seed. */
  readonly workers?: number;
}

export function createCpuEngine({ spawn, workers = 2 }: CpuEngineOptions): PolicyEngine {
  return new CpuEngine(Array.from({ length: workers }, () => new Thread(spawn())));
}

interface Pending {
  readonly resolve: (result: Results[Kind]) => void;
  readonly reject: (error: EngineError) => void;
}

/** One worker: calls become promises. */
class Thread {
  private readonly pending = new Map<number, Pending>();
  private nextId = 0;
  private ended: EngineError | undefined;

  constructor(private readonly handle: WorkerHandle) {
    handle.listen(
      (message) => { this.settle(message); },
      (error) => { this.end(new EngineError(`a thread of the engine ended: ${error.message}`, 'lost', { cause: error })); },
    );
  }

  /** @param signal ends a `continue` early. */
  call<K extends Kind>(kind: K, command: Commands[K], signal?: AbortSignal): Promise<Results[K]> {
    const { ended } = this;
    if (ended !== undefined) return Promise.reject(ended);
    const id = this.nextId++;
    const cancel = (): void => { this.handle.post({ kind: 'cancel', id }); };
    signal?.addEventListener('abort', cancel);
    return new Promise<Results[Kind]>((resolve, reject) => {
      this.pending.set(id, { resolve, reject });
      this.handle.post({ kind, id, ...command } as ToWorker);
    }).finally(() => { signal?.removeEventListener('abort', cancel); }) as Promise<Results[K]>;
  }

  end(reason: EngineError): void {
    if (this.ended !== undefined) return;
    this.ended = reason;
    for (const { reject } of this.pending.values()) reject(reason);
    this.pending.clear();
    this.handle.terminate();
  }

  private settle(message: FromWorker): void {
    const call = this.pending.get(message.id);
    this.pending.delete(message.id);
    if (message.kind === 'done') call?.resolve(message.result);
    else call?.reject(new EngineError(message.message, message.code));
  }
}

/** What the front holds of a loaded policy. */
interface Policy {
  readonly config: PolicyConfig;
  readonly layout: ParameterLayout;
  readonly suppressTokens: readonly number[];
  readonly weights: Float32Array;
  readonly moments: Moments;
  reference: Float32Array | undefined;
  /** The threads hold the reference. */
  referenceSent: boolean;
}

class CpuEngine implements PolicyEngine {
  readonly info: EngineInfo;
  private policy: Policy | undefined;
  private disposed: EngineError | undefined;
  /** Which thread keeps the keys and values of a stream. */
  private homes = new Map<number, number>();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly threads: readonly Thread[]) {
    this.info = {
      kind: 'cpu',
      adapter: `CPU (WebAssembly), ${threads.length} ${threads.length === 1 ? 'worker' : 'workers'}`,
      software: false,
    };
  }

  get config(): PolicyConfig | undefined {
    return this.policy?.config;
  }

  load({ config, weights, optimizer, suppressTokens }: Checkpoint): Promise<void> {
    return this.inTurn(async () => {
      const layout = parameterLayout(config);
      for (const [name, array] of [['weights', weights], ['m', optimizer?.m], ['v', optimizer?.v]] as const) {
        if (array !== undefined && array.length !== layout.size) {
          throw new EngineError(`the checkpoint's ${name} hold ${array.length} numbers; the configuration has ${layout.size}`, 'invalid');
        }
      }
      const policy: Policy = {
        config, layout, suppressTokens,
        weights: weights.slice(),
        moments: {
          step: optimizer?.step ?? 0,
          m: optimizer?.m.slice() ?? new Float32Array(layout.size),
          v: optimizer?.v.slice() ?? new Float32Array(layout.size),
        },
        reference: undefined,
        referenceSent: false,
      };
      this.policy = undefined;
      await this.everyThread('load', { config, suppressTokens });
      await this.send('policy', policy.weights);
      this.policy = policy;
    });
  }

  snapshot(): Promise<Snapshot> {
    return this.inTurn(() => {
      const { config, suppressTokens, weights, moments } = this.loaded();
      const optimizer = { step: moments.step, m: moments.m.slice(), v: moments.v.slice() };
      return { config, suppressTokens, weights: weights.slice(), optimizer };
    });
  }

  continue(request: SampleRequest): Promise<SampleResult> {
    return this.inTurn(async () => {
      const { config } = this.loaded();
      const { signal, ...rest } = request;
      signal?.throwIfAborted();
      checkTokens(config, rest.rows.map((row) => row.tokens));
      if (rest.maxLength > config.max_position_embeddings) {
        throw new EngineError(`maxLength ${rest.maxLength} is beyond the ${config.max_position_embeddings} positions of the policy`, 'invalid');
      }
      if (!(rest.temperature >= 0)) throw new EngineError(`temperature ${rest.temperature} is below 0`, 'invalid');
      const homes = this.assign(rest.rows.map((row) => row.stream));
      const results = await this.settled(this.threads.map(async (thread, t) => {
        const rows = rest.rows.filter((_, i) => homes[i] === t);
        return rows.length === 0 ? [] : thread.call('continue', { request: { ...rest, rows } }, signal);
      }));
      signal?.throwIfAborted();
      const next = results.map((rows) => (rows ?? [])[Symbol.iterator]());
      return {
        rows: homes.map((home) => {
          const row = next[home]?.next().value;
          if (row === undefined) throw new EngineError('a thread lost a row', 'internal');
          return row;
        }),
      };
    });
  }

  score({ rows, temperature, weights = 'policy', alternatives = 0 }: ScoreRequest): Promise<readonly TokenScores[]> {
    return this.inTurn(async () => {
      const policy = this.loaded();
      this.checkLaw(policy.config, rows, temperature);
      if (weights === 'reference' && !policy.referenceSent) {
        if (policy.reference === undefined) throw new EngineError('no reference is held', 'invalid');
        await this.send('reference', policy.reference);
        policy.referenceSent = true;
      }
      const shares = share(policy.config, rows, (row) => row.length - 1, this.threads.length);
      const results = await this.settled(shares.map(async ({ chunks }, t) =>
        this.thread(t).call('score', { name: weights, chunks, temperature, alternatives })));
      return unshare(shares, results);
    });
  }

  holdReference(weights?: Float32Array): Promise<void> {
    return this.inTurn(() => {
      const policy = this.loaded();
      const held = weights ?? policy.weights;
      if (held.length !== policy.layout.size) throw new EngineError(`the reference has ${held.length} weights; the policy has ${policy.layout.size}`, 'invalid');
      policy.reference = held.slice();
      policy.referenceSent = false;
    });
  }

  gradients(request: UpdateRequest): Promise<GradientReport> {
    return this.inTurn(async () => {
      const { gradient, ...report } = await this.backward(request);
      return { ...report, gradient, skipped: report.skipped ?? 'not-requested' };
    });
  }

  update(request: UpdateRequest, optimizer: AdamW): Promise<UpdateReport> {
    return this.inTurn(async () => {
      const { layout, weights, moments } = this.loaded();
      const { gradient, ...report } = await this.backward(request);
      if (report.skipped !== undefined) return report;
      adamW(layout, weights, gradient, moments, report.gradNorm, optimizer);
      await this.send('policy', weights);
      return { ...report, applied: true };
    });
  }

  dispose(): void {
    this.disposed ??= new EngineError('the engine was disposed', 'disposed');
    for (const thread of this.threads) thread.end(this.disposed);
  }

  private async backward({ rows, objective, temperature }: UpdateRequest): Promise<GradientReport> {
    const { config, layout } = this.loaded();
    this.checkLaw(config, rows.map((row) => row.tokens), temperature);
    for (const [i, row] of rows.entries()) {
      const { tokens, weights, advantages, oldLogProbs, referenceLogProbs } = row;
      for (const array of [weights, advantages, oldLogProbs, referenceLogProbs]) {
        if (array !== undefined && array.length !== tokens.length) throw new EngineError(`row ${i}: arrays of different lengths`, 'invalid');
      }
      if (objective.kind !== 'grpo') continue;
      if (!advantages || !oldLogProbs) throw new EngineError(`row ${i} lacks advantages or old log-probabilities`, 'invalid');
      if (objective.beta !== 0 && !referenceLogProbs) throw new EngineError(`row ${i} lacks log-probabilities of the reference`, 'invalid');
    }
    const trainable = rows.some((row) => row.weights.some((w, t) => t > 0 && w !== 0));
    const shares = share(config, rows, (row) => row.tokens.length - 1, this.threads.length);
    const results = await this.settled(shares.map(async ({ chunks }, t) =>
      this.thread(t).call('backward', { chunks, objective, temperature })));
    // In the order of the threads: the same sum at every run.
    const gradient = new Float32Array(layout.size);
    let loss = 0;
    for (const result of results) {
      loss += result.loss;
      for (let i = 0; i < gradient.length; i++) gradient[i] = (gradient[i] ?? 0) + (result.gradient[i] ?? 0);
    }
    const gradNorm = globalNorm(gradient);
    const skipped = !trainable ? 'no-trainable-token' : Number.isFinite(gradNorm) ? undefined : 'non-finite';
    return {
      loss, gradNorm, gradient, applied: false,
      rows: unshare<unknown, UpdateTokens>(shares, results.map((result) => result.rows)),
      ...(skipped === undefined ? {} : { skipped }),
    };
  }

  /** A stream stays where its keys and values are, unless that thread has more than its share; new ones follow in blocks. */
  private assign(streams: readonly number[]): number[] {
    const quota = Math.ceil(streams.length / this.threads.length);
    const load = this.threads.map(() => 0);
    const take = (t: number): number => {
      load[t] = (load[t] ?? 0) + 1;
      return t;
    };
    const kept = streams.map((stream) => {
      const home = this.homes.get(stream);
      return home !== undefined && (load[home] ?? 0) < quota ? take(home) : undefined;
    });
    const assigned = kept.map((home) => home ?? take(load.findIndex((count) => count < quota)));
    this.homes = new Map(streams.map((stream, i) => [stream, assigned[i] ?? 0]));
    return assigned;
  }

  private checkLaw(config: PolicyConfig, rows: readonly Uint32Array[], temperature: number): void {
    checkTokens(config, rows);
    if (!(temperature > 0)) throw new EngineError(`temperature ${temperature} is not above 0`, 'invalid');
  }

  private async send(name: WeightsName, weights: Float32Array): Promise<void> {
    await this.everyThread('weights', { name, weights });
  }

  private everyThread<K extends Kind>(kind: K, command: Commands[K]): Promise<Results[K][]> {
    return this.settled(this.threads.map((thread) => thread.call(kind, command)));
  }

  /** All results, once every thread has finished: one that fails does not leave another at work. */
  private async settled<T>(calls: readonly Promise<T>[]): Promise<T[]> {
    await Promise.allSettled(calls);
    return Promise.all(calls);
  }

  private thread(index: number): Thread {
    const thread = this.threads[index];
    if (thread === undefined) throw new RangeError(`no thread ${index}`);
    return thread;
  }

  private loaded(): Policy {
    if (this.policy === undefined) throw new EngineError('no policy is loaded', 'invalid');
    return this.policy;
  }

  /** Runs calls one after the other, in the order in which they were made. */
  private inTurn<T>(call: () => T | Promise<T>): Promise<T> {
    const turn = this.queue.then(() => {
      if (this.disposed !== undefined) throw this.disposed;
      return call();
    });
    this.queue = turn.catch(() => undefined);
    return turn;
  }
}
