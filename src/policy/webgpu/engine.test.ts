/** The engine as a whole: against float64 forward and finite differences, and against its own promises. */
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { parameterLayout, parseConfig, type PolicyConfig } from '../config.ts';
import type { AdamW, Checkpoint, Objective, SampleRequest, UpdateRow } from '../engine.ts';
import { Random, samplingUniform } from '../random.ts';
import { referenceDraw, referenceLaw, referenceLogits, referenceLogProbs } from '../reference.ts';
import { createWebGpuEngine, type WebGpuEngine } from './engine.ts';
import { shaders } from './shaders.node.ts';
import { oddConfig, randomCheckpoint, randomRows, referenceLoss, relativeError, testDevice } from './testing.node.ts';

const LR: AdamW = { learningRate: 3e-3, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 };
const GRPO: Objective = { kind: 'grpo', epsilonLow: 0.2, epsilonHigh: 0.3, beta: 0.05 };

let made: Awaited<ReturnType<typeof testDevice>>;
let engine: WebGpuEngine;
/** Lanes as on a GPU, and small micro-batches; the tiled matrix product has its own tests. */
let shared: WebGpuEngine;
const checkpoint = randomCheckpoint(oddConfig());

beforeAll(async () => {
  made = await testDevice();
  const options = { device: made.device, adapterInfo: made.info, shaders };
  engine = await createWebGpuEngine(options);
  shared = await createWebGpuEngine({ ...options, tuning: { matmul: 'registers', lanes: 32 }, microBatchTokens: 64 });
});
afterAll(() => {
  engine.dispose();
  made.device.destroy();
});

/** Rows with random weights, some of them 0, and numbers on both sides of the clip. */
function updateRows(of: Checkpoint, lengths: readonly number[], temperature = 1, seed = 3): UpdateRow[] {
  const random = new Random(seed);
  return randomRows(of, lengths, seed).map((tokens) => {
    const law = referenceLogProbs(of, tokens, temperature);
    const own = Float32Array.from(tokens, (id, t) => (t === 0 ? 0 : law[(t - 1) * of.config.vocab_size + id] ?? NaN));
    return {
      tokens,
      weights: Float32Array.from(tokens, () => (random.next() < 0.3 ? 0 : 0.05 + 0.1 * random.next())),
      advantages: Float32Array.from(tokens, () => random.normal()),
      oldLogProbs: own.map((logProb) => logProb + 0.3 * random.normal()),
      referenceLogProbs: own.map((logProb) => logProb + 0.5 * random.normal()),
    };
  });
}

const configs: [string, PolicyConfig][] = [
  ['grouped queries, tied, odd sizes', oddConfig()],
  ['one head a query, untied, exact sizes', oddConfig({ hidden_size: 16, intermediate_size: 32, vocab_size: 32, num_key_value_heads: 4, head_dim: null, tie_word_embeddings: false })],
  ['one key head, one layer, head of 2', oddConfig({ num_hidden_layers: 1, num_key_value_heads: 1, head_dim: 2, intermediate_size: 3, hidden_size: 7 })],
];

