/** What a finite number of samples says about a rate. */
import { Random } from '../policy/random.ts';

/** Lower and upper end. */
export type Interval = readonly [low: number, high: number];

/** The normal quantile of two-sided 95 %. */
const Z = 1.959963984540054;
const RESAMPLES = 2000;

/** Wilson's score interval of 95 % for a rate of independent outcomes. @throws RangeError without outcomes. */
export function wilson(successes: number, outcomes: number): Interval {
  if (outcomes < 1) throw new RangeError('an interval needs at least one outcome');
  const rate = successes / outcomes;
  const spread = Z * Math.sqrt((rate * (1 - rate)) / outcomes + (Z / (2 * outcomes)) ** 2);
  const scale = 1 + Z ** 2 / outcomes;
  const centre = rate + Z ** 2 / (2 * outcomes);
  // At 0 and 1 the exact end is the rate itself, which rounding misses.
  return [rate === 0 ? 0 : (centre - spread) / scale, rate === 1 ? 1 : (centre + spread) / scale];
}

/**
 * The percentile bootstrap of 95 % for a mean. For values that are independent of each other: with several samples a
 * question, the means of the questions. The same seed gives the same interval. @throws RangeError without values.
 */
export function bootstrap(values: readonly number[], seed: number): Interval {
  if (values.length === 0) throw new RangeError('an interval needs at least one value');
  const random = new Random(seed, 0xb007);
  const means = Float64Array.from({ length: RESAMPLES }, () => {
    let sum = 0;
    for (let i = 0; i < values.length; i++) sum += random.pick(values);
    return sum / values.length;
  }).sort();
  const at = (share: number): number => means[Math.min(RESAMPLES - 1, Math.floor(share * RESAMPLES))] ?? NaN;
  return [at(0.025), at(0.975)];
}

/**
 * The chance that one of k samples is right, estimated without bias from n ≥ k samples of which c are:
 * 1 − C(n − c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374). @throws RangeError where k is not within 1 and n.
 */
export function passAtK(samples: number, correct: number, k: number): number {
  if (k < 1 || k > samples) throw new RangeError(`pass@${k} needs at least ${k} samples, and k of at least 1`);
  let allWrong = 1;
  for (let i = 0; i < k; i++) allWrong *= Math.max(0, samples - correct - i) / (samples - i);
  return 1 - allWrong;
}
