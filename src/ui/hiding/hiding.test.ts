import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keeping } from '../routes.ts';
import { CONTROLS, hiddenBy, hideQuery, parseHide } from './controls.ts';

describe('a link that hides controls', () => {
  it('names what it hides, and is read as it was written', () => {
    fc.assert(fc.property(fc.subarray([...CONTROLS]), (names) => {
      expect(parseHide(hideQuery(names))).toEqual(names);
    }));
  });

  it('hides what belongs to a group', () => {
    const hidden = hiddenBy(parseHide('step=3&hide=mask,reward,nonsense'));
    expect([...hidden].sort()).toEqual(['callCost', 'mask', 'noCall', 'reward', 'rule']);
    expect(hiddenBy(['settings']).has('learningRate')).toBe(true);
    expect(hiddenBy(['settings']).has('rail.train')).toBe(false);
    expect(hiddenBy(['objective']).has('mask')).toBe(true);
    expect(hiddenBy(['algorithm']).has('mask')).toBe(false);
  });
});

describe('moving through the page', () => {
  it('keeps what is hidden', () => {
    expect(keeping('/group?step=3', '#/train?seed=2&hide=mask,rail')).toBe('/group?step=3&hide=mask,rail');
    expect(keeping('/', '#/train?hide=mask')).toBe('/?hide=mask');
    expect(keeping('/train', '#/group')).toBe('/train');
  });

  it('lets the new address decide, and end it', () => {
    expect(keeping('/group?hide=rail', '#/train?hide=mask')).toBe('/group?hide=rail');
    expect(keeping('/group?hide=&step=3', '#/group?hide=mask')).toBe('/group?step=3');
    expect(keeping('/group?hide=', '#/group?hide=mask')).toBe('/group');
  });

  it('keeps presenting while the view stays', () => {
    expect(keeping('/lesson?stage=4', '#/lesson?stage=3&present=1&hide=mask')).toBe('/lesson?stage=4&hide=mask&present=1');
    expect(keeping('/update', '#/lesson?stage=3&present=1')).toBe('/update');
    expect(keeping('/lesson?stage=4&present=', '#/lesson?present=1')).toBe('/lesson?stage=4');
  });

  it('hands on nothing that would not be a name', () => {
    expect(keeping('/group', '#/train?hide=%3Cscript%3E')).toBe('/group');
  });
});
