/** No claim of speed without this: at a tiny size the peers compute what ours does, step by step and token by token. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawnInNode } from '../src/policy/cpu/spawn.node.ts';
import { createCpuEngine } from '../src/policy/cpu/engine.ts';
import { ourDecoder, ourTrainer } from './ours.ts';
import './peers/node.node.ts';
import { jaxDecoder, jaxTrainer } from './peers/jax.ts';
import { tfjsTrainer } from './peers/tfjs.ts';
import { batchOf, beginningsOf, TINY } from './work.ts';

const STEPS = 6;
const batches = Array.from({ length: STEPS }, (_, i) => batchOf(TINY, i));
const engine = createCpuEngine({ spawn: spawnInNode });
let expected: number[] = [];

beforeAll(async () => {
  const ours = await ourTrainer(engine, TINY);
  expected = await ours.train(batches);
});
afterAll(() => {
  engine.dispose();
});

describe('the peers', () => {
  it('have something to learn', () => {
    expect(expected.at(-1)).toBeLessThan((expected[0] ?? NaN) - 0.05);
  });

  it.each([
    ['jax-js', () => jaxTrainer('wasm', TINY)],
    ['TensorFlow.js', () => tfjsTrainer('cpu', TINY)],
  ])('%s: its loss falls as ours does', async (_, make) => {
    const peer = await make();
    const losses = await peer.train(batches);
    for (const [i, loss] of losses.entries()) expect(loss).toBeCloseTo(expected[i] ?? NaN, 4);
    expect(losses).toHaveLength(STEPS);
    peer.dispose();
  });

  it('jax-js decodes the tokens that ours decodes', async () => {
    const rows = beginningsOf(TINY, 5);
    const ours = await (await ourDecoder(engine, TINY)).decode(rows, TINY.length);
    const peer = await jaxDecoder('wasm', TINY);
    expect(await peer.decode(rows, TINY.length)).toEqual(ours);
    expect(new Set(ours.map((row) => row.join())).size).toBeGreaterThan(1);
    peer.dispose();
  });
});
