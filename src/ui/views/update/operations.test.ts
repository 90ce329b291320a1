import { describe, expect, it } from 'vitest';
import { walkToken } from '../../../grpo/explain.ts';
import { tokenWeights } from '../../../grpo/batch.ts';
import { NO_CLIP } from '../../../grpo/settings.ts';
import { formulas, listing, OPERATIONS, pieces, type Rule } from './operations.ts';

const GRPO: Rule = { advantage: 'sample-std', aggregation: 'sequence-mean', epsilonLow: 0.2, epsilonHigh: 0.2, beta: 0 };
const RULES: readonly Rule[] = [
  GRPO,
  { ...GRPO, beta: 0.3 },
  { ...GRPO, aggregation: 'token-mean', epsilonHigh: 0.28 },
  { ...GRPO, aggregation: 'constant', epsilonLow: NO_CLIP, epsilonHigh: NO_CLIP },
];

const plain = (line: string): string => pieces(line).map(({ text }) => text).join('');

/** Runs the listing as it is shown, on given numbers. */
function run(rule: Rule, given: Readonly<Record<string, number>>, lists: Readonly<Record<string, unknown>>): Record<string, number> {
  const names = ['old', 'now', 'ratio', 'inside', 'gain', 'drift', 'kl', 'loss', 'w', 'total', 'clipped', 'push', 'm', 'v', 'theta'];
  const set = { ...Object.fromEntries(names.map((name) => [name, 0])), kl: 0, ...given };
  const helpers = {
    exp: Math.exp, min: Math.min, sqrt: Math.sqrt, clamp: (x: number, a: number, b: number): number => Math.min(Math.max(x, a), b),
    logSoftmax: (x: readonly number[]): number[] => x.map((z) => z - Math.log(x.reduce((s, y) => s + Math.exp(y), 0))),
    ...lists,
  };
  const source = OPERATIONS.flatMap((operation) => listing(rule)[operation]).map(plain).join('\n');
  // The listing itself is what is tested.
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  const program = new Function(...Object.keys(helpers), ...Object.keys(set), `${source}\nreturn { ${Object.keys(set).join(', ')} };`) as (...all: readonly unknown[]) => Record<string, number>;
  return program(...Object.values(helpers), ...Object.values(set));
}

describe.each(RULES)('the listing under %o', (rule) => {
  it.each([[0.9, -2], [-1.1, -2], [0.9, -0.1], [-1.1, -0.1], [0.4, -0.7], [0, -0.7]])('computes what the walk says, at A = %d', (A, old) => {
    const logits = [[0.2, -0.4, 1.1]];
    const logProb = (logits[0]?.[1] ?? 0) - Math.log((logits[0] ?? []).reduce((s, z) => s + Math.exp(z), 0));
    const masks = [Uint8Array.of(0, 1, 1, 1), Uint8Array.of(0, 1)];
    const [weights] = tokenWeights(masks, rule.aggregation, 160);
    const weight = weights?.[1] ?? NaN;
    const reference = -1.5;
    const done = run(
      rule,
      { A, low: rule.epsilonLow, high: rule.epsilonHigh, beta: rule.beta, reference, mask: 1, rollouts: 2, length: 3, allTokens: 4, maxLength: 160, id: 1, t: 0, m: 0.1, v: 0.2, theta: 1, g: 0.5, beta1: 0.9, beta2: 0.95, c1: 0.19, c2: 0.0975, rate: 0.01, eps: 1e-8 },
      { rollout: { logProbs: [old] }, logits },
    );
    const walk = walkToken({ oldLogProb: old, logProb, referenceLogProb: reference, advantage: A, weight }, rule);
    for (const [name, value] of Object.entries({ ratio: walk.ratio, gain: walk.gain, kl: walk.kl, loss: walk.loss, total: walk.weighted, push: walk.dLogProb, w: weight })) {
      expect(done[name], name).toBeCloseTo(value, 7);
    }
    expect(Boolean(done.clipped)).toBe(walk.clipped);
    // Kingma and Ba 2015, algorithm 1.
    expect([done.m, done.v].map((x) => x?.toFixed(9))).toEqual(['0.140000000', '0.202500000']);
    expect(done.theta).toBeCloseTo(1 - (0.01 * (0.14 / 0.19)) / (Math.sqrt(0.2025 / 0.0975) + 1e-8), 12);
  });

  it('has the terms of its formula', () => {
    const terms = (lines: readonly string[]): Set<string> => new Set(lines.flatMap(pieces).flatMap(({ term }) => (term === undefined ? [] : [term])));
    for (const operation of OPERATIONS) {
      const [formula, code] = [terms(formulas(rule)[operation]), terms(listing(rule)[operation])];
      expect([...formula].filter((term) => !code.has(term)), operation).toEqual([]);
    }
  });
});
