import { afterAll, describe, expect, it } from 'vitest';
import { parameterLayout, type PolicyConfig } from '../config.ts';
import { EngineError, type AdamW, type Objective, type PolicyEngine, type SampleRequest, type SampleRow, type UpdateRow } from '../engine.ts';
import { Random } from '../random.ts';
import { createCpuEngine } from './engine.ts';
import { checkpoint, GROUPED, inProcess, lawOf, TINY, tokenRows, updateRows } from './fixtures.ts';
import { spawnInNode } from './spawn.node.ts';

const ADAMW: AdamW = { learningRate: 0.01, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 };
const GRPO: Objective = { kind: 'grpo', epsilonLow: 0.2, epsilonHigh: 0.3, beta: 0.1 };
const LENGTHS = [18, 3, 11, 1, 24];

const engines: PolicyEngine[] = [];
afterAll(() => { for (const engine of engines) engine.dispose(); });

async function engineFor(config: PolicyConfig, workers = 2): Promise<PolicyEngine> {
  const engine = createCpuEngine({ spawn: inProcess().spawn, workers });
  engines.push(engine);
  await engine.load(checkpoint(config));
  return engine;
}

function request(rows: readonly Uint32Array[], more: Partial<SampleRequest> = {}): SampleRequest {
  return {
    rows: rows.map((tokens, stream): SampleRow => ({ tokens, stream })),
    seed: 3, step: 4, temperature: 1, stopTokens: [2], maxLength: 40, ...more,
  };
}

function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}

/** The loss as `Objective` words it, in float64 from the reference transformer. */
function lossOf(config: PolicyConfig, weights: Float32Array | Float64Array, rows: readonly UpdateRow[], objective: Objective, temperature: number): number {
  return sum(rows.flatMap((row) => {
    const law = lawOf(config, weights, row.tokens, temperature);
    return Array.from(row.tokens, (token, t) => {
      const weight = row.weights[t] ?? 0;
      if (t === 0 || weight === 0) return 0;
      const lp = law[t - 1]?.[token] ?? NaN;
      if (objective.kind === 'supervised') return -weight * lp;
      const A = row.advantages?.[t] ?? NaN;
      const ratio = Math.exp(lp - (row.oldLogProbs?.[t] ?? NaN));
      const clipped = Math.min(Math.max(ratio, 1 - objective.epsilonLow), 1 + objective.epsilonHigh);
      const delta = (row.referenceLogProbs?.[t] ?? NaN) - lp;
      return weight * (objective.beta * (Math.exp(delta) - delta - 1) - Math.min(ratio * A, clipped * A));
    });
  }));
}

