import { describe, expect, it } from 'vitest';
import { acquireDevice, describeAdapter } from './device.ts';
import { decayedBlocks, fromGpu, gpuModel, toGpu } from './layout.ts';
import { createNodeGpu } from './node.node.ts';
import { oddConfig, randomCheckpoint } from './testing.node.ts';

/** A `navigator.gpu` of which only `requestAdapter` is ever called. */
function gpuWith(requestAdapter: () => Promise<GPUAdapter | null>): GPU {
  return { requestAdapter } as unknown as GPU;
}

describe('finding a device', () => {
  it('tells the ways of having none apart', async () => {
    expect(await acquireDevice(undefined, false)).toMatchObject({ ok: false, reason: 'insecure-context' });
    expect(await acquireDevice(undefined, true)).toMatchObject({ ok: false, reason: 'no-webgpu' });
    expect(await acquireDevice(gpuWith(() => Promise.resolve(null)), true)).toMatchObject({ ok: false, reason: 'no-adapter' });
    const blocked = await acquireDevice(gpuWith(() => Promise.reject(new Error('WebGPU is disabled by blocklist'))), true);
    expect(blocked).toMatchObject({ ok: false, reason: 'request-failed', message: expect.stringContaining('blocklist') as string });
  });

  it('finds the software adapter here, and says that it is one', async () => {
    const found = await acquireDevice(createNodeGpu());
    if (!found.ok) throw new Error(found.message);
    expect(found.software).toBe(true);
    expect(found.adapter).not.toBe('');
    // Eight storage buffers are all that any kernel may use.
    expect(found.device.limits.maxStorageBuffersPerShaderStage).toBe(8);
    found.device.destroy();
  });

  it('knows emulated adapters by name where the browser does not say', () => {
    const info = (words: Partial<GPUAdapterInfo>): GPUAdapterInfo => ({ vendor: '', architecture: '', device: '', description: '', ...words }) as GPUAdapterInfo;
    expect(describeAdapter(info({ vendor: 'google', architecture: 'swiftshader' }))).toEqual({ adapter: 'google swiftshader', software: true });
    expect(describeAdapter(info({ description: 'Microsoft Basic Render Driver' })).software).toBe(true);
    expect(describeAdapter(info({ vendor: 'apple', architecture: 'metal-3' }))).toEqual({ adapter: 'apple metal-3', software: false });
  });
});

describe('the layout on the GPU', () => {
  it.each([
    oddConfig(), oddConfig({ tie_word_embeddings: false, head_dim: 2 }), oddConfig({ hidden_size: 64, head_dim: 16, intermediate_size: 128, vocab_size: 112 }),
  ])('keeps every weight, in its own place, with zeros between', (config) => {
    const model = gpuModel(config);
    const { weights } = randomCheckpoint(config);
    const padded = toGpu(model, weights);
    expect(fromGpu(model, padded)).toEqual(weights);
    expect(padded.filter((x) => x !== 0)).toHaveLength(weights.filter((x) => x !== 0).length);
  });

  it('decays matrices and no gain', () => {
    const model = gpuModel(oddConfig());
    const blocks = decayedBlocks(model);
    const { embedding, norm, layers: [layer] } = model;
    expect(layer && [embedding, layer.qkv, layer.down].map(({ offset }) => blocks[offset / 64])).toEqual([1, 1, 1]);
    expect(layer && [norm, layer.inputNorm, layer.postNorm].map(({ offset }) => blocks[offset / 64])).toEqual([0, 0, 0]);
  });
});
