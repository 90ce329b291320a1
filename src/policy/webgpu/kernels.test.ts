/** Every kernel against float64, at sizes that fit no tile and at sizes that fit all, at default limits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Random, samplingUniform } from '../random.ts';
import { referenceDraw, referenceLaw } from '../reference.ts';
import { createWebGpuEngine } from './engine.ts';
import { Gpu, packWords, unroll, type Bindable, type Dispatch, type Tuning, type Word } from './gpu.ts';
import { Kernels, type KernelName, type Product } from './kernels.ts';
import { SELF_TEST_REFERENCE } from './self-test-reference.ts';
import { computeSelfTestReference } from './self-test.node.ts';
import { runSelfTest } from './self-test.ts';
import { shaders } from './shaders.node.ts';
import { relativeError, testDevice } from './testing.node.ts';

const SOFTWARE: Tuning = { matmul: 'registers', lanes: 1 };
const SHARED: Tuning = { matmul: 'tiled', lanes: 32 };
const TOLERANCE = 2e-6;

let made: Awaited<ReturnType<typeof testDevice>>;
let gpu: Gpu;
let kernels: Record<'registers' | 'tiled', Kernels>;

beforeAll(async () => {
  made = await testDevice();
  gpu = new Gpu(made.device, shaders);
  const [registers, tiled] = await Promise.all([Kernels.compile(gpu, SOFTWARE, 2), Kernels.compile(gpu, SHARED, 2)]);
  kernels = { registers, tiled };
});
afterAll(() => {
  gpu.check();
  gpu.device.destroy();
});

const both = ['registers', 'tiled'] as const;
const TOKENS = [1, 31, 33, 127, 500, 535, 1024];

type Numbers = Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

function normals(length: number, seed = 1): Float32Array<ArrayBuffer> {
  const random = new Random(seed);
  return Float32Array.from({ length }, () => random.normal());
}

function upload(data: Numbers): GPUBuffer {
  const buffer = gpu.storage('data', data.byteLength);
  gpu.device.queue.writeBuffer(buffer, 0, data);
  return buffer;
}

/** Rows past the last token hold NaN: a kernel that reads them shows it. */
function padded(data: Float32Array<ArrayBuffer>, columns: number): GPUBuffer {
  const all = new Float32Array(data.length + 70 * columns).fill(NaN);
  all.set(data);
  return upload(all);
}

function batch(items: number, { split = 0, objective = 0, alternatives = 0, temperature = 1, low = 0.2, high = 0.3, beta = 0.1 } = {}): Bindable {
  return gpu.uniform('batch', [items, split, objective, alternatives, { f32: temperature }, { f32: low }, { f32: high }, { f32: beta }]);
}

async function run(dispatch: Dispatch | Dispatch[], items: number, ...outputs: GPUBuffer[]): Promise<Float32Array[]> {
  const encoder = gpu.device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  gpu.encode(pass, Array.isArray(dispatch) ? dispatch : [dispatch], items);
  pass.end();
  gpu.submit(encoder);
  return gpu.download(...outputs);
}

function words(numbers: readonly Word[]): Uint32Array<ArrayBuffer> {
  return new Uint32Array(packWords(numbers)).slice(0, numbers.length);
}

/** Items of rows of these lengths; `ask` gives goal, flags, weight, advantage, old and reference of each. */
function itemsOf(lengths: readonly number[], ask: (item: number) => readonly Word[] = () => []): GPUBuffer {
  const all: number[] = [];
  let first = 0;
  for (const length of lengths) {
    for (let t = 0; t < length; t++) {
      const asked = words(ask(first + t));
      all.push(first + t, t, first, first + length, ...asked, ...Array<number>(8 - asked.length).fill(0));
    }
    first += length;
  }
  return upload(Uint32Array.from(all));
}

const at = (x: ArrayLike<number>, i: number): number => x[i] ?? NaN;
const sum = (count: number, term: (i: number) => number): number => {
  let total = 0;
  for (let i = 0; i < count; i++) total += term(i);
  return total;
};