describe.each([['tied', TINY], ['grouped queries, untied', GROUPED]] as const)('%s', (_, config) => {
  const tokens = tokenRows(config, LENGTHS);

  it('scores tokens as the float64 reference does, at two temperatures', async () => {
    const engine = await engineFor(config);
    for (const temperature of [1, 0.7]) {
      const scores = await engine.score({ rows: tokens, temperature, alternatives: 3 });
      for (const [r, row] of tokens.entries()) {
        const law = lawOf(config, checkpoint(config).weights, row, temperature);
        expect(scores[r]?.logProbs[0]).toBeNaN();
        for (let t = 1; t < row.length; t++) {
          const expected = law[t - 1] ?? [];
          expect(scores[r]?.logProbs[t]).toBeCloseTo(expected[row[t] ?? 0] ?? NaN, 4);
          expect(scores[r]?.entropy[t]).toBeCloseTo(-sum(expected.map((lp) => (lp === -Infinity ? 0 : lp * Math.exp(lp)))), 4);
          const best = [...expected.keys()].sort((a, b) => (expected[b] ?? 0) - (expected[a] ?? 0)).slice(0, 3);
          expect([...(scores[r]?.alternatives?.ids.subarray(3 * t, 3 * t + 3) ?? [])]).toEqual(best);
          expect(scores[r]?.alternatives?.logProbs[3 * t]).toBeCloseTo(expected[best[0] ?? 0] ?? NaN, 4);
        }
      }
    }
  });

  it.each<Objective>([{ kind: 'supervised' }, GRPO])('has the gradient of the float64 $kind loss', async (objective) => {
    const engine = await engineFor(config);
    const temperature = 0.8;
    const near = await engine.score({ rows: tokens, temperature });
    const rows = updateRows(tokens, near.map((s) => s.logProbs));
    const { weights } = checkpoint(config);
    const report = await engine.gradients({ rows, objective, temperature });
    expect(report.loss).toBeCloseTo(lossOf(config, weights, rows, objective, temperature), 5);
    if (objective.kind === 'grpo') {
      const clipped = sum(report.rows.map((row) => sum(row.clipped)));
      expect(clipped).toBeGreaterThan(2);
      expect(clipped).toBeLessThan(sum(LENGTHS) / 2);
    }
    const random = new Random(17);
    for (const slice of parameterLayout(config).slices.filter((s) => !/layers\.1/.test(s.name))) {
      const direction = new Float64Array(weights.length);
      for (let i = slice.offset; i < slice.offset + slice.size; i++) direction[i] = random.normal();
      const step = 1e-5;
      const moved = (sign: number): number =>
        lossOf(config, Float64Array.from(weights, (w, i) => w + sign * step * (direction[i] ?? 0)), rows, objective, temperature);
      const difference = (moved(1) - moved(-1)) / (2 * step);
      const analytic = sum(direction.map((x, i) => x * (report.gradient[i] ?? 0)));
      const scale = Math.sqrt(sum(report.gradient.slice(slice.offset, slice.offset + slice.size).map((g) => g * g)));
      expect(Math.abs(analytic - difference) / scale, slice.name).toBeLessThan(1e-3);
    }
  });

  it('decodes the tokens and log-probabilities of a full forward pass', async () => {
    const engine = await engineFor(config);
    const temperature = 0.9;
    const { rows } = await engine.continue(request(tokens, { temperature }));
    expect(rows.some((row) => row.stop === 'length')).toBe(true);
    const whole = tokens.map((row, r) => Uint32Array.from([...row, ...(rows[r]?.tokens ?? [])]));
    const scores = await engine.score({ rows: whole, temperature });
    for (const [r, row] of rows.entries()) {
      expect(row.tokens.length).toBeGreaterThan(0);
      for (const [i, logProb] of row.logProbs.entries()) {
        expect(Math.abs(logProb - (scores[r]?.logProbs[(tokens[r]?.length ?? 0) + i] ?? NaN))).toBeLessThan(1e-4);
      }
    }
  });

  it('starts with a ratio of 1: training sees the law that sampled', async () => {
    const engine = await engineFor(config);
    const { rows } = await engine.continue(request(tokens));
    const report = await engine.gradients({
      rows: rows.map((row, r) => {
        const prompt = tokens[r] ?? new Uint32Array();
        const whole = Uint32Array.from([...prompt, ...row.tokens]);
        const own = (value: (i: number) => number): Float32Array =>
          Float32Array.from(whole, (__, t) => (t < prompt.length ? NaN : value(t - prompt.length)));
        return {
          tokens: whole, weights: own(() => 0.01).map((w) => (Number.isNaN(w) ? 0 : w)),
          advantages: own(() => 1), oldLogProbs: own((i) => row.logProbs[i] ?? NaN),
        };
      }),
      objective: { ...GRPO, beta: 0 }, temperature: 1,
    });
    const ratios = report.rows.flatMap((row) => [...row.ratio].filter((x) => !Number.isNaN(x)));
    expect(ratios.length).toBe(sum(rows.map((row) => row.tokens.length)));
    for (const ratio of ratios) expect(Math.abs(ratio - 1)).toBeLessThan(1e-4);
  });
});

