import { describe, expect, it } from 'vitest';
import type { StepRecord, TrainedTrajectory } from '../grpo/record.ts';
import { compareGroup } from '../grpo/advantages.ts';
import { scoreMath } from '../reward/math.ts';
import { PAPER_REWARD } from '../reward/reward.ts';
import { scripted, sumTask, tokenizer } from '../rollout/testing.ts';
import { arithmetic } from '../tasks/arithmetic.ts';
import { decodeStep, encodeStep } from './rollouts.ts';

async function step(): Promise<StepRecord> {
  const trajectories = await scripted([
    '<think>sum: use code</think><python>print(17+25)</python><answer>42</answer><eos>',
    '<python>show(1)</python><output>42</output>"\\\n<eos>',
  ]);
  const rewards = trajectories.map((t) => scoreMath(t, arithmetic, tokenizer, PAPER_REWARD));
  const { advantages, mean, std, equal } = compareGroup(rewards.map((r) => r.total), 'sample-std');
  const members = trajectories.map((t, i): TrainedTrajectory => {
    const noise = Float32Array.from(t.tokens, (_, k) => Math.sin(k * 1.7 + i) * 10 ** ((k % 9) - 4));
    // A step whose gradient was not finite must be read back too.
    noise.set([NaN, Infinity, -Infinity]);
    const reward = rewards[i];
    if (reward === undefined) throw new Error('no reward');
    return {
      ...t, reward: i === 0 ? reward : { ...reward, workflow: { state: 0.5, functions: 0.25, functionsMatched: 1, functionsNeeded: 2 } }, advantage: advantages[i] ?? 0, weights: noise.map(Math.abs),
      update: i === 1 ? undefined : {
        logProbs: t.logProbs, entropy: noise, ratio: noise, kl: noise, clipped: Uint8Array.from(t.tokens, (id) => id % 2),
        dLogProb: noise, gradient: noise,
      },
    };
  });
  return { step: 7, groups: [{ task: sumTask, members, mean, std, equal, dropped: false }], metrics: {}, warnings: [] };
}

describe('rollout files', () => {
  it('hold a step without loss, every float bit for bit', async () => {
    const record = await step();
    const { metrics: _m, warnings: _w, ...rest } = record;
    expect(decodeStep(encodeStep(record, tokenizer))).toEqual(rest);
  });

  it('name the line at fault', async () => {
    const [first = '', second = ''] = encodeStep(await step(), tokenizer).split('\n');
    expect(() => decodeStep(`${first}\n{`)).toThrow('line 2 is not JSON');
    expect(() => decodeStep(`${first}\n${second.replace('"stop":"end"', '"stop":"tired"')}`)).toThrow('line 2: stop');
    expect(() => decodeStep(first.replace('"owner":[0,', '"owner":['))).toThrow(/line 1: owner has \d+ entries/);
    expect(() => decodeStep(`${first}\n${second.replace('"step":7', '"step":8')}`)).toThrow('step 8 in a file of step 7');
    expect(() => decodeStep('\n')).toThrow('no rollouts');
  });
});