describe.each(both)('matrix products, %s', (variant) => {
  const shapes = [...TOKENS.map((tokens) => [tokens, 36, 20] as const), [64, 64, 64] as const, [65, 4, 4] as const];

  it.each(shapes)('Y = X Wᵀ, dX = dY W, dW = dYᵀ X for %i tokens, %i out, %i in', async (tokens, out, inner) => {
    const x = normals(tokens * inner, 1);
    const w = normals(out * inner, 2);
    const dy = normals(tokens * out, 3);
    const k = kernels[variant];
    const product = async (kind: Product, rows: number, columns: number, length: number, a: Float32Array<ArrayBuffer>, b: Float32Array<ArrayBuffer>) => {
      const splits = kind === 'weight' ? 3 : 1;
      const y = gpu.storage('y', 4 * rows * columns * splits);
      const shape = { rows, columns, sum: length, splits, stride: rows * columns };
      const widthA = kind === 'weight' ? rows : length;
      const dispatch = k.product(kind, shape, {
        batch: batch(tokens, { split: Math.ceil(tokens / 3 / 4) * 4 }), a: padded(a, widthA),
        b: kind === 'weight' ? padded(b, columns) : upload(b), y,
      });
      const [result = new Float32Array(0)] = await run(dispatch, tokens, y);
      return Float64Array.from({ length: rows * columns }, (_, i) => sum(splits, (s) => at(result, s * rows * columns + i)));
    };
    const forward = await product('forward', tokens, out, inner, x, w);
    expect(relativeError(forward, Float64Array.from(forward, (_, i) =>
      sum(inner, (p) => at(x, Math.floor(i / out) * inner + p) * at(w, (i % out) * inner + p))))).toBeLessThan(TOLERANCE);
    const dx = await product('input', tokens, inner, out, dy, w);
    expect(relativeError(dx, Float64Array.from(dx, (_, i) =>
      sum(out, (p) => at(dy, Math.floor(i / inner) * out + p) * at(w, p * inner + (i % inner)))))).toBeLessThan(TOLERANCE);
    const dw = await product('weight', out, inner, 0, dy, x);
    expect(relativeError(dw, Float64Array.from(dw, (_, i) =>
      sum(tokens, (p) => at(dy, p * out + Math.floor(i / inner)) * at(x, p * inner + (i % inner)))))).toBeLessThan(TOLERANCE);
  });

  it('adds a residual, normalises, ends in SwiGLU, and takes parts of a batch', async () => {
    const [tokens, out, inner, size] = [37, 24, 12, 10];
    const x = normals(tokens * inner, 1).map((v, i) => (i % inner < size ? v : 0));
    const w = normals(out * inner, 2);
    const gain = normals(inner, 3);
    const residual = normals(tokens * out, 4);
    const k = kernels[variant];
    const y = gpu.storage('y', 4 * tokens * out);
    const buffers = { batch: batch(tokens), a: upload(x), b: upload(w), y };
    const shape = { columns: out, sum: inner, size, epsilon: 1e-5 };
    const linear = (t: number, o: number, scaled: boolean): number => {
      const r = scaled ? 1 / Math.sqrt(sum(inner, (p) => at(x, t * inner + p) ** 2) / size + 1e-5) : 1;
      return r * sum(inner, (p) => at(x, t * inner + p) * (scaled ? at(gain, p) : 1) * at(w, o * inner + p));
    };
    const each = (columns: number, f: (t: number, o: number) => number) =>
      Float64Array.from({ length: tokens * columns }, (_, i) => f(Math.floor(i / columns), i % columns));

    const [added = []] = await run(k.product('forwardResidual', shape, { ...buffers, extra: upload(residual) }), tokens, y);
    expect(relativeError(added, each(out, (t, o) => linear(t, o, false) + at(residual, t * out + o)))).toBeLessThan(TOLERANCE);
    const [normed = []] = await run(k.product('forwardNorm', shape, { ...buffers, extra: upload(gain) }), tokens, y);
    expect(relativeError(normed, each(out, (t, o) => linear(t, o, true)))).toBeLessThan(TOLERANCE);
    const [glu = new Float32Array(0)] = await run(k.product('forwardNormSwiglu', shape, { ...buffers, extra: upload(gain) }), tokens, y);
    expect(relativeError(glu.slice(0, (tokens * out) / 2), each(out / 2, (t, o) => {
      const gate = linear(t, 2 * o, true);
      return (gate / (1 + Math.exp(-gate))) * linear(t, 2 * o + 1, true);
    }))).toBeLessThan(TOLERANCE);

    // Tokens 16 to 23 only, written to the start of y.
    const part = gpu.storage('part', 4 * tokens * out);
    const from = { buffer: upload(new Float32Array([...new Float32Array(64), ...x.slice(16 * inner)])), offset: 256, size: 4 * 21 * inner };
    const [some = new Float32Array(0)] = await run(
      k.product('forward', { ...shape, first: 16, most: 8 }, { ...buffers, a: from, y: part }), tokens, part,
    );
    expect(relativeError(some.slice(0, 8 * out), each(out, (t, o) => linear(t, o, false)).slice(16 * out, 24 * out))).toBeLessThan(TOLERANCE);
    expect(some.slice(8 * out).every((v) => v === 0)).toBe(true);
  });
});