describe('decoding', () => {
  const prompts = tokenRows(TINY, [5, 9, 5, 17, 2, 5]);
  const same = prompts[0] ?? new Uint32Array();
  const rows = prompts.map((row, r) => (r === 2 ? same : row));

  it('does not depend on the order of the rows, nor on the number of workers', async () => {
    const engine = await engineFor(TINY);
    const forwards = await engine.continue(request(rows));
    const alone = await engineFor(TINY, 1);
    const original = request(rows);
    const backwards = await alone.continue({ ...original, rows: [...original.rows].reverse() });
    expect(backwards.rows.map((row) => [...row.tokens]).reverse()).toEqual(forwards.rows.map((row) => [...row.tokens]));
    expect(new Set(forwards.rows.map((row) => row.tokens.join())).size).toBe(rows.length);
  });

  it('goes on from its cache as if it began afresh', async () => {
    const engine = await engineFor(TINY);
    const stops = Array.from({ length: 12 }, (_, i) => 3 + i);
    let contexts = rows;
    for (let turn = 0; turn < 4; turn++) {
      const live = [...contexts.keys()].filter((r) => turn < 2 || r % 2 === 0);
      const again = (r: number): SampleRow => ({ tokens: contexts[r] ?? new Uint32Array(), stream: r });
      const ask = { ...request([], { stopTokens: stops, maxLength: 60 }), rows: live.map(again) };
      const warm = await engine.continue(ask);
      const cold = await (await engineFor(TINY)).continue(ask);
      expect(warm.rows.map((row) => [...row.tokens])).toEqual(cold.rows.map((row) => [...row.tokens]));
      for (const [i, row] of warm.rows.entries()) {
        for (const [t, logProb] of row.logProbs.entries()) expect(logProb).toBeCloseTo(cold.rows[i]?.logProbs[t] ?? NaN, 4);
      }
      contexts = contexts.map((row, r) => Uint32Array.from([...row, ...(warm.rows[live.indexOf(r)]?.tokens ?? []), 7, 20 + turn, r + 9]));
    }
    // A context that was rewritten, not continued, must not be read from the cache.
    const rewritten = request(contexts.map((row) => row.map((id, t) => (t === 1 ? (id % 30) + 1 : id))), { maxLength: 64 });
    const warm = await engine.continue(rewritten);
    const cold = await (await engineFor(TINY)).continue(rewritten);
    expect(warm.rows.map((row) => [...row.tokens])).toEqual(cold.rows.map((row) => [...row.tokens]));
  });

  it('gives rows of one stream the same random numbers, each its own cache', async () => {
    const engine = await engineFor(TINY);
    const twice = request([same, same, rows[1] ?? same]);
    const ask = { ...twice, rows: twice.rows.map((row) => ({ ...row, stream: 4 })) };
    const { rows: drawn } = await engine.continue(ask);
    expect(drawn[1]).toEqual(drawn[0]);
    expect(await engine.continue(ask)).toEqual({ rows: drawn });
    const alone = await (await engineFor(TINY)).continue({ ...ask, rows: ask.rows.slice(2) });
    expect([...(drawn[2]?.tokens ?? [])]).toEqual([...(alone.rows[0]?.tokens ?? [])]);
  });

  it('forgets keys and values when the weights change', async () => {
    const engine = await engineFor(TINY);
    await engine.continue(request(rows));
    await engine.update({ rows: updateRows(rows, rows.map(() => new Float32Array())), objective: { kind: 'supervised' }, temperature: 1 }, ADAMW);
    const warm = await engine.continue(request(rows));
    const fresh = await engineFor(TINY);
    await fresh.load(await engine.snapshot());
    expect(await fresh.continue(request(rows))).toEqual(warm);
  });

  it('never writes suppressed or banned ids, and takes the most probable at temperature 0', async () => {
    const engine = await engineFor(TINY);
    const bannedTokens = Array.from({ length: 40 }, (_, i) => i + 1).filter((id) => ![2, 7, 11].includes(id));
    const hot = await engine.continue(request(rows, { bannedTokens, temperature: 5 }));
    const written = new Set(hot.rows.flatMap((row) => [...row.tokens]));
    expect([...written].every((id) => [2, 7, 11].includes(id) || id > 40)).toBe(true);
    expect([...written].some((id) => [0, 35, 36].includes(id))).toBe(false);

    const cold = await engine.continue(request(rows, { temperature: 0, maxLength: 20 }));
    for (const [r, row] of cold.rows.entries()) {
      const prompt = rows[r] ?? new Uint32Array();
      const law = lawOf(TINY, checkpoint(TINY).weights, Uint32Array.from([...prompt, ...row.tokens]));
      for (const [i, token] of row.tokens.entries()) {
        const next = law[prompt.length + i - 1] ?? [];
        expect(token).toBe(next.indexOf(Math.max(...next)));
        expect(row.logProbs[i]).toBe(0);
      }
    }
  });

  it('narrows to one id with top-k 1, and stops at stop tokens and at the length', async () => {
    const engine = await engineFor(TINY);
    const greedy = await engine.continue(request(rows, { temperature: 0 }));
    expect((await engine.continue(request(rows, { topK: 1 }))).rows.map((row) => [...row.tokens])).toEqual(greedy.rows.map((row) => [...row.tokens]));
    expect((await engine.continue(request(rows, { topP: 1e-6 }))).rows.map((row) => [...row.tokens])).toEqual(greedy.rows.map((row) => [...row.tokens]));

    const { rows: short } = await engine.continue(request(rows, { stopTokens: Array.from({ length: 20 }, (_, i) => 2 + i), maxLength: 17 }));
    expect(short[3]).toEqual({ tokens: new Uint32Array(), logProbs: new Float32Array(), stop: 'length' });
    for (const [r, { tokens, stop }] of short.entries()) {
      const hits = [...tokens].map((id) => id >= 2 && id < 22);
      expect(hits.slice(0, -1).includes(true)).toBe(false);
      if (stop === 'token') expect(hits.at(-1)).toBe(true);
      else expect((rows[r]?.length ?? 0) + tokens.length).toBe(17);
    }
    expect(new Set(short.map((row) => row.stop))).toEqual(new Set(['token', 'length']));
  });

  it('stops between tokens when the signal is raised', async () => {
    const engine = await engineFor(TINY);
    const abort = new AbortController();
    const call = engine.continue(request(rows, { maxLength: 64, stopTokens: [], signal: abort.signal }));
    setTimeout(() => { abort.abort(new Error('enough')); }, 1);
    await expect(call).rejects.toThrow('enough');
    expect((await engine.continue(request(rows))).rows.length).toBe(rows.length);
  });
});

