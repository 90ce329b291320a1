import { beforeEach, describe, expect, it } from 'vitest';
import { DEFAULT_GRPO } from '../../../grpo/settings.ts';
import { spansOf } from '../../../rollout/grammar.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type ToolCall } from '../../../rollout/trajectory.ts';
import { syntheticStep } from '../../testing/synthetic.ts';
import type { Task } from '../../../tasks/task.ts';
import { sumTask, tokenizer } from '../../../rollout/testing.ts';
import { addBranch, branchStore, removeBranch, treeOf, type BranchInspection } from './branches.ts';
import { copied } from './copy.ts';
import { drawAt } from './draw.ts';
import { find, nextMatch } from './find.ts';
import { editableAt, firstDrawn, innerRange, turnAt, turnsOf } from './turns.ts';

const call = (code: string): ToolCall => ({ code, ok: true, output: '1', truncated: false, seconds: 0 });

/** Texts with who wrote them. */
function told(parts: readonly (readonly [string, 0 | 1 | 2])[], calls: readonly ToolCall[]): { task: Task; tokens: Uint32Array; owner: Uint8Array; spans: ReturnType<typeof spansOf>; calls: readonly ToolCall[] } {
  const ids = parts.map(([text, who]) => [tokenizer.encode(text), who] as const);
  const tokens = Uint32Array.from(ids.flatMap(([some]) => [...some]));
  const owner = Uint8Array.from(ids.flatMap(([some, who]) => [...some].map(() => who)));
  return { task: sumTask, tokens, owner, spans: spansOf(tokens, owner, tagsOf(tokenizer)), calls };
}

describe('turns', () => {
  const mixed = told([
    ['<bos>1+1', PROMPT], ['<think>x</think><python>a</python>', POLICY], ['<output>1</output>', ENVIRONMENT],
    ['<output>2</output><python>b</python>', POLICY],
  ], [call('a'), call('b')]);
  const turns = turnsOf(mixed);

  it('say what each of the two wrote, without tags', () => {
    expect(turns.map(({ kind, text }) => [kind, text])).toEqual([
      ['prompt', '1+1'], ['think', 'x'], ['call', 'a'], ['output', '1'], ['output', '2'], ['call', 'b'],
    ]);
    expect(turns.map(({ forged }) => forged)).toEqual([false, false, false, false, true, false]);
  });

  it('give a call its answer, also where the observation no longer fitted', () => {
    expect(turns.map((turn) => turn.call?.number)).toEqual([undefined, undefined, 1, undefined, undefined, 2]);
  });

  it('give no answer to a call that was not executed', () => {
    expect(turnsOf({ ...mixed, calls: [call('a')] }).at(-1)?.call).toBeUndefined();
    const open = told([['<bos>1', PROMPT], ['<python>a', POLICY]], []);
    expect(turnsOf(open).at(-1)).toMatchObject({ kind: 'call', text: 'a', closed: false });
  });

  it('are found by token, and the one to edit from anywhere', () => {
    const output = turns[3];
    expect(turnAt(turns, output?.start ?? -1)).toBe(3);
    expect(editableAt(turns, 0)).toBe(turns[2]);
    expect(editableAt(turns, output?.start ?? -1)).toBe(output);
    // Forged output is the policy's own text, not an observation.
    expect(editableAt(turns, turns[4]?.start ?? -1)).toBe(turns[5]);
    expect(innerRange(mixed, 0, 1)).toEqual([1, 1]);
    expect(firstDrawn(mixed.owner)).toBe(4);
    expect(firstDrawn(new Uint8Array([0, 0]))).toBe(0);
  });
});

describe('a draw', () => {
  // Three ids of probability 0.5, 0.3 and 0.15 at position 1; what stands there is id 4 or id 9.
  const alternatives = { ids: Uint32Array.from([0, 0, 0, 7, 4, 2]), logProbs: Float32Array.from([NaN, NaN, NaN, Math.log(0.5), Math.log(0.3), Math.log(0.15)]) };
  const scored = (p: number): Parameters<typeof drawAt>[0] => ({ logProbs: Float32Array.from([NaN, Math.log(p)]), entropy: Float32Array.from([NaN, 1]), alternatives });

  it('has the rank of what was drawn, and what is left for the rest', () => {
    const draw = drawAt(scored(0.3), Uint32Array.from([1, 4]), 1);
    expect([draw?.rank, draw?.choices.map((c) => c.drawn)]).toEqual([2, [false, true, false]]);
    expect(draw?.rest).toBeCloseTo(0.05, 6);
  });

  it('counts a drawn id beyond the choices apart from the rest', () => {
    const draw = drawAt(scored(0.02), Uint32Array.from([1, 9]), 1);
    expect(draw?.rank).toBeUndefined();
    expect(draw?.rest).toBeCloseTo(0.03, 6);
  });

  it('is not there for the first token', () => {
    expect(drawAt(scored(0.3), Uint32Array.from([1, 4]), 0)).toBeUndefined();
  });
});