describe.each(both)('row kernels, %s', (variant) => {
  it.each([[1, 12, 10], [33, 8, 8], [127, 132, 130]])('RMSNorm and its gradients for %i rows of %i (%i true columns)', async (rows, width, size) => {
    const k = kernels[variant];
    const x = normals(rows * width, 1).map((v, i) => (i % width < size ? v : 0));
    const gain = normals(width, 2).map((v, i) => (i < size ? v : 0));
    const dy = normals(rows * width, 3);
    const residual = normals(rows * width, 4);
    const [y, r, dx] = [gpu.storage('y', 4 * rows * width), gpu.storage('r', 4 * rows), gpu.storage('dx', 4 * rows * width)];
    const splits = 2;
    const grad = gpu.storage('grad', 4 * width * splits);
    const common = { batch: batch(rows, { split: Math.ceil(rows / splits / 4) * 4 }), x: upload(x), gain: upload(gain), dy: upload(dy), r };
    const dims: Word[] = [width / 4, { f32: size }];
    const [actualY = [], actualDx = [], actualGain = []] = await run([
      k.dispatch('rmsnorm', [...dims, { f32: 1e-5 }], { ...common, y }, { per: 1 }),
      k.dispatch('rmsnorm_grad', [...dims, 1], { ...common, residual: upload(residual), dx }, { per: 1 }),
      k.dispatch('gain_grad', [width / 4, width / 4, splits], { ...common, grad }, { fixed: (width / 4) * splits }),
    ], rows, y, dx, grad);
    const inverse = (t: number): number => 1 / Math.sqrt(sum(width, (i) => at(x, t * width + i) ** 2) / size + 1e-5);
    expect(relativeError(actualY.slice(0, rows * width), x.map((v, i) => v * inverse(Math.floor(i / width)) * at(gain, i % width)))).toBeLessThan(TOLERANCE);
    const along = (t: number): number => sum(width, (i) => at(gain, i) * at(dy, t * width + i) * at(x, t * width + i)) / size;
    expect(relativeError(actualDx.slice(0, rows * width), Float64Array.from(x, (v, i) => {
      const t = Math.floor(i / width);
      return at(residual, i) + inverse(t) * (at(gain, i % width) * at(dy, i) - v * inverse(t) ** 2 * along(t));
    }))).toBeLessThan(TOLERANCE);
    expect(relativeError(Array.from({ length: width }, (_, c) => at(actualGain, c) + at(actualGain, width + c)),
      Array.from({ length: width }, (_, c) => sum(rows, (t) => at(dy, t * width + c) * at(x, t * width + c) * inverse(t))))).toBeLessThan(TOLERANCE);
  });

  it.each([[1, 4, 3], [31, 24, 23], [66, 112, 112]])('loss, entropy and d logits for %i rows of %i (%i ids)', async (rows, width, vocab) => {
    const k = kernels[variant];
    const temperature = 0.7;
    const z = normals(rows * width, 5).map((v) => 3 * v);
    const banned = (id: number): boolean => id >= vocab || id === 1;
    const law = (t: number): number[] => referenceLaw(z.slice(t * width, (t + 1) * width), {
      temperature, banned: Array.from({ length: width }, (_, id) => id).filter(banned),
    });
    const goal = (t: number): number => (t * 7) % vocab === 1 ? 0 : (t * 7) % vocab;
    const logProb = (t: number): number => Math.log(at(law(t), goal(t)));
    const masked = (t: number): boolean => t % 4 === 3;
    const weight = (t: number): number => 0.1 + 0.01 * t;
    const advantage = (t: number): number => (t % 2 === 0 ? 1.5 : -0.5);
    // Ratios on both sides of the clip, and now and then past the clamp.
    const old = (t: number): number => logProb(t) + at([0.1, -0.5, 0.6, -0.1, 25], t % 5);
    const reference = (t: number): number => logProb(t) + at([1e-3, -0.4, 0.9], t % 3);
    const results = gpu.storage('results', 32 * rows);
    const items = itemsOf([rows], (t) => masked(t)
      ? [goal(t), 0, { f32: NaN }, { f32: NaN }, { f32: NaN }, { f32: NaN }]
      : [goal(t), 3, { f32: weight(t) }, { f32: advantage(t) }, { f32: old(t) }, { f32: reference(t) }]);
    const allowed = upload(Float32Array.from({ length: width }, (_, id) => (banned(id) ? 0 : 1)));
    for (const objective of [1, 2]) {
      const logits = upload(z);
      const [dz = [], out = []] = await run(
        k.dispatch('loss', [width / 4, 0, 0xffffffff], {
          batch: batch(rows, { objective, temperature }), items, allowed, logits, results,
        }, { per: 1 }), rows, logits, results,
      );
      for (let t = 0; t < rows; t++) {
        const ownZ = Array.from(dz.slice(t * width, (t + 1) * width));
        const [lp, entropy, ratio, kl, clipped, c, norm, loss] = out.slice(8 * t, 8 * t + 8);
        if (masked(t)) {
          expect(ownZ.every((d) => Object.is(d, 0))).toBe(true);
          expect([c, norm, loss]).toEqual([0, 0, 0]);
          continue;
        }
        const p = law(t);
        const rho = Math.exp(Math.min(Math.max(logProb(t) - old(t), -20), 20));
        const out_ = advantage(t) > 0 ? rho > 1.3 : rho < 0.8;
        const drift = reference(t) - logProb(t);
        const surrogate = -Math.min(rho * advantage(t), Math.min(Math.max(rho, 0.8), 1.3) * advantage(t));
        const k3 = Math.exp(drift) - drift - 1;
        const slope = objective === 1 ? -1
          : (out_ || Math.abs(logProb(t) - old(t)) > 20 ? 0 : -advantage(t) * rho) + 0.1 * (1 - Math.exp(drift));
        expect(lp).toBeCloseTo(logProb(t), 4);
        expect(entropy).toBeCloseTo(-sum(width, (j) => (at(p, j) > 0 ? at(p, j) * Math.log(at(p, j)) : 0)), 4);
        expect(c).toBeCloseTo(weight(t) * slope, 4);
        expect(loss).toBeCloseTo(weight(t) * (objective === 1 ? -logProb(t) : surrogate + 0.1 * k3), 4);
        const expected = p.map((own, j) => banned(j) ? 0 : (weight(t) * slope * ((j === goal(t) ? 1 : 0) - own)) / temperature);
        for (const [j, d] of expected.entries()) expect(at(ownZ, j)).toBeCloseTo(d, 5);
        expect(norm).toBeCloseTo(Math.hypot(...expected), 4);
        if (objective === 2) {
          expect(clipped).toBe(out_ ? 1 : 0);
          expect(at([ratio ?? NaN], 0) / rho).toBeCloseTo(1, 4);
          expect(kl).toBeCloseTo(k3, 4);
        }
      }
    }
  });

  it('lists the most probable ids, best first, ties by id', async () => {
    const [rows, width, vocab, count] = [9, 40, 38, 5];
    const z = normals(rows * width, 6).map((v) => Math.round(2 * v));
    const results = upload(new Float32Array(8 * rows).fill(0.25));
    const best = gpu.storage('best', 8 * count * rows);
    const allowed = upload(Float32Array.from({ length: width }, (_, id) => (id >= vocab || id === 4 ? 0 : 1)));
    const [bits = new Float32Array(0)] = await run(
      kernels[variant].dispatch('alternatives', [width, 0, 0xffffffff, vocab], {
        batch: batch(rows, { alternatives: count, temperature: 2 }), allowed, logits: upload(z), results, best,
      }, { per: 1 }), rows, best,
    );
    const ids = new Uint32Array(bits.buffer, bits.byteOffset, bits.length);
    for (let t = 0; t < rows; t++) {
      const expected = Array.from({ length: vocab }, (_, id) => id).filter((id) => id !== 4)
        .sort((a, b) => at(z, t * width + b) - at(z, t * width + a) || a - b).slice(0, count);
      expect(Array.from({ length: count }, (_, i) => ids[2 * (t * count + i)])).toEqual(expected);
      expect(bits[2 * t * count + 1]).toBeCloseTo(at(z, t * width + at(expected, 0)) / 2 - 0.25, 5);
    }
  });

  it('draws the token that float64 draws from the same number, under every law', async () => {
    const [rows, width, vocab, chunk] = [61, 24, 23, 16];
    const z = normals(rows * width, 8).map((v, i) => (i % 5 === 0 ? 1 : 2 * v));
    const flags = upload(Uint32Array.from({ length: width }, (_, id) => (id >= vocab || id === 3 ? 1 : id === 7 ? 2 : 0)));
    const laws = [
      { temperature: 1 }, { temperature: 0.6 }, { temperature: 1.3, topK: 5 }, { temperature: 1, topP: 0.8 },
      { temperature: 0.9, topK: 9, topP: 0.5 }, { temperature: 1, topK: 1 }, { temperature: 1, topP: 0 }, { temperature: 0 },
    ];
    for (const [step, law] of laws.entries()) {
      const { topK = 0, topP = 1 } = law as { topK?: number; topP?: number };
      // Row 0 has room for one more token; row 1 had finished before.
      const start = Array.from({ length: rows }, (_, i) => [5, 10 + i, 0, i, i === 0 ? 12 : 100, i === 1 ? 1 : 0, 0, 0]);
      const cursors = upload(Uint32Array.from(start.flat()));
      const drawn = gpu.storage('drawn', 8 * chunk * rows);
      const sampling = gpu.uniform('sampling', [99, step, topK, chunk, vocab, width, { f32: law.temperature }, { f32: topP }]);
      const [out = new Float32Array(0), state = new Float32Array(0)] = await run(
        kernels[variant].dispatch('sample', [], { batch: batch(rows), sampling, flags, logits: upload(z), cursors, drawn }, { per: 1 }),
        rows, drawn, cursors,
      );
      const ids = new Uint32Array(out.buffer, out.byteOffset, out.length);
      const after = new Uint32Array(state.buffer, state.byteOffset, state.length);
      for (let i = 0; i < rows; i++) {
        const own = z.slice(i * width, i * width + vocab);
        const p = referenceLaw(own, {
          temperature: law.temperature === 0 ? 1e-9 : law.temperature, banned: [3], ...(topK > 0 ? { topK } : {}), ...(topP < 1 ? { topP } : {}),
        });
        const greedy = own.reduce((best, logit, id) => (id !== 3 && (best < 0 || logit > at(own, best)) ? id : best), -1);
        const id = law.temperature === 0 ? greedy : referenceDraw(p, samplingUniform(99, step, i, 11 + i));
        const ended = i === 0 || id === 7;
        if (i === 1) {
          expect([...after.slice(8, 16)], 'a finished rollout stays as it is').toEqual([5, 11, 0, 1, 100, 1, 0, 0]);
          continue;
        }
        expect(ids[2 * i * chunk], `law ${step}, row ${i}`).toBe(id);
        expect(out[2 * i * chunk + 1]).toBeCloseTo(law.temperature === 0 ? 0 : Math.log(at(p, id)), 4);
        expect([...after.slice(8 * i, 8 * i + 7)]).toEqual(ended ? [5, 10 + i, 0, i, i === 0 ? 12 : 100, 1, 1] : [id, 11 + i, 0, i, 100, 0, 1]);
      }
    }
  });
});