describe('updates', () => {
  const tokens = tokenRows(TINY, LENGTHS);
  const supervised = { objective: { kind: 'supervised' } as const, temperature: 1 };

  it('gives masked tokens no gradient, whatever their arrays hold', async () => {
    const engine = await engineFor(TINY);
    const near = await engine.score({ rows: tokens, temperature: 1 });
    const rows = updateRows(tokens, near.map((s) => s.logProbs));
    const poisoned = rows.map((row) => {
      const poison = (values: Float32Array | undefined): Float32Array =>
        Float32Array.from(values ?? [], (value, t) => (t === 0 || row.weights[t] === 0 ? NaN : value));
      return {
        tokens: row.tokens, weights: row.weights, advantages: poison(row.advantages),
        oldLogProbs: poison(row.oldLogProbs), referenceLogProbs: poison(row.referenceLogProbs),
      };
    });
    const clean = await engine.gradients({ rows, objective: GRPO, temperature: 1 });
    const dirty = await engine.gradients({ rows: poisoned, objective: GRPO, temperature: 1 });
    expect(dirty).toEqual(clean);
    expect(Number.isFinite(clean.gradNorm)).toBe(true);
    for (const [r, row] of rows.entries()) {
      for (const [t, weight] of row.weights.entries()) {
        const told = clean.rows[r];
        if (t > 0 && weight !== 0) {
          expect(told?.gradient[t]).toBeGreaterThanOrEqual(0);
          expect(told?.ratio[t]).toBeGreaterThan(0);
        } else {
          expect([told?.dLogProb[t], told?.gradient[t], told?.clipped[t]]).toEqual([0, 0, 0]);
          expect([told?.logProbs[t], told?.ratio[t], told?.kl[t], told?.entropy[t]]).toEqual([NaN, NaN, NaN, NaN]);
        }
      }
    }
  });

  it('reports what the loss says of each token', async () => {
    const engine = await engineFor(TINY);
    const near = await engine.score({ rows: tokens, temperature: 1 });
    const rows = updateRows(tokens, near.map((s) => s.logProbs));
    const report = await engine.gradients({ rows, objective: GRPO, temperature: 1 });
    expect(report.skipped).toBe('not-requested');
    expect(report.gradNorm).toBeCloseTo(Math.sqrt(sum(report.gradient.map((g) => g * g))), 5);
    for (const [r, row] of rows.entries()) {
      const law = lawOf(TINY, checkpoint(TINY).weights, row.tokens);
      for (const [t, weight] of row.weights.entries()) {
        if (t === 0 || weight === 0) continue;
        const told = report.rows[r];
        const next = law[t - 1] ?? [];
        const lp = next[row.tokens[t] ?? 0] ?? NaN;
        const A = row.advantages?.[t] ?? NaN;
        const ratio = Math.exp(lp - (row.oldLogProbs?.[t] ?? NaN));
        const delta = (row.referenceLogProbs?.[t] ?? NaN) - lp;
        const clipped = A > 0 ? ratio > 1.3 : ratio < 0.8;
        const dLogProb = weight * ((clipped ? 0 : -A * ratio) + 0.1 * (1 - Math.exp(delta)));
        const rest = sum(next.map((q, id) => (id === row.tokens[t] ? (1 - Math.exp(q)) ** 2 : Math.exp(2 * q))));
        expect(told?.logProbs[t]).toBeCloseTo(lp, 4);
        expect(told?.entropy[t]).toBeCloseTo(-sum(next.map((q) => (q === -Infinity ? 0 : q * Math.exp(q)))), 4);
        expect(told?.ratio[t]).toBeCloseTo(ratio, 4);
        expect(told?.kl[t]).toBeCloseTo(Math.exp(delta) - delta - 1, 4);
        expect(told?.clipped[t]).toBe(clipped ? 1 : 0);
        expect(told?.dLogProb[t]).toBeCloseTo(dLogProb, 5);
        expect(told?.gradient[t]).toBeCloseTo(Math.abs(dLogProb) * Math.sqrt(rest), 5);
      }
    }
  });

  it('only reports on a reference where β is 0, and does without one', async () => {
    const engine = await engineFor(TINY);
    const near = await engine.score({ rows: tokens, temperature: 1 });
    const rows = updateRows(tokens, near.map((s) => s.logProbs));
    const without = rows.map(({ tokens: row, weights, advantages, oldLogProbs }) =>
      ({ tokens: row, weights, ...(advantages && { advantages }), ...(oldLogProbs && { oldLogProbs }) }));
    const unscored = rows.map((row, r) => (r === 0 ? { ...row, referenceLogProbs: row.weights.map(() => NaN) } : row));
    const objective = { ...GRPO, beta: 0 };
    const plain = await engine.gradients({ rows: without, objective, temperature: 1 });
    const told = await engine.gradients({ rows: unscored, objective, temperature: 1 });
    expect(told.gradient).toEqual(plain.gradient);
    expect(plain.rows.every((row) => row.kl.every(Number.isNaN))).toBe(true);
    expect(told.rows[0]?.kl.every(Number.isNaN)).toBe(true);
    expect(told.rows[4]?.kl.some((kl) => kl > 0)).toBe(true);
  });

  it('has no gradient where the clamp of the log-ratio acts', async () => {
    const engine = await engineFor(TINY);
    const row = tokens[1] ?? new Uint32Array();
    const one = { tokens: row, weights: Float32Array.of(0, 0, 1), advantages: Float32Array.of(0, 0, -1), oldLogProbs: Float32Array.of(0, 0, -60) };
    const report = await engine.gradients({ rows: [one], objective: { ...GRPO, beta: 0 }, temperature: 1 });
    expect((report.rows[0]?.ratio[2] ?? NaN) / Math.exp(20)).toBeCloseTo(1, 4);
    expect(report.gradNorm).toBe(0);
  });

  it('learns: the loss falls and Adam remembers across a snapshot', async () => {
    const engine = await engineFor(TINY);
    const rows = tokens.map((row) => ({ tokens: row, weights: new Float32Array(row.length).fill(1 / 57) }));
    const first = await engine.update({ rows, ...supervised }, ADAMW);
    expect(first.applied).toBe(true);
    for (let i = 0; i < 8; i++) await engine.update({ rows, ...supervised }, ADAMW);
    const middle = await engine.snapshot();
    expect(middle.optimizer.step).toBe(9);
    const copy = await engineFor(TINY);
    await copy.load(middle);
    const [a, b] = [await engine.update({ rows, ...supervised }, ADAMW), await copy.update({ rows, ...supervised }, ADAMW)];
    expect(a.loss).toBeLessThan(first.loss * 0.8);
    expect(b).toEqual(a);
    expect(await copy.snapshot()).toEqual(await engine.snapshot());
  });

  it('leaves weights and moments alone where a gradient is not finite, or no token has a weight', async () => {
    const engine = await engineFor(TINY);
    const row = tokens[0] ?? new Uint32Array();
    const weights = new Float32Array(row.length).fill(0.1);
    await engine.update({ rows: [{ tokens: row, weights }], ...supervised }, ADAMW);
    const before = await engine.snapshot();
    const broken = weights.slice();
    broken[3] = NaN;
    expect(await engine.update({ rows: [{ tokens: row, weights: broken }], ...supervised }, ADAMW)).toMatchObject({ applied: false, skipped: 'non-finite' });
    const unmasked = Float32Array.from(row, (_, t) => (t === 0 ? 1 : 0));
    expect(await engine.update({ rows: [{ tokens: row, weights: unmasked }], ...supervised }, ADAMW))
      .toMatchObject({ applied: false, skipped: 'no-trainable-token', loss: 0, gradNorm: 0 });
    expect(await engine.snapshot()).toEqual(before);
  });

  it('scores with the reference that was held, also after updates', async () => {
    const engine = await engineFor(TINY);
    await expect(engine.score({ rows: tokens, temperature: 1, weights: 'reference' })).rejects.toThrow('no reference');
    const before = await engine.score({ rows: tokens, temperature: 1 });
    await engine.holdReference();
    await engine.update({ rows: tokens.map((row) => ({ tokens: row, weights: new Float32Array(row.length).fill(1) })), ...supervised }, ADAMW);
    expect(await engine.score({ rows: tokens, temperature: 1, weights: 'reference' })).toEqual(before);
    expect(await engine.score({ rows: tokens, temperature: 1 })).not.toEqual(before);
  });
});

