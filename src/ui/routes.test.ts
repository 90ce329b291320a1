import { describe, expect, it } from 'vitest';
import { groupAddress, parseSelection, splitHash, type Selection } from './routes.ts';

describe('the address', () => {
  it('gives back every selection', () => {
    const selection: Selection = { run: 'r-1', step: 12, question: 3, rollout: 5, token: 0, signal: 'gradient', other: 'latest', more: { op: 'ratio' } };
    expect(parseSelection(splitHash(`#${groupAddress(selection)}`).search)).toEqual(selection);
  });

  it('leaves defaults out', () => {
    expect(groupAddress(parseSelection(''))).toBe('/group');
  });

  it('ignores what no link of ours holds', () => {
    const { run, step, question, token, signal } = parseSelection('run=<b>&step=-1&question=1e9&token=x&signal=bold');
    expect({ run, step, question, token, signal }).toEqual({
      run: undefined, step: undefined, question: 1, token: undefined, signal: 'none',
    });
  });

  it('splits path and query', () => {
    expect(splitHash('#/group?run=a')).toEqual({ path: '/group', search: 'run=a' });
    expect(splitHash('')).toEqual({ path: '/', search: '' });
  });
});
