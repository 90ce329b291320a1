import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { STAGES } from '../../../lesson/stages.ts';
import { CONTROLS } from '../../hiding/controls.ts';
import { SIGNALS, STEP_VIEWS } from '../../routes.ts';
import { PARTS as COMPARE_PARTS } from '../compare/address.ts';
import { PARTS as TOOLS_PARTS } from '../tools/place.ts';
import { withValue } from '../train/fields.ts';
import { PRESET_SETTINGS, PRESETS, STARTS } from '../train/presets.ts';
import { linkAddress, MASKS, parseLink, type Target } from './links.ts';
import { readNotes, writeNotes } from './notes.ts';
import { elapsed, LEAST_TOTAL, MOST_SECTION, planFor, SECTIONS, standing, startOf, taught, totalOf, type Plan, type SectionId } from './plan.ts';
import { workedGroup } from './sheet.ts';
import { parseTeach, teach, teachStore } from './store.ts';

describe('a plan', () => {
  it('has as many minutes as there are, and no stage in a hurry', () => {
    fc.assert(fc.property(fc.integer({ min: LEAST_TOTAL, max: 240 }), (total) => {
      const plan = planFor(total);
      expect(totalOf(plan)).toBe(total);
      for (const id of taught(plan)) expect(plan[id]).toBeGreaterThanOrEqual(2);
    }));
  });

  it('of 20 minutes teaches what ARTIST adds; of 45 all; of 90 all, twice as long', () => {
    expect(taught(planFor(20))).toEqual(['gap', 'interleaving', 'scoring', 'comparing', 'masking', 'closing']);
    expect(planFor(45)).toEqual({ gap: 4, interleaving: 6, scoring: 5, comparing: 6, masking: 6, strategy: 5, workflows: 4, loop: 6, closing: 3 });
    for (const id of SECTIONS) expect(planFor(90)[id]).toBe(2 * planFor(45)[id]);
  });

  it('says how far behind or ahead a class is', () => {
    const plan = planFor(45);
    expect(startOf(plan, 'scoring')).toBe(10);
    expect(standing(plan, 'scoring', 12 * 60)).toEqual({ lag: 0, left: 180 });
    expect(standing(plan, 'scoring', 17 * 60)).toEqual({ lag: 120, left: -120 });
    expect(standing(plan, 'scoring', 9 * 60)).toEqual({ lag: -60, left: 360 });
  });
});

const every = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<Record<SectionId, T>> => fc.record(Object.fromEntries(SECTIONS.map((id) => [id, of]))) as unknown as fc.Arbitrary<Record<SectionId, T>>;
const text = fc.array(fc.oneof(fc.string({ unit: 'grapheme' }).map((s) => s.replaceAll(/[\r\n]/g, '')), fc.constantFrom('', '## gap, 4 minutes', '##', '\\', '\\\\##', '轨迹（rollout）'))).map((lines) => lines.join('\n').replaceAll(/^\n+|\n+$/g, ''));

describe('a file of notes', () => {
  it('is read as it was written', () => {
    fc.assert(fc.property(every(fc.integer({ min: 0, max: MOST_SECTION })), every(text), (plan, notes) => {
      expect(readNotes(writeNotes(plan as Plan, notes))).toEqual({ plan, notes });
      expect(readNotes(`\uFEFF${writeNotes(plan as Plan, notes).replaceAll('\n', '\r\n')}`)).toEqual({ plan, notes });
    }));
  });

  it('may name some sections only, and no minutes', () => {
    expect(readNotes('Atelier teaching notes 1\n\n## masking\nMy words.\n')).toEqual({ plan: {}, notes: { masking: 'My words.' } });
  });

  it('says where it is wrong', () => {
    const file = 'Atelier teaching notes 1\n\n## gap, 4 minutes\nx\n';
    expect(readNotes('My diary\n')).toEqual({ kind: 'title' });
    expect(readNotes('Atelier teaching notes 1\n')).toEqual({ kind: 'empty' });
    expect(readNotes(`${file}\n## gasp\ny\n`)).toEqual({ kind: 'section', line: 6, text: '## gasp' });
    expect(readNotes(`${file}\n## gap\ny\n`)).toEqual({ kind: 'twice', line: 6, text: '## gap' });
    expect(readNotes(file.replace('4', '999'))).toEqual({ kind: 'minutes', line: 3, text: '## gap, 999 minutes' });
    expect(readNotes(file.replace('4', 'many'))).toEqual({ kind: 'minutes', line: 3, text: '## gap, many minutes' });
    expect(readNotes('x'.repeat(200_001))).toEqual({ kind: 'large' });
  });
});