describe('attention', () => {
  // Two key heads of 6 columns padded to 8, four query heads; rows straddle the blocks of QUERIES.
  const [heads, keyHeads, size, head] = [4, 2, 6, 8];
  const [q, kv] = [heads * head, keyHeads * head];
  const width = q + 2 * kv;
  const scale = 1 / Math.sqrt(size);
  const dims: Word[] = [width / 4, heads, q / 4, (q + kv) / 4, heads / keyHeads, { f32: scale }];

  function attend(qkv: Float32Array, lengths: readonly number[]) {
    const out: number[] = [];
    const weights: { item: number; head: number; key: number; p: number }[] = [];
    let first = 0;
    for (const length of lengths) {
      for (let t = first; t < first + length; t++) {
        for (let h = 0; h < heads; h++) {
          const kh = Math.floor(h / (heads / keyHeads));
          const s = Array.from({ length: t - first + 1 }, (_, i) =>
            scale * sum(head, (c) => at(qkv, t * width + h * head + c) * at(qkv, (first + i) * width + q + kh * head + c)));
          const most = Math.max(...s);
          const total = sum(s.length, (i) => Math.exp(at(s, i) - most));
          const p = s.map((v) => Math.exp(v - most) / total);
          p.forEach((own, i) => weights.push({ item: t, head: h, key: first + i, p: own }));
          for (let c = 0; c < head; c++) out.push(sum(p.length, (i) => at(p, i) * at(qkv, (first + i) * width + q + kv + kh * head + c)));
        }
      }
      first += length;
    }
    return { out, weights };
  }

  it.each([...both])('forward and backward over rows of 1, 17, 2 and 30 tokens, %s', async (variant) => {
    const lengths = [1, 17, 2, 30];
    const n = 50;
    const k = kernels[variant];
    const qkv = normals(n * width, 1).map((v, i) => (i % head < size ? v : 0));
    const dout = normals(n * q, 2).map((v, i) => (i % head < size ? v : 0));
    const [out, lse, delta, dqkv] = [n * q, n * heads, n * heads, n * width].map((floats) => gpu.storage('t', 4 * floats)) as [GPUBuffer, GPUBuffer, GPUBuffer, GPUBuffer];
    const common = { batch: batch(n), items: itemsOf(lengths), qkv: upload(qkv), lse };
    const over = (per: number) => ({ per, block: k.queries });
    const [actual = [], gradient = []] = await run([
      k.dispatch('attention', dims, { ...common, out }, over(heads)),
      k.dispatch('attention_dq', dims, { ...common, out, dout: upload(dout), delta, dqkv }, over(heads)),
      k.dispatch('attention_dkv', dims, { ...common, dout: upload(dout), delta, dqkv }, over(keyHeads)),
    ], n, out, dqkv);
    const expected = attend(qkv, lengths);
    expect(relativeError(actual, expected.out)).toBeLessThan(TOLERANCE);
    const d = new Float64Array(n * width);
    const own = (item: number, h: number): number => sum(head, (c) => at(dout, item * q + h * head + c) * at(expected.out, item * q + h * head + c));
    for (const { item, head: h, key, p } of expected.weights) {
      const kh = Math.floor(h / (heads / keyHeads));
      const [atQ, atK, atV] = [item * width + h * head, key * width + q + kh * head, key * width + q + kv + kh * head];
      const dp = sum(head, (c) => at(dout, item * q + h * head + c) * at(qkv, atV + c));
      const ds = p * (dp - own(item, h)) * scale;
      for (let c = 0; c < head; c++) {
        d[atQ + c] = at(d, atQ + c) + ds * at(qkv, atK + c);
        d[atK + c] = at(d, atK + c) + ds * at(qkv, atQ + c);
        d[atV + c] = at(d, atV + c) + p * at(dout, item * q + h * head + c);
      }
    }
    expect(relativeError(gradient, d)).toBeLessThan(2 * TOLERANCE);
  });

  it('reads and writes the cache as the full forward does, rotary positions included', async () => {
    const k = kernels.registers;
    const half = size / 2;
    const [n, positions] = [12, 16];
    const plane = 2 * keyHeads * positions * head;
    const qkv = normals(n * width, 3).map((v, i) => (i % head < size ? v : 0));
    const angles = upload(Float32Array.from({ length: positions * size }, (_, i) => {
      const [position, pair] = [Math.floor(i / size), Math.floor((i % size) / 2)];
      const angle = position * 100 ** (-pair / half);
      return i % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
    }));
    const cursors = upload(Uint32Array.from(Array.from({ length: n }, (_, t) => [0, t, 1, 0, 0, 0, 0, 0]).flat()));
    const [cache, out, lse] = [gpu.storage('cache', 8 * plane), gpu.storage('out', 4 * n * q), gpu.storage('lse', 4 * n * heads)];
    const cached = upload(qkv);
    const full = upload(qkv);
    const full_out = gpu.storage('full', 4 * n * q);
    const [actual = [], expected = [], turned = [], values = new Float32Array(0)] = await run([
      k.dispatch('cache_write', [width, heads, keyHeads, head, half, positions, plane], { batch: batch(n), items: cursors, angles, qkv: cached, cache }, { per: heads + 2 * keyHeads }),
      k.dispatch('attention_cached', [width / 4, heads, heads / keyHeads, positions, plane / 4, { f32: scale }], { batch: batch(n), items: cursors, qkv: cached, cache, out }, { per: heads }),
      k.dispatch('rope', [width, heads + keyHeads, head, half, { f32: 1 }], { batch: batch(n), items: itemsOf([n]), angles, qkv: full }, { per: heads + keyHeads }),
      k.dispatch('attention', dims, { batch: batch(n), items: itemsOf([n]), qkv: full, out: full_out, lse }, { per: heads, block: k.queries }),
    ], n, out, full_out, full, cache);
    expect(relativeError(actual, expected)).toBeLessThan(TOLERANCE);
    // Position 5, query head 1, pair 2: rotated by hand.
    const [u, v] = [at(qkv, 5 * width + head + 2), at(qkv, 5 * width + head + 2 + half)];
    const angle = 5 * 100 ** (-2 / half);
    expect(turned[5 * width + head + 2]).toBeCloseTo(u * Math.cos(angle) - v * Math.sin(angle), 5);
    expect(turned[5 * width + head + 2 + half]).toBeCloseTo(v * Math.cos(angle) + u * Math.sin(angle), 5);
    expect(values.subarray(0, plane / 2).every((x) => x === 0), 'slot 0 belongs to another rollout').toBe(true);
  });

  it('turns back what it turned', async () => {
    const n = 9;
    const k = kernels.registers;
    const start = normals(n * width, 4);
    const angles = upload(Float32Array.from({ length: n * size }, (_, i) => (i % 2 === 0 ? Math.cos(i - (i % 2)) : Math.sin(i - 1))));
    const qkv = upload(start);
    const rope = (sign: number) => k.dispatch('rope', [width, heads + keyHeads, head, size / 2, { f32: sign }], { batch: batch(n), items: itemsOf([n]), angles, qkv }, { per: heads + keyHeads });
    const [there = []] = await run(rope(1), n, qkv);
    expect(relativeError(there, start)).toBeGreaterThan(0.1);
    const [back = []] = await run(rope(-1), n, qkv);
    expect(relativeError(back, start)).toBeLessThan(TOLERANCE);
  });
});