describe.each(configs)('%s', (_, config) => {
  const own = randomCheckpoint(config, 5);
  const vocab = config.vocab_size;

  it('scores like float64: log-probs, entropy, alternatives', async () => {
    const rows = randomRows(own, [9, 1, 17, 40, 2]);
    for (const tested of [engine, shared]) {
      await tested.load(own);
      const scores = await tested.score({ rows, temperature: 0.7, alternatives: 4 });
      for (const [i, tokens] of rows.entries()) {
        const law = referenceLogProbs(own, tokens, 0.7);
        const score = scores[i];
        expect(score?.logProbs[0]).toBeNaN();
        for (let t = 1; t < tokens.length; t++) {
          const row = [...law.slice((t - 1) * vocab, t * vocab)];
          expect(score?.logProbs[t]).toBeCloseTo(row[tokens[t] ?? 0] ?? NaN, 4);
          expect(score?.entropy[t]).toBeCloseTo(-row.reduce((sum, l) => (l > -Infinity ? sum + Math.exp(l) * l : sum), 0), 4);
          const best = row.map((_, id) => id).sort((a, b) => (row[b] ?? 0) - (row[a] ?? 0) || a - b).slice(0, 4);
          expect([...score?.alternatives?.ids.slice(4 * t, 4 * t + 4) ?? []]).toEqual(best);
          expect(score?.alternatives?.logProbs[4 * t]).toBeCloseTo(row[best[0] ?? 0] ?? NaN, 4);
        }
      }
    }
  });

  it.each<[string, Objective]>([['supervised', { kind: 'supervised' }], ['grpo', GRPO]])('has the gradient of the %s loss, along random directions', async (_name, objective) => {
    const rows = updateRows(own, [12, 3, 21], 0.8);
    const weights = Float64Array.from(own.weights);
    const loss = (): number => referenceLoss({ ...own, weights }, rows, objective, 0.8);
    for (const tested of [engine, shared]) {
      await tested.load(own);
      const report = await tested.gradients({ rows, objective, temperature: 0.8 });
      expect(report.loss).toBeCloseTo(loss(), 4);
      expect(report.gradNorm / Math.hypot(...report.gradient)).toBeCloseTo(1, 5);
      expect(report).toMatchObject({ applied: false, skipped: 'not-requested' });
      const random = new Random(17);
      for (let trial = 0; trial < 6; trial++) {
        const direction = Float64Array.from(weights, () => random.normal());
        const step = 1e-6;
        const moved = (by: number): number => {
          for (const [i, d] of direction.entries()) weights[i] = (own.weights[i] ?? NaN) + by * d;
          return loss();
        };
        const slope = (moved(step) - moved(-step)) / (2 * step);
        moved(0);
        const actual = report.gradient.reduce((sum, g, i) => sum + g * (direction[i] ?? NaN), 0);
        expect(Math.abs(actual - slope)).toBeLessThan(2e-4 * report.gradNorm);
      }
    }
  });
});