const small = fc.integer({ min: 1, max: 99 });
const target: fc.Arbitrary<Target> = fc.oneof(
  fc.record({ view: fc.constant('lesson' as const), stage: fc.constantFrom(...STAGES) }),
  fc.record({ preset: fc.constantFrom(...PRESETS), model: fc.option(fc.constantFrom(...Object.keys(STARTS)), { nil: undefined }), seed: fc.nat(1e6), steps: small, mask: fc.boolean(), group: fc.integer({ min: 1, max: 32 }) })
    .map(({ preset, model, seed, steps, mask, group }) => {
      const start = PRESET_SETTINGS[preset];
      const { grpo, ...rest } = model === undefined ? start : withValue(start, 'model', model);
      return { view: 'train' as const, settings: { ...rest, seed, steps, grpo: { ...grpo, mask, group } } };
    }),
  fc.record({ view: fc.constantFrom(...STEP_VIEWS), step: small, question: small, rollout: small, signal: fc.constantFrom(...SIGNALS), mask: fc.constantFrom(...MASKS) }),
  fc.record({ view: fc.constant('compare' as const), part: fc.constantFrom(...COMPARE_PARTS) }),
  fc.record({ view: fc.constant('tools' as const), part: fc.constantFrom(...TOOLS_PARTS) }),
  fc.record({ view: fc.constantFrom('home' as const, 'reference' as const) }),
);

describe('a link for a class', () => {
  it('opens what it was built for, and hides what it was built to hide', () => {
    fc.assert(fc.property(target, fc.subarray([...CONTROLS]), (of, hide) => {
      const link = { target: of, hide };
      expect(parseLink(linkAddress(link))).toEqual(link);
    }));
  });

  it('is none of ours where the address is not', () => {
    expect(parseLink('/nowhere')).toBeUndefined();
    expect(parseLink('/lesson?stage=9')).toBeUndefined();
    expect(parseLink('/group?run=other&step=1')).toBeUndefined();
  });
});

describe('the worked group of the worksheet', () => {
  it('has the rewards and advantages of the worked example', () => {
    const { rows, mean, std, population } = workedGroup();
    expect(rows.map(({ reward }) => reward.total)).toEqual([4, 3, 2.25, 2, 0.25, 0]);
    expect([mean, std].map((x) => x.toFixed(4))).toEqual(['1.9167', '1.5546']);
    expect(rows.map(({ advantage }) => advantage.toFixed(4))).toEqual(['1.3401', '0.6968', '0.2144', '0.0536', '-1.0720', '-1.2329']);
    expect(population.advantages.map((a) => a.toFixed(4))).toEqual(['1.4679', '0.7633', '0.2349', '0.0587', '-1.1744', '-1.3505']);
  });
});

describe('what a teacher left in the browser', () => {
  it('is taken up again', () => {
    teach.plan(20);
    teach.write('masking', 'My words.');
    teach.check('print', true);
    teach.visit('scoring');
    expect(parseTeach(JSON.stringify(teachStore.getState()))).toEqual(teachStore.getState());
    expect(teachStore.getState()).toMatchObject({ plan: planFor(20), notes: { masking: 'My words.' }, done: ['print'], at: 'scoring' });
    teach.reset('masking');
    expect(teachStore.getState().notes).toEqual({});
  });

  it('begins anew where it is nothing that this page wrote', () => {
    const fresh = parseTeach(undefined);
    expect(fresh.plan).toEqual(planFor(45));
    const stored = JSON.stringify(fresh);
    for (const text of ['', '{}', stored.replace('"gap":4', '"gap":-4'), stored.replace('"at":"gap"', '"at":"gasp"')]) expect(parseTeach(text)).toEqual(fresh);
  });

  it('keeps time through a pause', () => {
    expect(elapsed({ before: 60, since: 10_000 }, 25_000)).toBe(75);
    expect(elapsed({ before: 60, since: undefined }, 25_000)).toBe(60);
  });
});
