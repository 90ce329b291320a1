import { describe, expect, it } from 'vitest';
import { PROTOCOL_VERSION, type LabEvent, type RunSummary, type StepSummary } from '../../lab/protocol.ts';
import { DEFAULT_GRPO } from '../../grpo/settings.ts';
import { syntheticStep } from '../testing/synthetic.ts';
import { PRESET_SETTINGS } from '../views/train/presets.ts';
import { EMPTY_LAB, recordKey, reduceLab, type LabState } from './lab.ts';

const run: RunSummary = {
  id: 'a', started: 0, settings: PRESET_SETTINGS.paper, step: 0, state: 'running', engine: { kind: 'cpu', adapter: '', software: false },
};
const summary = (step: number, reward = step): StepSummary => ({ step, metrics: { reward }, warnings: [] });
const after = (events: readonly LabEvent[], from: LabState = EMPTY_LAB): LabState => events.reduce(reduceLab, from);
const step = (n: number, of = 'a'): LabEvent => ({ type: 'step', run: of, summary: summary(n), secondsLeft: 40 - n });

describe('the lab as the page knows it', () => {
  it('notices a worker of another build', () => {
    expect(after([{ type: 'hello', version: PROTOCOL_VERSION }]).connection).toBe('open');
    expect(after([{ type: 'hello', version: PROTOCOL_VERSION + 1 }]).connection).toBe('other-version');
  });

  it('collects the steps of the current run, and of no other', () => {
    const state = after([{ type: 'run', run }, step(1), step(2), step(7, 'b')]);
    expect(state.steps.map((s) => s.step)).toEqual([1, 2]);
    expect(state.run).toMatchObject({ step: 2, reward: 2 });
    expect(state.secondsLeft).toBe(38);
  });

  it('replaces the steps that are made again after a lost device', () => {
    const state = after([{ type: 'run', run }, step(1), step(2), step(3), step(2)]);
    expect(state.steps.map((s) => s.step)).toEqual([1, 2]);
  });

  it('begins afresh with another run, and after a reset', () => {
    const begun = after([{ type: 'run', run }, step(1)]);
    expect(after([{ type: 'run', run: { ...run, id: 'b' } }], begun).steps).toEqual([]);
    expect(after([{ type: 'run', run: undefined }], begun)).toMatchObject({ run: undefined, steps: [], secondsLeft: undefined });
  });

  it('knows which runs come next', () => {
    const series = after([{ type: 'run', run, next: [PRESET_SETTINGS.quick] }]);
    expect(series.next).toEqual([PRESET_SETTINGS.quick]);
    expect(after([{ type: 'run', run: undefined }], series).next).toEqual([]);
  });

  it('keeps the curves through pause and resume', () => {
    const state = after([{ type: 'run', run }, step(1), { type: 'run', run: { ...run, step: 1, state: 'paused' } }, { type: 'run', run: { ...run, step: 1 } }]);
    expect(state.steps).toHaveLength(1);
  });

  it('has the curves of an opened run, whichever of run and curves comes first', () => {
    const history: LabEvent = { type: 'history', run: 'b', steps: [summary(1), summary(2)] };
    const opened: LabEvent = { type: 'run', run: { ...run, id: 'b', step: 2, state: 'paused' } };
    const begun = after([{ type: 'run', run }, step(1)]);
    expect(after([history], begun).steps).toHaveLength(1);
    expect(after([history, opened], begun).steps).toHaveLength(2);
    expect(after([opened, history], begun).steps).toHaveLength(2);
    expect(after([history, opened, { type: 'run', run }], begun).steps).toEqual([]);
  });

  it('says that nothing was updated only as long as it is true of the last step', () => {
    const equal = after([{ type: 'run', run }, step(1), { type: 'notice', code: 'all-groups-equal' }]);
    expect(equal.notices).toEqual(['all-groups-equal']);
    expect(after([step(2)], equal).notices).toEqual([]);
  });

  it('keeps the latest opened steps only', () => {
    const record = syntheticStep({ step: 1, seed: 1, grpo: { ...DEFAULT_GRPO, questions: 1 }, progress: 0 });
    const events = Array.from({ length: 40 }, (_, i): LabEvent => ({ type: 'groups', run: 'a', record: { ...record, step: i + 1 } }));
    const { records } = after(events);
    expect(records.has(recordKey('a', 40))).toBe(true);
    expect(records.has(recordKey('a', 1))).toBe(false);
    expect(records.size).toBe(24);
  });

  it('shows a fault until the same thing works', () => {
    const failed = after([{ type: 'fault', about: 'run', message: 'x' }, { type: 'fault', about: 'store', message: 'y' }]);
    expect(Object.keys(after([{ type: 'run', run }], failed).faults)).toEqual(['store']);
  });

  it('forgets what the person asked for once it is there', () => {
    const asked: LabState = { ...EMPTY_LAB, run, asked: 'pause' };
    expect(after([{ type: 'run', run }], asked).asked).toBe('pause');
    expect(after([{ type: 'run', run: { ...run, state: 'paused' } }], asked).asked).toBeUndefined();
    expect(after([{ type: 'run', run }], { ...EMPTY_LAB, asked: 'start' }).asked).toBeUndefined();
  });
});
