import { describe, expect, it } from 'vitest';
import { ENVIRONMENT, POLICY } from '../../../rollout/trajectory.ts';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import { syntheticStep } from '../../testing/synthetic.ts';
import { clipState, maskCounts, position, signalScale, signalValue, visible } from './tokens.ts';

const record = syntheticStep({ step: 3, seed: 1, grpo: DEFAULT_GRPO, progress: 0.3 });
const group = record.groups.find(({ equal, members }) => !equal && members.some(({ calls }) => calls.length > 0));
if (group === undefined) throw new Error('the synthetic step has no mixed group with a call');
const called = group.members.find(({ calls }) => calls.length > 0);
if (called === undefined) throw new Error('no rollout with a call');

describe('mask counts', () => {
  it('add up to the rollout, and to the batch’s own weights', () => {
    const counts = maskCounts(called);
    expect(counts.prompt + counts.all).toBe(called.tokens.length);
    expect(counts.trained).toBe(called.weights.reduce((n, w) => n + (w === 0 ? 0 : 1), 0));
    expect(counts.trained).toBe(called.owner.reduce((n, o) => n + (o === POLICY ? 1 : 0), 0));
    expect(counts.kinds.find(({ kind }) => kind === 'output')?.trained).toBe(0);
    expect(counts.observed).toBeGreaterThan(0);
  });
});

describe('signals', () => {
  const observed = called.owner.indexOf(ENVIRONMENT);

  it('have no value, rather than 0, where the token was not trained', () => {
    for (const signal of ['entropy', 'advantage', 'ratio', 'clip', 'kl'] as const) {
      expect(signalValue(called, observed, signal, DEFAULT_GRPO)).toBeUndefined();
    }
  });

  it('give an observation a gradient of exactly 0', () => {
    expect(signalValue(called, observed, 'gradient', DEFAULT_GRPO)).toBe(0);
  });

  it('point the gradient where the advantage points', () => {
    const rollout = group.members.find(({ advantage }) => advantage !== 0);
    const at = rollout?.owner.indexOf(POLICY) ?? 0;
    if (rollout === undefined) throw new Error('all advantages are 0');
    expect(Math.sign(signalValue(rollout, at, 'gradient', DEFAULT_GRPO) ?? 0)).toBe(Math.sign(rollout.advantage));
  });

  it('share one symmetric scale in a group', () => {
    const scale = signalScale(group.members, 'advantage', DEFAULT_GRPO);
    const most = Math.max(...group.members.map(({ advantage }) => Math.abs(advantage)));
    expect(scale).toEqual({ kind: 'diverging', most });
    expect(scale && position(-most, scale)).toBe(-1);
    expect(scale && position(0, scale)).toBe(0);
  });

  it('put ratios on a log axis about 1', () => {
    const scale = { kind: 'ratio', most: 2 } as const;
    expect(position(1, scale)).toBe(0);
    expect(position(0.5, scale)).toBeCloseTo(-position(2, scale), 12);
  });
});

describe('the clip', () => {
  const at = called.owner.indexOf(POLICY);
  const { update } = called;
  if (update === undefined) throw new Error('no update');
  const withRatio = (ratio: number, clipped: 0 | 1): typeof called => ({
    ...called,
    update: { ...update, ratio: update.ratio.with(at, ratio), clipped: update.clipped.with(at, clipped) },
  });

  it('is drawn as clipped only where the engine says that it acted', () => {
    expect(clipState(withRatio(1.5, 1), at, DEFAULT_GRPO)).toBe('clipped');
    expect(clipState(withRatio(1.5, 0), at, DEFAULT_GRPO)).toBe('outside');
    expect(clipState(withRatio(0.7, 0), at, DEFAULT_GRPO)).toBe('outside');
    expect(clipState(withRatio(1.1, 0), at, DEFAULT_GRPO)).toBe('inside');
  });
});

it('shows what cannot be seen', () => {
  expect(visible(' a\n\t')).toBe('␣a⏎⇥');
  expect(visible('\0\u001b\u007f')).toBe('␀␛␡');
  // A turned direction, a mark without its letter, a lone surrogate; a letter with its mark stays whole.
  expect([visible('a\u202eb'), visible('\u0301'), visible('\ud800'), visible('e\u0301')]).toEqual(['a⟨U+202E⟩b', '◌\u0301', '⟨U+D800⟩', 'e\u0301']);
});