describe('updates', () => {
  it('ten steps of AdamW follow float64 from the gradients that were reported', async () => {
    await engine.load(checkpoint);
    const w = Float64Array.from(checkpoint.weights);
    const [m, v] = [new Float64Array(w.length), new Float64Array(w.length)];
    const decayed = parameterLayout(checkpoint.config).slices.flatMap((slice) => Array<boolean>(slice.size).fill(slice.decayed));
    for (let step = 1; step <= 10; step++) {
      const request = { rows: updateRows(checkpoint, [14, 9], 1, step), objective: GRPO, temperature: 1 };
      const { gradient } = await engine.gradients(request);
      const report = await engine.update(request, LR);
      expect(report.applied).toBe(true);
      const scale = Math.min(1, LR.maxGradNorm / Math.hypot(...gradient));
      for (const [i, g] of gradient.entries()) {
        m[i] = LR.beta1 * (m[i] ?? NaN) + (1 - LR.beta1) * g * scale;
        v[i] = LR.beta2 * (v[i] ?? NaN) + (1 - LR.beta2) * (g * scale) ** 2;
        const change = (m[i] ?? NaN) / (1 - LR.beta1 ** step) / (Math.sqrt((v[i] ?? NaN) / (1 - LR.beta2 ** step)) + LR.epsilon);
        w[i] = (w[i] ?? NaN) - LR.learningRate * (change + (decayed[i] === true ? LR.weightDecay * (w[i] ?? NaN) : 0));
      }
    }
    const after = await engine.snapshot();
    expect(after.optimizer.step).toBe(10);
    expect(relativeError(after.weights, w)).toBeLessThan(1e-5);
    expect(relativeError(after.optimizer.m, m)).toBeLessThan(1e-5);
    expect(relativeError(after.optimizer.v, v)).toBeLessThan(1e-5);
  });

  it('goes on from a snapshot as if it had not stopped, bit for bit', async () => {
    const step = (seed: number) => engine.update({ rows: updateRows(checkpoint, [8, 11], 1, seed), objective: GRPO, temperature: 1 }, LR);
    await engine.load(checkpoint);
    await step(1);
    const saved = await engine.snapshot();
    await step(2);
    const straight = await engine.snapshot();
    await engine.load(saved);
    await step(2);
    expect(await engine.snapshot()).toEqual(straight);
  });

  it.each([
    ['an old log-probability', { oldLogProbs: NaN }], ['an advantage', { advantages: NaN }], ['a weight', { weights: NaN }],
    ['a reference log-probability', { referenceLogProbs: NaN }], ['an infinite advantage', { advantages: Infinity }],
  ])('skips a step that is not finite: %s', async (_, planted) => {
    await engine.load(checkpoint);
    const rows = updateRows(checkpoint, [10, 12]);
    await engine.update({ rows, objective: GRPO, temperature: 1 }, LR);
    const before = await engine.snapshot();
    const [name, value] = Object.entries(planted)[0] ?? ['', 0];
    const [first, second] = rows;
    if (first === undefined || second === undefined) throw new Error('two rows');
    const weights = second.weights.map((own, t) => (t === 4 ? 0.1 : own));
    const spoilt = { ...second, weights, [name]: (name === 'weights' ? weights : second[name as 'advantages'] ?? weights).map((own, t) => (t === 4 ? value : own)) };
    const report = await engine.update({ rows: [first, spoilt], objective: GRPO, temperature: 1 }, LR);
    expect(report).toMatchObject({ applied: false, skipped: 'non-finite' });
    expect(await engine.snapshot()).toEqual(before);
  });

  it('leaves everything as it is where no token has a weight', async () => {
    await engine.load(checkpoint);
    const rows = updateRows(checkpoint, [6, 7]).map((row) => ({ ...row, weights: row.weights.map((_, t) => (t === 0 ? 1 : 0)) }));
    const report = await engine.update({ rows, objective: GRPO, temperature: 1 }, LR);
    expect(report).toMatchObject({ applied: false, skipped: 'no-trainable-token', loss: 0, gradNorm: 0 });
    const after = await engine.snapshot();
    expect(after.weights).toEqual(checkpoint.weights);
    expect(after.optimizer.step).toBe(0);
  });

  it('gives masked tokens exactly nothing, whatever their numbers hold, and other tokens what they had', async () => {
    await engine.load(checkpoint);
    const rows = updateRows(checkpoint, [15, 20]);
    const clean = await engine.gradients({ rows, objective: GRPO, temperature: 1 });
    const spoilt = rows.map((row) => {
      const hide = (array: Float32Array | undefined): Float32Array => (array ?? row.weights).map((own, t) => (row.weights[t] === 0 || t === 0 ? NaN : own));
      return { ...row, advantages: hide(row.advantages), oldLogProbs: hide(row.oldLogProbs), referenceLogProbs: hide(row.referenceLogProbs) };
    });
    const report = await engine.gradients({ rows: spoilt, objective: GRPO, temperature: 1 });
    expect(report).toEqual(clean);
    for (const [i, row] of rows.entries()) {
      const tokens = report.rows[i];
      for (const [t, weight] of row.weights.entries()) {
        const masked = weight === 0 || t === 0;
        expect(Number.isNaN(tokens?.logProbs[t]), `token ${t}`).toBe(masked);
        if (masked) expect([tokens?.dLogProb[t], tokens?.gradient[t], tokens?.clipped[t]]).toEqual([0, 0, 0]);
      }
    }
    // Masking one token more: the others' numbers stay bit for bit.
    const target = rows[1]?.weights.findIndex((weight, t) => t > 5 && weight !== 0) ?? -1;
    const fewer = rows.map((row, i) => (i === 1 ? { ...row, weights: row.weights.map((weight, t) => (t === target ? 0 : weight)) } : row));
    const without = await engine.gradients({ rows: fewer, objective: GRPO, temperature: 1 });
    expect(without.rows[1]?.dLogProb[target]).toBe(0);
    expect(without.rows[1]?.dLogProb.map((x, t) => (t === target ? 0 : x))).toEqual(clean.rows[1]?.dLogProb.map((x, t) => (t === target ? 0 : x)));
    expect(without.gradient).not.toEqual(clean.gradient);
  });

  it('has ratio 1 in the first inner epoch, and KL 0 against the reference it just held', async () => {
    await engine.load(checkpoint);
    const sampled = await engine.continue({ rows: randomRows(checkpoint, [4, 7, 5]).map((tokens, stream) => ({ tokens, stream })), seed: 1, step: 0, temperature: 1, stopTokens: [], maxLength: 24 });
    await engine.holdReference();
    const prompts = randomRows(checkpoint, [4, 7, 5]);
    const whole = prompts.map((prompt, i) => Uint32Array.from([...prompt, ...sampled.rows[i]?.tokens ?? []]));
    const reference = await engine.score({ rows: whole, temperature: 1, weights: 'reference' });
    const rows = whole.map((tokens, i): UpdateRow => {
      const prompt = prompts[i]?.length ?? 0;
      const old = new Float32Array(tokens.length).fill(NaN);
      old.set(sampled.rows[i]?.logProbs ?? [], prompt);
      return {
        tokens, weights: Float32Array.from(tokens, (_, t) => (t < prompt ? 0 : 0.02)), advantages: new Float32Array(tokens.length).fill(i - 1),
        oldLogProbs: old, referenceLogProbs: reference[i]?.logProbs ?? old,
      };
    });
    const report = await engine.update({ rows, objective: GRPO, temperature: 1 }, LR);
    for (const [i, row] of report.rows.entries()) {
      for (let t = prompts[i]?.length ?? 0; t < row.ratio.length; t++) {
        expect(Math.abs((row.ratio[t] ?? NaN) - 1)).toBeLessThan(1e-4);
        expect(row.kl[t]).toBeLessThan(1e-8);
      }
    }
    // The policy has moved, the reference has not.
    const again = await engine.score({ rows: whole, temperature: 1, weights: 'reference' });
    expect(again).toEqual(reference);
    expect(await engine.score({ rows: whole, temperature: 1 })).not.toEqual(reference);
  });

  it('adds micro-batches up to the same step', async () => {
    const rows = updateRows(checkpoint, [30, 5, 33, 8, 12, 26]);
    await engine.load(checkpoint);
    await shared.load(checkpoint);
    const submits = shared.counts.submits;
    const [whole, parts] = await Promise.all([engine, shared].map((tested) => tested.gradients({ rows, objective: GRPO, temperature: 1 })));
    expect(shared.counts.submits - submits).toBe(1);
    expect(relativeError(parts?.gradient ?? [], whole?.gradient ?? [])).toBeLessThan(1e-5);
    for (const i of rows.keys()) {
      expect(relativeError(parts?.rows[i]?.dLogProb ?? [], whole?.rows[i]?.dLogProb ?? [])).toBeLessThan(1e-4);
    }
  });

  it('works off in parts what is larger than a binding: logits of a large vocabulary, and the arena', async () => {
    const own = randomCheckpoint(oddConfig({ vocab_size: 200, num_attention_heads: 2, num_key_value_heads: 1, head_dim: 2, tie_word_embeddings: false }));
    const small = await createWebGpuEngine({ device: made.device, adapterInfo: made.info, shaders, bindingLimit: 2 ** 14, selfTest: false });
    const request = { rows: updateRows(own, Array.from({ length: 7 }, (_, i) => 20 + i)), objective: GRPO, temperature: 1 };
    const rows = request.rows.map((row) => row.tokens);
    const results = [];
    for (const tested of [engine, small]) {
      await tested.load(own);
      results.push({
        scores: await tested.score({ rows, temperature: 1, alternatives: 2 }), report: await tested.update(request, LR), after: await tested.snapshot(),
      });
    }
    const [whole, parts] = results;
    small.dispose();
    expect(parts?.scores).toEqual(whole?.scores);
    expect(parts?.report.rows).toEqual(whole?.report.rows);
    expect(relativeError(parts?.after.optimizer.m ?? [], whole?.after.optimizer.m ?? [])).toBeLessThan(1e-5);
    expect(relativeError(parts?.after.weights ?? [], whole?.after.weights ?? [])).toBeLessThan(1e-4);
    expect(relativeError(parts?.after.weights ?? [], own.weights)).toBeGreaterThan(1e-4);
  });

  it('cuts a step to the frame budget without changing it', async () => {
    const request = { rows: updateRows(checkpoint, [30, 28]), objective: GRPO, temperature: 1 };
    await engine.load(checkpoint);
    const whole = await engine.gradients(request);
    const submits = engine.counts.submits;
    engine.frameBudget = 1e-3;
    const cut = await engine.gradients(request);
    engine.frameBudget = undefined;
    expect(engine.counts.submits - submits).toBeGreaterThan(5);
    expect(cut).toEqual(whole);
  });
});

