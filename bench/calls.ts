/** Counts what a step asks of WebGPU, whoever makes it: by hooks in the prototypes, so that libraries are counted alike. */

export interface Calls {
  readonly submits: number;
  readonly dispatches: number;
  readonly buffers: number;
  readonly bindGroups: number;
  readonly pipelines: number;
  readonly readbacks: number;
}

interface Hooked {
  readonly counts: { -readonly [K in keyof Calls]: number };
  /** Called at each submit. */
  onSubmit: (() => void) | undefined;
  /** Readbacks wait for this before they resolve. */
  gate: Promise<void> | undefined;
}

type Method = (this: object, ...args: unknown[]) => unknown;

let hooked: Hooked | undefined;

/** Hooks once; from then on everything is counted. Needs the classes of WebGPU as globals. */
export function hook(): Hooked {
  if (hooked !== undefined) return hooked;
  const state: Hooked = { counts: { submits: 0, dispatches: 0, buffers: 0, bindGroups: 0, pipelines: 0, readbacks: 0 }, onSubmit: undefined, gate: undefined };
  const wrap = (owner: object, method: string, name: keyof Calls, after?: (result: unknown) => unknown): void => {
    const target = owner as Record<string, Method>;
    const original = target[method];
    if (original === undefined) return;
    target[method] = function wrapped(...args) {
      state.counts[name]++;
      const result = original.apply(this, args);
      return after === undefined ? result : after(result);
    };
  };
  wrap(GPUQueue.prototype, 'submit', 'submits', (result) => {
    state.onSubmit?.();
    return result;
  });
  wrap(GPUComputePassEncoder.prototype, 'dispatchWorkgroups', 'dispatches');
  wrap(GPUComputePassEncoder.prototype, 'dispatchWorkgroupsIndirect', 'dispatches');
  wrap(GPUDevice.prototype, 'createBuffer', 'buffers');
  wrap(GPUDevice.prototype, 'createBindGroup', 'bindGroups');
  wrap(GPUDevice.prototype, 'createComputePipeline', 'pipelines');
  wrap(GPUDevice.prototype, 'createComputePipelineAsync', 'pipelines');
  wrap(GPUBuffer.prototype, 'mapAsync', 'readbacks', async (mapped) => {
    await mapped;
    await state.gate;
  });
  return (hooked = state);
}

/** What `work` asks for. */
export async function count(work: () => Promise<unknown>): Promise<Calls> {
  const { counts } = hook();
  const before = { ...counts };
  await work();
  return Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, n - before[name as keyof Calls]])) as unknown as Calls;
}

/** How long a submission is waited for that comes at once or never. */
const PATIENCE = 1500;

/**
 * Whether the second of two steps, queued together, is submitted before anything of the first has been read back:
 * readbacks are held until it is, or until patience ends.
 */
export async function submitsWithoutReading(twoSteps: () => Promise<unknown>, submitsPerStep: number): Promise<boolean> {
  const state = hook();
  let seen = 0;
  let release: () => void = () => undefined;
  state.gate = new Promise((resolve) => { release = resolve; });
  const outcome = new Promise<boolean>((resolve) => {
    const timer = setTimeout(() => { resolve(false); }, PATIENCE);
    state.onSubmit = () => {
      seen++;
      if (seen <= submitsPerStep) return;
      clearTimeout(timer);
      resolve(true);
    };
  });
  const done = twoSteps();
  const ahead = await outcome;
  state.onSubmit = undefined;
  state.gate = undefined;
  release();
  await done;
  return ahead;
}
