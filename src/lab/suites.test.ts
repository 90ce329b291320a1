import { describe, expect, it } from 'vitest';
import { CONDITIONS, modelOf } from '../evaluation/conditions.ts';
import { grpoOf, isWorkflow, mostReward } from './suite-settings.ts';
import { evaluationOf, SUITE_NAMES, suiteOf } from './suites.ts';

describe('every suite', () => {
  it('is known by its name, and has policies for each condition', () => {
    for (const name of SUITE_NAMES) {
      expect(suiteOf(name).name).toBe(name);
      for (const condition of CONDITIONS) expect(modelOf(name, condition)).toMatch(/-(base|trained)$/);
    }
    expect(() => suiteOf('none')).toThrow(RangeError);
  });

  it('is evaluated with the limits that it is trained with, by the rule without costs', () => {
    for (const name of SUITE_NAMES) {
      const { maxCalls, maxLength, reward } = evaluationOf(name);
      expect({ maxCalls, maxLength }).toEqual({ maxCalls: grpoOf(name).maxCalls, maxLength: grpoOf(name).maxLength });
      expect(reward).toEqual({ noCall: 'paper', callCost: 0 });
    }
    expect(SUITE_NAMES.filter(isWorkflow)).toEqual(['workflow']);
    expect(SUITE_NAMES.map(mostReward)).toEqual([4, 4, 1.2]);
  });
});
