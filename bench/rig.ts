/** Everything that is measured, behind functions of plain data: the same in a page and in Node. */
import type { PolicyFiles } from '../src/policy/checkpoint.ts';
import { createCpuEngine } from '../src/policy/cpu/engine.ts';
import type { Spawn } from '../src/policy/cpu/protocol.ts';
import type { PolicyEngine } from '../src/policy/engine.ts';
import { acquireDevice } from '../src/policy/webgpu/device.ts';
import { createWebGpuEngine } from '../src/policy/webgpu/engine.ts';
import type { Shaders } from '../src/policy/webgpu/gpu.ts';
import type { Python } from '../src/tools/python/python.ts';
import { count, submitsWithoutReading, type Calls } from './calls.ts';
import type { Decoder, Trainer } from './contender.ts';
import { measureLoop, measurePython, type LoopReport, type PythonReport } from './loop.ts';
import { measureMatmul, type MatmulReport } from './matmul.ts';
import { ourDecoder, ourTrainer } from './ours.ts';
import { jaxDecoder, jaxTrainer } from './peers/jax.ts';
import { tfjsTrainer } from './peers/tfjs.ts';
import { batchOf, beginningsOf, type Work } from './work.ts';

export type Name = 'webgpu' | 'cpu' | 'jax-js webgpu' | 'jax-js wasm' | 'TensorFlow.js webgpu';

/** What differs between a page and Node. */
export interface Surroundings {
  readonly gpu: GPU | undefined;
  readonly shaders: Shaders;
  readonly spawn: Spawn;
  python(): Python;
  model(): Promise<PolicyFiles>;
}

export interface Burst {
  readonly seconds: number;
  readonly losses: readonly number[];
}

export interface DecodingBurst {
  readonly seconds: number;
  readonly tokens: readonly (readonly number[])[];
}

export interface Rig {
  adapter(): Promise<{ readonly adapter: string; readonly software: boolean }>;
  /** Makes a contender and its first step, which compiles. */
  startTrainer(name: Name, work: Work): Promise<Burst>;
  /** So many steps more, each on a batch of its own. */
  train(name: Name, steps: number): Promise<Burst>;
  startDecoder(name: Name, work: Work, rows: number): Promise<DecodingBurst>;
  decode(name: Name, rows: number): Promise<DecodingBurst>;
  stop(name: Name): Promise<void>;
  /** Of one step of a trainer that has been started; and whether the step after it waits for its readback. */
  calls(name: Name): Promise<Calls & { readonly awaited: number }>;
  matmul(cube: number, work: Work): Promise<MatmulReport>;
  loop(name: 'webgpu' | 'cpu', steps: number): Promise<LoopReport>;
  python(): Promise<PythonReport>;
}

export function createRig(here: Surroundings): Rig {
  const trainers = new Map<Name, { readonly trainer: Trainer; readonly work: Work; step: number }>();
  const decoders = new Map<Name, { readonly decoder: Decoder; readonly work: Work }>();

  async function device(): Promise<{ device: GPUDevice; info: GPUAdapterInfo; adapter: string; software: boolean }> {
    const acquired = await acquireDevice(here.gpu, true);
    if (!acquired.ok) throw new Error(acquired.message);
    return acquired;
  }
  async function engineOf(name: 'webgpu' | 'cpu'): Promise<PolicyEngine> {
    if (name === 'cpu') return createCpuEngine({ spawn: here.spawn });
    const acquired = await device();
    return createWebGpuEngine({ device: acquired.device, adapterInfo: acquired.info, shaders: here.shaders });
  }
  async function trainerOf(name: Name, work: Work): Promise<Trainer> {
    switch (name) {
      case 'webgpu':
      case 'cpu': return ourTrainer(await engineOf(name), work);
      case 'jax-js webgpu': return jaxTrainer('webgpu', work);
      case 'jax-js wasm': return jaxTrainer('wasm', work);
      case 'TensorFlow.js webgpu': return tfjsTrainer('webgpu', work);
    }
  }
  async function decoderOf(name: Name, work: Work): Promise<Decoder> {
    switch (name) {
      case 'webgpu':
      case 'cpu': return ourDecoder(await engineOf(name), work);
      case 'jax-js webgpu': return jaxDecoder('webgpu', work);
      case 'jax-js wasm': return jaxDecoder('wasm', work);
      case 'TensorFlow.js webgpu': throw new Error('no decoder was written for TensorFlow.js');
    }
  }
  async function timed<T>(work: () => Promise<T>): Promise<{ seconds: number; result: T }> {
    const began = performance.now();
    const result = await work();
    return { seconds: (performance.now() - began) / 1000, result };
  }
  const trainer = (name: Name) => {
    const running = trainers.get(name);
    if (running === undefined) throw new Error(`${name} was not started`);
    return running;
  };

  const rig: Rig = {
    async adapter() {
      const { device: acquired, adapter, software } = await device();
      acquired.destroy();
      return { adapter, software };
    },
    async startTrainer(name, work) {
      trainers.set(name, { trainer: await trainerOf(name, work), work, step: 0 });
      return rig.train(name, 1);
    },
    async train(name, steps) {
      const running = trainer(name);
      const batches = Array.from({ length: steps }, (_, i) => batchOf(running.work, running.step + i));
      running.step += steps;
      const { seconds, result } = await timed(() => running.trainer.train(batches));
      return { seconds, losses: result };
    },
    async startDecoder(name, work, rows) {
      decoders.set(name, { decoder: await decoderOf(name, work), work });
      return rig.decode(name, rows);
    },
    async decode(name, rows) {
      const running = decoders.get(name);
      if (running === undefined) throw new Error(`${name} was not started`);
      const { seconds, result } = await timed(() => running.decoder.decode(beginningsOf(running.work, rows), running.work.length));
      return { seconds, tokens: result };
    },
    stop(name) {
      trainers.get(name)?.trainer.dispose();
      decoders.get(name)?.decoder.dispose();
      trainers.delete(name);
      decoders.delete(name);
      return Promise.resolve();
    },
    async calls(name) {
      const calls = await count(() => rig.train(name, 1));
      const ahead = await submitsWithoutReading(() => rig.train(name, 2), calls.submits);
      return { ...calls, awaited: ahead ? 0 : calls.readbacks };
    },
    async matmul(cube, { rows, length, width, intermediate, vocab }) {
      const acquired = await device();
      const report = await measureMatmul(acquired.device, here.shaders, acquired.software, cube, rows * length, width, intermediate, vocab);
      acquired.device.destroy();
      return report;
    },
    async loop(name, steps) {
      const [engine, python] = [await engineOf(name), here.python()];
      try {
        return await measureLoop(engine, python, await here.model(), steps);
      } finally {
        engine.dispose();
        python.dispose();
      }
    },
    async python() {
      const python = here.python();
      try {
        return await measurePython(python);
      } finally {
        python.dispose();
      }
    },
  };
  return rig;
}