describe('the start-up test', () => {
  it.each([['registers', SOFTWARE], ['tiled', SHARED]])('passes with all kernels together, %s', async (_, tuning) => {
    const engine = await createWebGpuEngine({ device: gpu.device, adapterInfo: made.info, shaders, tuning });
    expect(engine.info).toMatchObject({ kind: 'webgpu', software: true });
    engine.dispose();
  });

  it('ships the numbers that float64 gives', () => {
    expect(computeSelfTestReference()).toEqual(SELF_TEST_REFERENCE);
  });

  it.each([
    ['log-probability', { logProbs: SELF_TEST_REFERENCE.logProbs.map((x, i) => (i === 3 ? x + 0.02 : x)) }],
    ['token', { drawn: SELF_TEST_REFERENCE.drawn.map((row) => row.map((id) => id + 1)) }],
    ['weight', { gradient: SELF_TEST_REFERENCE.gradient.map((x, i) => (i === 20 ? x + 0.01 : x)) }],
  ])('refuses an adapter with a wrong %s, in plain words', async (word, wrong) => {
    const engine = await createWebGpuEngine({ device: gpu.device, adapterInfo: made.info, shaders, tuning: SOFTWARE, selfTest: false });
    const failure = runSelfTest(engine, { ...SELF_TEST_REFERENCE, ...wrong });
    await expect(failure).rejects.toMatchObject({ code: 'unsupported', message: expect.stringMatching(`wrong numbers.*${word}`) as string });
    engine.dispose();
  });
});