describe('sampling', () => {
  const prompts = randomRows(checkpoint, [5, 1, 12, 3, 8, 8]);
  const request = (changes: Partial<SampleRequest> = {}): SampleRequest => ({
    rows: prompts.map((tokens, stream) => ({ tokens, stream })), seed: 42, step: 7, temperature: 1, stopTokens: [2], maxLength: 33, ...changes,
  });

  it('draws what float64 draws, and reports its log-probabilities', async () => {
    const laws = [{}, { temperature: 0.5, bannedTokens: [5, 6] }, { topK: 4 }, { topP: 0.6 }, { temperature: 0 }];
    for (const tested of [engine, shared]) {
      await tested.load(checkpoint);
      for (const law of laws) {
        const asked = request({ ...law, maxLength: 20 });
        const { rows } = await tested.continue(asked);
        for (const [i, row] of rows.entries()) {
          const tokens = [...prompts[i] ?? []];
          for (const [t, id] of row.tokens.entries()) {
            const logits = referenceLogits(checkpoint, tokens).slice(-checkpoint.config.vocab_size);
            const p = referenceLaw(logits, {
              temperature: asked.temperature === 0 ? 1e-6 : asked.temperature, banned: [...checkpoint.suppressTokens, ...asked.bannedTokens ?? []],
              ...(asked.topK === undefined ? {} : { topK: asked.topK }), ...(asked.topP === undefined ? {} : { topP: asked.topP }),
            });
            expect(id).toBe(referenceDraw(p, samplingUniform(42, 7, i, tokens.length)));
            expect(row.logProbs[t]).toBeCloseTo(asked.temperature === 0 ? 0 : Math.log(p[id] ?? NaN), 4);
            tokens.push(id);
          }
          const last = row.tokens.at(-1);
          expect(row.stop).toBe(last === 2 ? 'token' : 'length');
          expect(row.tokens.slice(0, -1)).not.toContain(2);
          if (row.stop === 'length') expect(tokens.length).toBe(20);
        }
      }
    }
  });

  it('decodes with the cache what the full forward scores, at every position', async () => {
    await engine.load(checkpoint);
    const { rows } = await engine.continue(request());
    const scores = await engine.score({ rows: rows.map((row, i) => Uint32Array.from([...prompts[i] ?? [], ...row.tokens])), temperature: 1 });
    for (const [i, row] of rows.entries()) {
      for (const [t, logProb] of row.logProbs.entries()) {
        expect(Math.abs(logProb - (scores[i]?.logProbs[(prompts[i]?.length ?? 0) + t] ?? NaN))).toBeLessThan(1e-4);
      }
    }
  });

  it('gives a rollout the same tokens and numbers whatever the batch around it, bit for bit', async () => {
    await engine.load(checkpoint);
    const together = await engine.continue(request());
    await engine.load(checkpoint);
    const all = request().rows;
    const reversed = await engine.continue(request({ rows: all.toReversed() }));
    expect(reversed.rows.toReversed()).toEqual(together.rows);
    await engine.load(checkpoint);
    for (const [i, row] of all.entries()) {
      expect((await engine.continue(request({ rows: [row] }))).rows[0]).toEqual(together.rows[i]);
    }
  });

  it('goes on after a tool has answered as if the whole context were new', async () => {
    const goOn = async (fresh: boolean) => {
      await engine.load(checkpoint);
      // Rows stop in the middle of a chunk, each somewhere else.
      const first = await engine.continue(request({ stopTokens: [2, 5, 11, 14] }));
      const rows = [0, 2, 3, 5].map((i) => ({
        stream: i, tokens: Uint32Array.from([...prompts[i] ?? [], ...first.rows[i]?.tokens ?? [], 9, 8, 7]),
      }));
      if (fresh) await engine.load(checkpoint);
      const before = engine.counts.promptTokens;
      const second = await engine.continue(request({ rows }));
      return { first, second, promptTokens: engine.counts.promptTokens - before, context: rows.reduce((sum, row) => sum + row.tokens.length, 0) };
    };
    const [kept, fresh] = [await goOn(false), await goOn(true)];
    expect(new Set(kept.first.rows.map((row) => row.tokens.length)).size).toBeGreaterThan(2);
    expect(kept.second).toEqual(fresh.second);
    // The token that stopped each row, and the answer of three: the rest was in the cache.
    expect(kept.promptTokens).toBe(4 * 4);
    expect(fresh.promptTokens).toBe(fresh.context);
    // One stream with a different past: what the cache holds of it must not be used.
    await engine.load(checkpoint);
    await engine.continue(request());
    const other = Uint32Array.from(prompts[2] ?? [], (id, t) => (t === 3 ? (id === 4 ? 5 : 4) : id));
    const replaced = await engine.continue(request({ rows: [{ stream: 2, tokens: other }] }));
    await engine.load(checkpoint);
    expect(await engine.continue(request({ rows: [{ stream: 2, tokens: other }] }))).toEqual(replaced);
  });

  it('samples from the updated weights, not from a cache of the old ones, in the order of the calls', async () => {
    await engine.load(checkpoint);
    const update = { rows: updateRows(checkpoint, [20]), objective: GRPO, temperature: 1 };
    const before = await engine.continue(request());
    const done = engine.update(update, { ...LR, learningRate: 0.05 });
    const after = await engine.continue(request());
    await done;
    expect(after).not.toEqual(before);
    const saved = await engine.snapshot();
    await engine.load(saved);
    expect(await engine.continue(request())).toEqual(after);
  });

  it('cuts chunks to the frame budget without changing a token', async () => {
    await engine.load(checkpoint);
    const open = request({ stopTokens: [] });
    const [whole, before] = [await engine.continue(open), engine.counts.submits];
    engine.frameBudget = 1e-3;
    const cut = await engine.continue({ ...open });
    engine.frameBudget = undefined;
    // 32 tokens of the shortest context, four a submit instead of eight.
    expect(engine.counts.submits - before).toBe(8);
    expect(cut).toEqual(whole);
  });

  it('works long prompts off in passes', async () => {
    const rows = randomRows(checkpoint, [30, 31, 29, 2]).map((tokens, stream) => ({ tokens, stream }));
    await engine.load(checkpoint);
    await shared.load(checkpoint);
    const [once, passes] = [await engine.continue(request({ rows })), await shared.continue(request({ rows }))];
    expect(passes.rows.map((row) => row.tokens)).toEqual(once.rows.map((row) => row.tokens));
  });

  it('writes nothing where the context is full, and refuses what cannot be', async () => {
    await engine.load(checkpoint);
    const full = await engine.continue(request({ maxLength: 5 }));
    expect(full.rows.map((row) => [row.tokens.length, row.stop])[2]).toEqual([0, 'length']);
    await expect(engine.continue(request({ maxLength: 41 }))).rejects.toMatchObject({ code: 'invalid' });
    await expect(engine.continue(request({ bannedTokens: Array.from({ length: 23 }, (_, id) => id) }))).rejects.toMatchObject({ code: 'invalid' });
    await expect(engine.score({ rows: [Uint32Array.of(1)], temperature: 1, weights: 'reference' })).rejects.toMatchObject({ code: 'invalid' });
    // A refused call spoils none that follow.
    expect((await engine.continue(request())).rows).toHaveLength(6);
  });

  it('stops between tokens when it is told to, and takes up again', async () => {
    await engine.load(checkpoint);
    const stop = new AbortController();
    const running = engine.continue(request({ signal: stop.signal, stopTokens: [] }));
    const reason = new Error('the visitor pressed pause');
    stop.abort(reason);
    await expect(running).rejects.toBe(reason);
    const resumed = await engine.continue(request());
    await engine.load(checkpoint);
    expect(await engine.continue(request())).toEqual(resumed);
  });
});

