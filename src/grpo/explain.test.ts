import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tokenWeights } from './batch.ts';
import { CASES, casesOf, EXAMPLES, walkAdam, walkToken, weightParts } from './explain.ts';
import type { GrpoSettings } from './settings.ts';

const RULE = { epsilonLow: 0.2, epsilonHigh: 0.28, beta: 0.1 };
const EPSILON32 = 2 ** -23;

describe('a token', () => {
  // Worked by hand: ρ = 0.6/0.4.
  const up = { oldLogProb: Math.log(0.4), logProb: Math.log(0.6), advantage: 2, weight: 0.01 };

  it('is stopped by the clip once it went far enough to the side of its advantage', () => {
    const walk = walkToken(up, { ...RULE, beta: 0 });
    expect(walk).toMatchObject({ clipped: true, dLogProb: 0, inside: 1.28, kl: 0 });
    expect([walk.ratio, walk.plain, walk.bounded, walk.gain, walk.loss, walk.weighted].map((x) => Number(x.toFixed(9))))
      .toEqual([1.5, 3, 2.56, 2.56, -2.56, -0.0256]);
  });

  it('outside of the band is still pushed back', () => {
    const walk = walkToken({ ...up, advantage: -2 }, { ...RULE, beta: 0 });
    expect(walk.clipped).toBe(false);
    expect(walk.gain).toBeCloseTo(-3, 12);
    expect(walk.dLogProb).toBeCloseTo(0.03, 12);
  });

  it('is pulled to the reference', () => {
    const walk = walkToken({ ...up, advantage: 0, referenceLogProb: Math.log(0.3) }, RULE);
    // π_ref/π = 1/2: k3 = 1/2 − ln 1/2 − 1; its slope is 1 − 1/2.
    expect(walk.kl).toBeCloseTo(0.193147181, 9);
    expect(walk.dLogProb).toBeCloseTo(0.01 * 0.1 * 0.5, 12);
  });

  it('has the gradient of its own loss', () => {
    for (const { oldLogProb, advantage } of [{ oldLogProb: -1, advantage: 0.7 }, { oldLogProb: -0.95, advantage: -1.3 }]) {
      const at = (logProb: number): ReturnType<typeof walkToken> =>
        walkToken({ oldLogProb, logProb, referenceLogProb: -2, advantage, weight: 0.3 }, RULE);
      const h = 1e-6;
      expect(at(-1).dLogProb).toBeCloseTo((at(-1 + h).weighted - at(-1 - h).weighted) / (2 * h), 8);
    }
  });

  it('that is context only adds exactly nothing, whatever it holds', () => {
    const walk = walkToken({ oldLogProb: NaN, logProb: NaN, advantage: 3, weight: 0 }, RULE);
    expect([walk.weighted, walk.dLogProb]).toEqual([0, 0]);
  });
});

describe('an example', () => {
  it.each(CASES)('%s shows what its name says', (name) => {
    const numbers = EXAMPLES[name];
    const rule = { epsilonLow: 0.2, epsilonHigh: 0.2, beta: 0 };
    const walk = walkToken(numbers, rule);
    expect(casesOf(numbers, rule, walk.ratio)).toContain(name);
    expect(walk.dLogProb === 0).toBe(['up-clipped', 'down-clipped', 'masked', 'equal'].includes(name));
  });
});

it('says what a weight is made of, as the batch has it', () => {
  const masks = [Uint8Array.of(0, 1, 1, 0, 1), Uint8Array.of(0, 1)];
  for (const aggregation of ['sequence-mean', 'token-mean', 'constant'] as const) {
    const weights = tokenWeights(masks, aggregation, 160);
    const parts = weightParts(aggregation, { rollouts: 2, tokensInLoss: 4, maxLength: 160 }, 3);
    expect(weights[0]?.[1]).toBe(Math.fround(1 / parts.reduce((a, b) => a * b, 1)));
  }
});

it('walks Adam as the paper has it', () => {
  // The first update: both moments are the gradient's own, whatever the decays.
  const g = 0.02;
  const optimizer = { learningRate: 5e-4, beta1: 0.9, beta2: 0.95, epsilon: 1e-8, weightDecay: 0.1 };
  const walk = walkAdam({ m: 0.1 * g, v: 0.05 * g * g, before: 2 }, optimizer, 1, true);
  expect(walk.mHat).toBeCloseTo(g, 12);
  expect(walk.vHat).toBeCloseTo(g * g, 12);
  expect(walk.step).toBeCloseTo(-5e-4, 9);
  expect(walk.decay).toBeCloseTo(-1e-4, 12);
});

/** A line of a recorded step, as far as it is needed here: the files' own reader lies in a later layer. */
interface Line {
  readonly log_probs: readonly (number | null)[];
  readonly advantage: number;
  readonly weights: readonly number[];
  readonly update: { readonly log_probs: readonly number[]; readonly ratio: readonly number[]; readonly clipped: readonly number[]; readonly d_log_prob: readonly number[] };
}

describe('the recorded run', () => {
  const folder = new URL('../../public/recorded/', import.meta.url);
  const { run, recorded } = JSON.parse(readFileSync(new URL('run.json', folder), 'utf8')) as { run: { settings: { grpo: GrpoSettings } }; recorded: number[] };

  it.each(recorded)('step %i: the engine’s numbers are those of the formula, to float precision', (step) => {
    const text = readFileSync(new URL(`step_${String(step).padStart(5, '0')}.jsonl`, folder), 'utf8');
    let tokens = 0;
    for (const { weights, log_probs, advantage, update } of text.trim().split('\n').map((line) => JSON.parse(line) as Line)) {
      for (const [t, weight] of weights.entries()) {
        if (weight === 0) {
          expect(update.d_log_prob[t]).toBe(0);
          continue;
        }
        tokens++;
        const walk = walkToken({ oldLogProb: log_probs[t] ?? NaN, logProb: update.log_probs[t] ?? NaN, advantage, weight }, run.settings.grpo);
        // A log-probability is a difference of numbers of a few tens.
        const within = 40 * EPSILON32;
        expect(Math.abs(walk.ratio - (update.ratio[t] ?? NaN))).toBeLessThanOrEqual(within);
        expect(walk.clipped).toBe(update.clipped[t] === 1);
        expect(Math.abs(walk.dLogProb - (update.d_log_prob[t] ?? NaN))).toBeLessThanOrEqual(within * Math.abs(walk.dLogProb));
      }
    }
    expect(tokens).toBeGreaterThan(2000);
  });
});
