/** One thread's share of the engine, whatever it runs on: takes commands one after the other, answers each. */
import './runtime.ts';
import { EngineError } from '../engine.ts';
import { Decoder } from './decoding.ts';
import { uploadWeights, type Resident } from './model.ts';
import { Programs } from './programs.ts';
import type { Commands, FromWorker, Kind, Results, ToWorker, WeightsName } from './protocol.ts';
import { score } from './scoring.ts';
import { backward } from './training.ts';

interface Loaded {
  readonly programs: Programs;
  readonly decoder: Decoder;
  readonly weights: Map<WeightsName, Resident>;
}

export class EngineWorker {
  private loaded: Loaded | undefined;
  private readonly cancelled = new Set<number>();
  private queue = Promise.resolve();

  constructor(private readonly reply: (message: FromWorker) => void) {}

  /** Functions traced since the last `load`; see `Programs`. */
  get traces(): number {
    return this.loaded?.programs.traces ?? 0;
  }

  receive(message: ToWorker): void {
    if (message.kind === 'cancel') {
      this.cancelled.add(message.id);
      return;
    }
    const { id } = message;
    this.queue = this.queue
      .then(() => this.carryOut(message))
      .then(
        (result) => { this.reply({ kind: 'done', id, result }); },
        (error: unknown) => { this.reply({ kind: 'failed', id, ...described(error) }); },
      )
      .then(() => { this.cancelled.delete(id); });
  }

  private carryOut(message: Exclude<ToWorker, { kind: 'cancel' }>): Results[Kind] | Promise<Results[Kind]> {
    switch (message.kind) {
      case 'load': this.load(message); return undefined;
      case 'weights': this.setWeights(message); return undefined;
      case 'continue': return this.continue(message.id, message);
      case 'score': {
        const { name, chunks, temperature, alternatives } = message;
        return score(this.mustBeLoaded().programs, this.weights(name), chunks, temperature, alternatives);
      }
      case 'backward': {
        const { chunks, objective, temperature } = message;
        return backward(this.mustBeLoaded().programs, this.weights('policy'), chunks, objective, temperature);
      }
    }
  }

  private load({ config, suppressTokens }: Commands['load']): void {
    for (const { device } of this.loaded?.weights.values() ?? []) for (const array of device) array.dispose();
    const programs = new Programs(config, suppressTokens);
    this.loaded = { programs, decoder: new Decoder(programs), weights: new Map() };
  }

  private setWeights({ name, weights }: Commands['weights']): void {
    const { programs, decoder, weights: all } = this.mustBeLoaded();
    for (const array of all.get(name)?.device ?? []) array.dispose();
    all.set(name, { host: weights, device: uploadWeights(programs.config, weights) });
    if (name === 'policy') decoder.forget();
  }

  private async continue(id: number, { request }: Commands['continue']): Promise<Results['continue']> {
    const { decoder } = this.mustBeLoaded();
    const weights = this.weights('policy');
    // A turn of the event loop between two tokens lets a `cancel` in. Timers would cost milliseconds.
    const { port1, port2 } = new MessageChannel();
    const proceed = (): Promise<boolean> =>
      new Promise((resolve) => {
        port1.onmessage = () => { resolve(!this.cancelled.has(id)); };
        port2.postMessage(null);
      });
    try {
      return await decoder.continue(weights, request, proceed);
    } finally {
      port1.close();
    }
  }

  private mustBeLoaded(): Loaded {
    if (this.loaded === undefined) throw new EngineError('no policy is loaded', 'invalid');
    return this.loaded;
  }

  private weights(name: WeightsName): Resident {
    const weights = this.mustBeLoaded().weights.get(name);
    if (weights === undefined) throw new EngineError(`the ${name} has no weights`, 'invalid');
    return weights;
  }
}

function described(error: unknown): { message: string; code: EngineError['code'] } {
  if (error instanceof EngineError) return { message: error.message, code: error.code };
  return { message: error instanceof Error ? error.message : String(error), code: 'internal' };
}