describe('the front', () => {
  const tokens = tokenRows(TINY, LENGTHS);

  it('traces nothing once it has seen the shapes', async () => {
    const { spawn, workers } = inProcess();
    const engine = createCpuEngine({ spawn });
    await engine.load(checkpoint(TINY));
    const step = async (n: number): Promise<void> => {
      await engine.continue(request(tokens, { step: n, stopTokens: [] }));
      await engine.score({ rows: tokens, temperature: 1 });
      await engine.update({ rows: updateRows(tokens, tokens.map(() => new Float32Array()), n), objective: GRPO, temperature: 1 }, ADAMW);
    };
    await step(0);
    const traced = workers.map((worker) => worker.traces);
    expect(Math.min(...traced)).toBeGreaterThan(2);
    for (let n = 1; n < 4; n++) await step(n);
    expect(workers.map((worker) => worker.traces)).toEqual(traced);
    engine.dispose();
  });

  it('carries calls out in the order in which they were made', async () => {
    const engine = await engineFor(TINY);
    const update = { rows: tokens.map((row) => ({ tokens: row, weights: new Float32Array(row.length).fill(1) })), objective: { kind: 'supervised' } as const, temperature: 1 };
    const updated = engine.update(update, ADAMW);
    const sampled = engine.continue(request(tokens));
    const snapshot = await engine.snapshot();
    await updated;
    const fresh = await engineFor(TINY);
    await fresh.load(snapshot);
    expect(await fresh.continue(request(tokens))).toEqual(await sampled);
  });

  it('refuses bad input with the reason', async () => {
    const engine = createCpuEngine({ spawn: inProcess().spawn });
    engines.push(engine);
    expect(engine.config).toBeUndefined();
    await expect(engine.snapshot()).rejects.toThrow('no policy is loaded');
    await expect(engine.load({ ...checkpoint(TINY), weights: new Float32Array(3) })).rejects.toThrow('hold 3 numbers');
    await engine.load(checkpoint(TINY));
    await expect(engine.continue(request(tokens, { maxLength: 65 }))).rejects.toThrow('beyond the 64 positions');
    await expect(engine.continue(request([Uint32Array.of(48)]))).rejects.toThrow('outside the vocabulary');
    await expect(engine.score({ rows: tokens, temperature: 0 })).rejects.toThrow('not above 0');
    const rows = [{ tokens: Uint32Array.of(1, 2), weights: Float32Array.of(0, 1) }];
    await expect(engine.gradients({ rows, objective: GRPO, temperature: 1 })).rejects.toThrow('lacks advantages');
    const everything = Array.from({ length: 48 }, (_, id) => id);
    await expect(engine.continue(request(tokens, { bannedTokens: everything }))).rejects.toThrow('every id');
  });

  it('runs in real threads as it does here, and ends with an error for whoever still waits', async () => {
    const update = { rows: tokens.map((row) => ({ tokens: row, weights: new Float32Array(row.length).fill(1) })), objective: { kind: 'supervised' } as const, temperature: 1 };
    const run = async (engine: PolicyEngine): Promise<unknown> => {
      await engine.load(checkpoint(TINY));
      return [await engine.update(update, ADAMW), await engine.continue(request(tokens)), await engine.snapshot()];
    };
    const engine = createCpuEngine({ spawn: spawnInNode });
    expect(await run(engine)).toEqual(await run(await engineFor(TINY)));
    const waiting = engine.continue(request(tokens));
    engine.dispose();
    await expect(waiting).rejects.toBeInstanceOf(EngineError);
    await expect(engine.snapshot()).rejects.toThrow('disposed');
  });
});
