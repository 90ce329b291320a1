import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VARIANTS } from '../../../grpo/settings.ts';
import { train } from '../../text/en/train.ts';
import { applies, FIELDS, nameOf, parseSettings, settingsQuery, valueAt, withValue } from './fields.ts';
import { flatten, PRESET_SETTINGS, PRESETS, STARTS } from './presets.ts';

const { paper, selective } = PRESET_SETTINGS;

describe('fields', () => {
  it('cover every setting but the suite', () => {
    expect([...flatten(paper).keys()].filter((path) => !FIELDS.has(path as never))).toEqual(['suite']);
  });

  it('hold every preset and variant within their bounds: a link gives them back', () => {
    for (const preset of PRESETS) {
      for (const { settings } of Object.values(VARIANTS)) {
        const run = { ...PRESET_SETTINGS[preset], seed: 12, grpo: { ...PRESET_SETTINGS[preset].grpo, ...settings } };
        expect(parseSettings(settingsQuery(run))).toEqual(run);
      }
    }
  });

  it('bring the questions and the tool of a starting policy with it, in links too', () => {
    for (const [model, start] of Object.entries(STARTS)) {
      const settings = withValue({ ...selective, seed: 3 }, 'model', model);
      expect(settings).toMatchObject({ model, ...start, seed: 3 });
      expect(parseSettings(settingsQuery(settings))).toEqual(settings);
      const flaky = withValue(settings, 'tool', 'flaky');
      expect(parseSettings(settingsQuery(flaky))).toEqual(flaky);
    }
  });

  it('bring the settings of the other rule where a starting policy has one', () => {
    const changed = { ...paper, grpo: { ...paper.grpo, beta: 0.05 } };
    const { workflow } = PRESET_SETTINGS;
    expect(withValue(changed, 'model', 'chatty-base').grpo.beta).toBe(0.05);
    expect(withValue(changed, 'model', 'workflow-base').grpo).toEqual(workflow.grpo);
    expect(withValue(workflow, 'model', 'arithmetic-base').grpo).toEqual(paper.grpo);
    expect([workflow.grpo.group, workflow.grpo.maxCalls]).toEqual([8, 7]);
  });

  it('leave out what says nothing of workflows', () => {
    const left = [...FIELDS.keys()].filter((path) => !applies(path, PRESET_SETTINGS.workflow));
    expect(left).toEqual(['tool', 'grpo.reward.noCall']);
    expect([...FIELDS.keys()].every((path) => applies(path, paper))).toBe(true);
  });

  it('have words for every choice', () => {
    for (const [path, kind] of FIELDS) {
      const values = kind.kind === 'choice' ? kind.values : [];
      for (const value of values) expect(train).toHaveProperty([`option.${nameOf(path)}.${value}`]);
    }
  });

  it('change one setting and no other', () => {
    const changed = withValue(paper, 'grpo.reward.callCost', 0.5);
    expect(valueAt(changed, 'grpo.reward.callCost')).toBe(0.5);
    expect(withValue(changed, 'grpo.reward.callCost', 0)).toEqual(paper);
    expect(paper.grpo.reward.callCost).toBe(0);
  });
});

describe('links', () => {
  it('are short where little differs', () => {
    expect(settingsQuery(paper)).toBe('');
    expect(settingsQuery({ ...selective, seed: 3 })).toBe('preset=selective&seed=3');
  });

  it('cannot bring in what the form would refuse', () => {
    expect(parseSettings('steps=1e99&seed=1.5&grpo.temperature=0&grpo.mask=maybe&model=../x&grpo.beta=&grpo.x=1&preset=none')).toEqual(paper);
  });

  it('survive any query', () => {
    fc.assert(fc.property(fc.string(), (search) => {
      expect([...flatten(parseSettings(search)).keys()]).toEqual([...flatten(paper).keys()]);
    }));
  });
});
