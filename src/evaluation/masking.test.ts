import { describe, expect, it } from 'vitest';
import { scripted, tokenizer } from '../rollout/testing.ts';
import { ENVIRONMENT, POLICY } from '../rollout/trajectory.ts';
import { driftOf } from './masking.ts';

const call = '<python>print(17+25)</python>';

describe('the drift of a policy', () => {
  it('is read where it is said to be', async () => {
    const trajectories = await scripted([`${call}<output>1</output><eos>`, '<answer>42</answer><eos>']);
    // Own log-probs: those of the sample; where the environment writes <output> the policy gives it a quarter.
    const own = trajectories.map(({ owner, logProbs }) => ({
      logProbs: logProbs.map((logProb, t) => (owner[t] === ENVIRONMENT ? (owner[t - 1] === POLICY ? Math.log(0.25) : -9) : logProb)),
    }));
    const halved = own.map(({ logProbs }) => ({ logProbs: logProbs.map((logProb) => logProb - Math.LN2) }));
    const drift = driftOf(trajectories, own, halved, tokenizer);
    expect(drift.outputAfterCall).toBeCloseTo(0.25);
    expect(drift.forged).toBe(0.5);
    // exp(δ) − δ − 1 at δ = −ln 2.
    expect(drift.klToBase).toBeCloseTo(0.5 + Math.LN2 - 1, 5);
  });

  it('is nothing against itself, and says where there was no call', async () => {
    const trajectories = await scripted(['<answer>42</answer><eos>']);
    expect(driftOf(trajectories, trajectories, trajectories, tokenizer)).toEqual({ klToBase: 0, forged: 0, outputAfterCall: null });
  });

  it('stays finite where the reference finds a token impossible', async () => {
    const trajectories = await scripted(['<answer>42</answer><eos>']);
    const impossible = trajectories.map(({ logProbs }) => ({ logProbs: logProbs.map(() => -1e4) }));
    expect(driftOf(trajectories, trajectories, impossible, tokenizer).klToBase).toBeCloseTo(19, 5);
  });
});