describe('the machine', () => {
  it('takes one submit a step and makes nothing new after the first ones', async () => {
    await engine.load(checkpoint);
    const round = async (step: number) => {
      const sampled = await engine.continue({ rows: randomRows(checkpoint, [4, 6, 9]).map((tokens, stream) => ({ tokens, stream })), seed: 1, step, temperature: 1, stopTokens: [2], maxLength: 30 + (step % 3) });
      const before = { ...engine.counts };
      await engine.update({ rows: updateRows(checkpoint, [20 + step, 25 - step, 11]), objective: GRPO, temperature: 1 }, LR);
      return { submits: engine.counts.submits - before.submits, dispatches: engine.counts.dispatches - before.dispatches, sampled };
    };
    await round(0);
    const hooks = [vi.spyOn(made.device, 'createBuffer'), vi.spyOn(made.device, 'createBindGroup'), vi.spyOn(made.device.queue, 'submit')] as const;
    const [buffers, bindGroups, submitted] = hooks;
    for (let step = 1; step < 5; step++) {
      const { submits, dispatches } = await round(step);
      expect(submits).toBe(1);
      expect(dispatches).toBeLessThan(30 * checkpoint.config.num_hidden_layers + 20);
    }
    expect([buffers.mock.calls.length, bindGroups.mock.calls.length]).toEqual([0, 0]);
    // At most 30 new tokens in chunks of 8, and one step, a round.
    expect(submitted.mock.calls.length).toBeLessThanOrEqual(4 * (4 + 1));
    await engine.load({ ...checkpoint, weights: checkpoint.weights.map((w) => 0.9 * w) });
    expect([buffers.mock.calls.length, bindGroups.mock.calls.length], 'nor do other weights of the same shape').toEqual([0, 0]);
    await engine.load(randomCheckpoint(oddConfig({ num_hidden_layers: 1 })));
    expect(buffers.mock.calls.length, 'the hook counts: a new policy does make buffers').toBeGreaterThan(0);
    for (const hook of hooks) hook.mockRestore();
  });

  it('takes at most 140 dispatches for a step of four layers', async () => {
    const own = randomCheckpoint(oddConfig({ num_hidden_layers: 4 }));
    await engine.load(own);
    const before = { ...engine.counts };
    await engine.update({ rows: updateRows(own, [20, 25]), objective: GRPO, temperature: 1 }, LR);
    expect(engine.counts.dispatches - before.dispatches).toBeLessThanOrEqual(140);
  });

  it('reads nothing back between a step, the next one and what is sampled from it', async () => {
    await engine.load(checkpoint);
    const update = (): Promise<unknown> => engine.update({ rows: updateRows(checkpoint, [20, 25]), objective: GRPO, temperature: 1 }, LR);
    const three = (): Promise<unknown[]> => Promise.all([update(), update(), engine.continue({ rows: [{ tokens: Uint32Array.of(1), stream: 0 }], seed: 1, step: 1, temperature: 1, stopTokens: [], maxLength: 30 })]);
    await three();
    const probe = made.device.createBuffer({ size: 16, usage: 0x9 });
    const buffers = Object.getPrototypeOf(probe) as Pick<GPUBuffer, 'mapAsync'>;
    const original = Object.getOwnPropertyDescriptor(buffers, 'mapAsync')?.value as GPUBuffer['mapAsync'];
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => { release = resolve; });
    const mapped = vi.spyOn(buffers, 'mapAsync').mockImplementation(async function hold(this: GPUBuffer, ...args) {
      await original.apply(this, args);
      await gate;
    });
    const before = { ...engine.counts };
    const done = three();
    await vi.waitFor(() => { expect(engine.counts.submits - before.submits).toBe(3); });
    expect(mapped).toHaveBeenCalledTimes(3);
    release();
    await done;
    mapped.mockRestore();
    expect([engine.counts.buffers - before.buffers, engine.counts.bindGroups - before.bindGroups, engine.counts.pipelines - before.pipelines]).toEqual([0, 0, 0]);
  });

  it('counts only the updates that were applied, also where they are queued behind one that was not', async () => {
    await engine.load(checkpoint);
    const [first, second] = [[14, 9], [8, 17]].map((lengths) => ({ rows: updateRows(checkpoint, lengths), objective: GRPO, temperature: 1 }));
    if (first === undefined || second === undefined) throw new Error('no requests');
    const broken = { ...first, rows: first.rows.map((row) => ({ ...row, advantages: new Float32Array(row.tokens.length).fill(NaN) })) };
    const reports = await Promise.all([engine.update(first, LR), engine.update(broken, LR), engine.update(second, LR)]);
    const queued = await engine.snapshot();
    await engine.load(checkpoint);
    await engine.update(first, LR);
    await engine.update(second, LR);
    expect(reports.map(({ applied }) => applied)).toEqual([true, false, true]);
    expect(queued.optimizer.step).toBe(2);
    expect(await engine.snapshot()).toEqual(queued);
  });

  it('forgets reference, moments and cache where other weights of the same shape are loaded', async () => {
    const other = { ...checkpoint, weights: checkpoint.weights.map((w) => 0.8 * w) };
    const rows = randomRows(checkpoint, [9, 14]);
    const request: SampleRequest = { rows: rows.map((tokens, stream) => ({ tokens, stream })), seed: 4, step: 1, temperature: 1, stopTokens: [], maxLength: 30 };
    const update = { rows: updateRows(other, [9, 14]), objective: GRPO, temperature: 1 };
    const all = async () => [await engine.continue(request), await engine.update(update, LR), await engine.snapshot()];
    await engine.load(randomCheckpoint(oddConfig({ num_hidden_layers: 1 })));
    await engine.load(other);
    const expected = await all();
    await engine.load(checkpoint);
    await engine.holdReference();
    await engine.score({ rows, temperature: 1, weights: 'reference' });
    await all();
    await engine.load(other);
    await expect(engine.score({ rows, temperature: 1, weights: 'reference' })).rejects.toMatchObject({ code: 'invalid' });
    expect(await all()).toEqual(expected);
    await engine.holdReference();
    expect(await engine.score({ rows, temperature: 1, weights: 'reference' })).toEqual(await engine.score({ rows, temperature: 1 }));
  });

  it('grows and shrinks its batches without a fault, and repeats itself bit for bit', async () => {
    const run = async () => {
      await engine.load(checkpoint);
      const rollouts: unknown[] = [];
      for (const lengths of [[4], Array.from({ length: 40 }, (_, i) => 1 + (i % 9)), [39, 2, 39]]) {
        rollouts.push(await engine.continue({ rows: randomRows(checkpoint, lengths).map((tokens, stream) => ({ tokens, stream })), seed: 3, step: lengths.length, temperature: 1, stopTokens: [2], maxLength: 40 }));
        rollouts.push(await engine.update({ rows: updateRows(checkpoint, lengths.map((n) => n + 1)), objective: { kind: 'supervised' }, temperature: 1 }, LR));
      }
      return { rollouts, after: await engine.snapshot() };
    };
    expect(await run()).toEqual(await run());
  });

  it('needs a policy, and none after it was disposed', async () => {
    const own = await createWebGpuEngine({ device: made.device, adapterInfo: made.info, shaders });
    expect(own.config, 'the policy of the start-up test is gone').toBeUndefined();
    await expect(own.snapshot()).rejects.toMatchObject({ name: 'EngineError', code: 'invalid' });
    await own.load(checkpoint);
    const running = own.continue({ rows: [{ tokens: Uint32Array.of(1), stream: 0 }], seed: 1, step: 1, temperature: 1, stopTokens: [], maxLength: 30 });
    own.dispose();
    await expect(running).rejects.toMatchObject({ code: 'disposed' });
    await expect(own.load(checkpoint)).rejects.toMatchObject({ code: 'disposed' });
  });

  it('refuses a policy that the adapter cannot hold', async () => {
    const wide = parseConfig({ ...oddConfig(), vocab_size: 200_000, hidden_size: 256 });
    await expect(engine.load({ config: wide, weights: new Float32Array(0), suppressTokens: [] })).rejects.toMatchObject({ code: 'unsupported' });
  });

  it('says that the device was lost, and a new one resumes from the snapshot', async () => {
    const update = { rows: updateRows(checkpoint, [12, 9]), objective: GRPO, temperature: 1 };
    const lost = await testDevice();
    const first = await createWebGpuEngine({ device: lost.device, adapterInfo: lost.info, shaders, selfTest: false });
    await first.load(checkpoint);
    await first.update(update, LR);
    const saved = await first.snapshot();
    const pending = [first.update(update, LR), first.continue({ rows: [{ tokens: Uint32Array.of(1), stream: 0 }], seed: 1, step: 1, temperature: 1, stopTokens: [], maxLength: 30 })];
    const outcomes = Promise.allSettled(pending);
    lost.device.destroy();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'lost' } });
    await expect(first.snapshot()).rejects.toMatchObject({ code: 'lost' });

    await engine.load(saved);
    await engine.update(update, LR);
    const resumed = await engine.snapshot();
    await engine.load(checkpoint);
    await engine.update(update, LR);
    await engine.update(update, LR);
    expect(await engine.snapshot()).toEqual(resumed);
  });
});