describe('search', () => {
  const tokens = tokenizer.encode('<bos>aXa aXa<think>axa');
  it('works across tokens, without overlaps and without case', () => {
    expect(find({ task: sumTask, tokens }, 'axa')).toEqual([[1, 4], [5, 8], [9, 12]]);
    expect(find({ task: sumTask, tokens: tokenizer.encode('aaa') }, 'aa')).toEqual([[0, 2]]);
    expect(find({ task: sumTask, tokens }, '')).toEqual([]);
  });

  it('finds part of a tag as the whole token, and white space as it is shown', () => {
    expect(find({ task: sumTask, tokens }, 'hink')).toEqual([[8, 9]]);
    expect(find({ task: sumTask, tokens }, '␣a')).toEqual([[4, 6]]);
  });

  it('goes round', () => {
    const matches = find({ task: sumTask, tokens }, 'axa');
    expect([nextMatch(matches, 1, 1), nextMatch(matches, 9, 1), nextMatch(matches, 1, -1), nextMatch([], 1, 1)]).toEqual([[5, 8], [1, 4], [9, 12], undefined]);
  });
});

it('copies text, ids and owners of a range', () => {
  const rollout = syntheticStep({ step: 1, seed: 1, grpo: DEFAULT_GRPO, progress: 1 }).groups[0]?.members.find(({ calls }) => calls.length > 0);
  const output = rollout?.spans.find(({ owner }) => owner === ENVIRONMENT);
  if (rollout === undefined || output === undefined) throw new Error('no rollout with a call');
  const origin = { run: 'r', step: 1, question: 1, rollout: 1 };
  const range = [output.start - 1, output.start + 1] as const;
  expect(copied('text', rollout, range, origin)).toBe('</python><output>');
  expect(JSON.parse(copied('ids', rollout, range, origin))).toEqual([tokenizer.id('</python>'), tokenizer.id('<output>')]);
  expect(JSON.parse(copied('json', rollout, range, origin))).toMatchObject({
    run: 'r', start: range[0], tokens: [{ owner: 'policy', part: 'call' }, { at: output.start, id: tokenizer.id('<output>'), owner: 'environment', part: 'output', logProb: null }],
  });
});

describe('branches', () => {
  const inspection: Omit<BranchInspection, 'seed'> = { kind: 'branch', at: { run: 'r', step: 1, group: 0, rollout: 0 }, policy: 'before', keep: 3, insert: { kind: 'nothing' } };
  beforeEach(() => {
    branchStore.setState({ last: 0, all: [] });
  });

  it('stand below what they leave', () => {
    const first = addBranch(undefined, inspection, 1);
    const second = addBranch(undefined, inspection, 1);
    const third = addBranch(first, inspection, 1);
    expect(treeOf(branchStore.getState().all).map(({ branch, depth }) => [branch.id, depth])).toEqual([[first, 1], [third, 2], [second, 1]]);
  });

  it('keep the random numbers of the run where something was put in, and draw others where nothing was', () => {
    addBranch(undefined, inspection, 1);
    addBranch(undefined, inspection, 1);
    addBranch(undefined, { ...inspection, insert: { kind: 'token', id: 3 } }, 1);
    const seeds = branchStore.getState().all.map((branch) => branch.inspection.seed);
    expect(new Set(seeds).size).toBe(3);
    expect(seeds[2]).toBe(1);
  });

  it('go with what they left', () => {
    const first = addBranch(undefined, inspection, 1);
    const second = addBranch(undefined, inspection, 1);
    addBranch(addBranch(first, inspection, 1), inspection, 1);
    removeBranch(first);
    expect(branchStore.getState().all.map(({ id }) => id)).toEqual([second]);
  });
});