describe('the rest', () => {
  it('embeds tokens and sums the gradients of equal ids', async () => {
    const k = kernels.registers;
    const [n, vocab, width] = [53, 11, 12];
    const random = new Random(4);
    const ids = Array.from({ length: n }, () => random.integer(0, vocab - 2));
    const table = normals(vocab * width, 1);
    const dx = normals(n * width, 2);
    const x = gpu.storage('x', 4 * n * width);
    const grad = upload(new Float32Array(vocab * width).fill(0.5));
    const order = ids.map((_, i) => i).sort((a, b) => at(ids, a) - at(ids, b) || a - b);
    const starts = Array.from({ length: vocab + 1 }, (_, id) => ids.filter((own) => own < id).length);
    const [actual = [], sums = []] = await run([
      k.dispatch('embed', [width / 4, 3], { batch: batch(n), items: upload(Uint32Array.from(ids.flatMap((id) => [id, 77, 77]))), table: upload(table), x }, { per: width / 4 }),
      k.dispatch('embed_grad', [width / 4, vocab], { batch: batch(n), starts: upload(Uint32Array.from(starts)), order: upload(Uint32Array.from(order)), dx: upload(dx), grad }, { fixed: (vocab * width) / 4 }),
    ], n, x, grad);
    expect([...actual]).toEqual(ids.flatMap((id) => [...table.slice(id * width, (id + 1) * width)]));
    expect(relativeError(sums, Array.from({ length: vocab * width }, (_, i) =>
      0.5 + sum(n, (t) => (ids[t] === Math.floor(i / width) ? at(dx, t * width + (i % width)) : 0))))).toBeLessThan(TOLERANCE);
  });

  it('SwiGLU and its gradient, also where exp overflows', async () => {
    const k = kernels.registers;
    const [n, width] = [35, 12];
    const gu = normals(2 * n * width, 1).map((v, i) => (i === 0 ? 120 : i === 2 ? -120 : 2 * v));
    const dy = normals(n * width, 2);
    const [y, dgu] = [gpu.storage('y', 4 * n * width), gpu.storage('dgu', 8 * n * width)];
    const [actual = [], gradient = []] = await run([
      k.dispatch('swiglu', [width / 4], { batch: batch(n), gu: upload(gu), y }, { per: width / 4 }),
      k.dispatch('swiglu_grad', [width / 4], { batch: batch(n), gu: upload(gu), dy: upload(dy), dgu }, { per: width / 4 }),
    ], n, y, dgu);
    const sigma = (x: number): number => 1 / (1 + Math.exp(-x));
    expect(relativeError(actual, Array.from({ length: n * width }, (_, i) => at(gu, 2 * i) * sigma(at(gu, 2 * i)) * at(gu, 2 * i + 1)))).toBeLessThan(TOLERANCE);
    expect(relativeError(gradient, Array.from({ length: 2 * n * width }, (_, i) => {
      const [gate, up, d] = [at(gu, i - (i % 2)), at(gu, i - (i % 2) + 1), at(dy, Math.floor(i / 2))];
      return i % 2 === 1 ? d * gate * sigma(gate) : d * up * sigma(gate) * (1 + gate * (1 - sigma(gate)));
    }))).toBeLessThan(TOLERANCE);
  });

  it.each(both)('ten steps of clipped AdamW follow float64; a NaN stops the eleventh, %s', async (variant) => {
    const k = kernels[variant];
    const [blocks, splits] = [5, 3];
    const n = 64 * blocks;
    const settings = { rate: 1e-2, beta1: 0.9, beta2: 0.98, epsilon: 1e-8, decay: 0.1, max: 4 };
    const start = normals(n, 1);
    const decays = [1, 0, 1, 1, 0];
    const [weights, m, v, grad, squares, norm] = [upload(start), ...[n, n, n, blocks, 8].map((floats) => gpu.storage('t', 4 * floats))] as [GPUBuffer, GPUBuffer, GPUBuffer, GPUBuffer, GPUBuffer, GPUBuffer];
    const w64 = Float64Array.from(start);
    const [m64, v64] = [new Float64Array(n), new Float64Array(n)];
    let before: Float32Array[] = [];
    for (let step = 1; step <= 11; step++) {
      const parts = normals(n * splits, 10 + step);
      if (step === 11) parts[n + 70] = NaN;
      const optimizer = gpu.uniform('optimizer', [
        blocks, { f32: settings.max }, { f32: settings.rate }, { f32: settings.beta1 }, { f32: 1 - settings.beta1 }, { f32: settings.beta2 },
        { f32: 1 - settings.beta2 }, { f32: settings.epsilon }, { f32: settings.decay }, { f32: Math.log(settings.beta1) }, { f32: Math.log(settings.beta2) }, { f32: 1 },
      ]);
      const [w = [], state = [], ...moments] = await run([
        k.dispatch('grad_sum', [blocks, splits, n / 4], { partials: upload(parts), grad, squares }, { fixed: blocks }),
        k.dispatch('grad_norm', [], { optimizer, squares, norm }, { fixed: 1 }),
        k.dispatch('adamw', [n / 4], { optimizer, norm, decayed: upload(Uint32Array.from(decays)), grad, weights, m, v }, { fixed: n / 4 }),
      ], 0, weights, norm, m, v);
      if (step === 11) {
        expect(state[2]).toBe(1);
        expect(state[3], 'a step that was not applied does not count').toBe(10);
        expect([w, ...moments]).toEqual(before);
        break;
      }
      before = [Float32Array.from(w), ...moments.map((x) => x.slice())];
      const g = Float64Array.from({ length: n }, (_, i) => sum(splits, (s) => at(parts, s * n + i)));
      const length = Math.hypot(...g);
      expect(at(state, 0) / length).toBeCloseTo(1, 5);
      for (let i = 0; i < n; i++) {
        const own = at(g, i) * Math.min(1, settings.max / length);
        m64[i] = settings.beta1 * at(m64, i) + (1 - settings.beta1) * own;
        v64[i] = settings.beta2 * at(v64, i) + (1 - settings.beta2) * own * own;
        const change = at(m64, i) / (1 - settings.beta1 ** step) / (Math.sqrt(at(v64, i) / (1 - settings.beta2 ** step)) + settings.epsilon);
        w64[i] = at(w64, i) - settings.rate * (change + settings.decay * at(decays, Math.floor(i / 64)) * at(w64, i));
      }
      expect(relativeError(w, w64)).toBeLessThan(TOLERANCE);
    }
  });

  it('folds grids of more than 65,535 workgroups', async () => {
    const n = 65_536 * 64 + 1;
    const items = gpu.storage('items', 4 * n);
    gpu.device.queue.writeBuffer(items, 4 * (n - 1), Uint32Array.of(1));
    const x = gpu.storage('x', 16 * n);
    const table = upload(Float32Array.of(0, 0, 0, 0, 1, 2, 3, 4));
    const dispatch = kernels.registers.dispatch('embed', [1, 1], { batch: batch(n), items, table, x }, { per: 1 });
    const encoder = gpu.device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    gpu.encode(pass, [dispatch], n);
    pass.end();
    const readback = gpu.readback(16);
    encoder.copyBufferToBuffer(x, 16 * (n - 1), readback, 0, 16);
    gpu.submit(encoder);
    expect([...new Float32Array(await gpu.read(readback, 16))]).toEqual([1, 2, 3, 4]);
    for (const buffer of [items, x]) buffer.destroy();
  });

  it('writes out loops over constants, nested ones too, and leaves long ones', () => {
    const source = 'for (var i = 0u; i < N; i++) { for (var c = 0u; c < H; c++) { x[i * H + c] = c; } } end';
    expect(unroll(source, { N: 2, H: 1 })).toBe('{ { x[0u * H + 0u] = 0u; } }{ { x[1u * H + 0u] = 0u; } } end');
    expect(unroll(source, { N: 1000, H: 1 })).toBe('for (var i = 0u; i < N; i++) { { x[i * H + 0u] = 0u; } } end');
  });

  it('gathers the hidden states that rollouts continue from', async () => {
    const x = normals(6 * 8, 1);
    const y = gpu.storage('y', 4 * 3 * 8);
    const cursors = upload(Uint32Array.from([4, 0, 5].flatMap((source) => [0, 0, 0, 0, 0, 0, 0, source])));
    const name: KernelName = 'gather';
    const [actual = []] = await run(kernels.registers.dispatch(name, [2], { batch: batch(3), cursors, x: upload(x), y }, { per: 2 }), 3, y);
    expect([...actual]).toEqual([4, 0, 5].flatMap((source) => [...x.slice(8 * source, 8 * source + 8)]));
  });
});
