import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { RecordedFile } from '../lab/recorded.ts';
import { stepFile } from '../lab/recorded.ts';
import { Microscope } from '../lab/microscope.ts';
import { decodeStep } from '../formats/rollouts.ts';
import type { GroupRecord, StepRecord, TrainedTrajectory } from '../grpo/record.ts';
import { loadPolicy } from '../policy/checkpoint.ts';
import { createCpuEngine } from '../policy/cpu/engine.ts';
import { spawnInNode } from '../policy/cpu/spawn.node.ts';
import { createNodePython } from '../tools/python/python.node.ts';
import { PERSON_LIMITS, type Python } from '../tools/python/python.ts';
import { compared, directions, masked, ownership, scored, workflowChange, type CountedWorkflows } from './findings.ts';
import { OBSERVATIONS, RECORDED, RECORDED_PYTHON } from './recorded.ts';
import { CHECK_ADDRESSES, CLAIM_EVIDENCE, grade, INTEGRAL_CODE, LESSON, OPTIONS, PLACES, RECORDED_RUN, STAGES } from './stages.ts';
import { ATTEMPT_SCRIPTS, ATTEMPTS, callsOf, movesOf, SCRIPTS, unfold, type Answered, type AttemptId, type Script } from './traces.ts';

const PUBLIC = new URL('../../public/', import.meta.url);
const text = (path: string): Promise<string> => readFile(new URL(path, PUBLIC), 'utf8');

const recordedRun = JSON.parse(await text('recorded/run.json')) as RecordedFile;

async function record(step: number): Promise<StepRecord> {
  return { ...decodeStep(await text(`recorded/${stepFile(step)}`), recordedRun.run.settings.grpo.advantage), metrics: {}, warnings: [] };
}

async function group({ step, question }: { readonly step: number; readonly question: number }): Promise<GroupRecord> {
  const found = (await record(step)).groups[question - 1];
  if (found === undefined) throw new Error('no such group');
  return found;
}

async function rollout(place: { readonly step: number; readonly question: number; readonly rollout: number }): Promise<TrainedTrajectory> {
  const found = (await group(place)).members[place.rollout - 1];
  if (found === undefined) throw new Error('no such rollout');
  return found;
}

const answersOf = (script: Script): Answered[] => callsOf(script).flatMap((code) => OBSERVATIONS.get(code) ?? []);
const attempt = (id: AttemptId): TrainedTrajectory => unfold(ATTEMPT_SCRIPTS[id], answersOf(ATTEMPT_SCRIPTS[id]));

describe('the observations that ship', () => {
  it('are what Python answers', async () => {
    const scripts = [...Object.values(SCRIPTS), ...Object.values(ATTEMPT_SCRIPTS)];
    const codes = [...new Set(scripts.flatMap(callsOf))];
    expect([...OBSERVATIONS.keys()].sort()).toEqual(codes.sort());
    const python: Python = createNodePython();
    try {
      const { version, sympy } = await python.ready();
      const asked = codes.filter((code) => sympy !== undefined || code !== INTEGRAL_CODE);
      const results = await python.run(asked, PERSON_LIMITS);
      expect(results.map(({ ok, output, error }) => ({ ok, output, error }))).toEqual(asked.map((code) => {
        const { ok, output, error } = OBSERVATIONS.get(code) ?? {};
        return { ok, output, error };
      }));
      if (sympy !== undefined) expect({ version, sympy }).toEqual(RECORDED_PYTHON);
    } finally {
      python.dispose();
    }
  });

  it('differ in the apple trace from the fractions that they stand for', () => {
    expect([6 / 11, 5 / 11].map(String)).not.toEqual(answersOf(SCRIPTS.apples).map(({ output }) => output));
    // (11 − k)/11 is the chance of k red ones: the first k with less than one half.
    expect(Array.from({ length: 11 }, (_, k) => k).find((k) => (11 - k) / 11 < 1 / 2)).toBe(Number(SCRIPTS.apples.task.answer));
  });
});

describe('a trace', () => {
  it('grows with the answers to its calls, and stands still behind one that has none', () => {
    const answers = answersOf(SCRIPTS.integral);
    const [none, one, all] = [unfold(SCRIPTS.integral, []), unfold(SCRIPTS.integral, answers.slice(0, 1)), unfold(SCRIPTS.integral, answers)];
    expect([none, one, all].map(({ stop, calls, spans }) => [stop, calls.length, spans.at(-1)?.kind])).toEqual([
      ['cancelled', 0, 'call'], ['cancelled', 1, 'call'], ['end', 5, 'stray'],
    ]);
    expect([...one.tokens.subarray(0, none.tokens.length)]).toEqual([...none.tokens]);
    expect(all.reward).toMatchObject({ correct: true, formatStrict: 0.5, execution: 0.8 });
  });

  it('refines, corrects an error, and checks its answer, where it says so', () => {
    const trace = unfold(SCRIPTS.integral, answersOf(SCRIPTS.integral));
    const before = (token: number): readonly boolean[] => trace.calls.slice(0, trace.spans.filter(({ kind, end }) => kind === 'output' && end <= token).length).map(({ ok }) => ok);
    const moves = movesOf(SCRIPTS.integral, trace).map(([token, move]) => [move, before(token)]);
    expect(moves).toEqual([['refinement', [true]], ['correction', [true, true, false]], ['check', [true, true, false, true]]]);
  });
});

describe('the attempts', () => {
  it("have the totals of the paper's rule", () => {
    expect(ATTEMPTS.map((id) => attempt(id).reward.total)).toEqual([4, 3.5, 3, 2.25, 2.125, 2, 0.25, 0]);
  });
});

describe('a grade', () => {
  it('comes from the finding, whatever it is', () => {
    const gap = (output: string, ok = true): unknown => grade('gap', { ok, output, live: true });
    expect([gap('-2 + E'), gap('0.718281828459045'), gap('step 1\nstep 2'), gap('NameError', false), gap(' ')]).toEqual(['exact', 'decimal', 'working', undefined, undefined]);
    const wrote = { observed: 9, read: 9, written: 20, forged: 0, sampled: true };
    expect([wrote, { ...wrote, read: 0 }, { ...wrote, read: 0, observed: 0, forged: 4 }].map((f) => grade('interleaving', f))).toEqual(['context', 'unseen', 'rewritten']);
    expect([4, 3, 2].map((total) => grade('scoring', { ...RECORDED.scoring, total }))).toEqual(['top', 'less', 'answer-only']);
    const push = (advantages: readonly number[], rewards = [1, 1]): unknown => grade('comparing', { rewards, advantages, mixed: 1 });
    expect([push([0, 0]), push([0.5, -0.5]), push([1, -1]), push([0, 0], [1, 2])]).toEqual(['no-push', 'same-push', 'full-push', undefined]);
    expect([[1, 0.1], [0.1, 1], [1, 1], [NaN, 1]].map(([ownMasked = 0, ownUnmasked = 0]) => grade('masking', { ...RECORDED.masking, ownMasked, ownUnmasked }))).toEqual(['masked', 'unmasked', 'either', undefined]);
    expect([[4, 0], [2, 2], [0, 4]].map(([rose = 0, fell = 0]) => grade('strategy', { ...RECORDED.strategy, paper: { rose, fell, of: 4 } }))).toEqual(['everywhere', 'some', 'nowhere']);
    const change = (to: number) => ({ calls: [1, 2], steps: [10, to] }) as const;
    expect([[12, 11], [8, 9], [10, 10], [8, 12]].map(([paper = 0, lab = 0]) => grade('workflows', { paper: { ...change(paper), fewer: 10 - paper }, lab: { ...change(lab), tasks: 1, within: [1, 1], all: [1, 1], completed: [1, 1] } }))).toEqual(['more-steps', 'fewer-steps', 'same-steps', undefined]);
    expect([3, 2.2, 1].map((last) => grade('loop', { ...RECORDED.loop, first: 2, last }))).toEqual(['rises', 'stays', 'falls']);
  });
});

describe('the findings that ship', () => {
  it('are those of the recorded run and the rule', async () => {
    expect(ownership(unfold(SCRIPTS.integral, answersOf(SCRIPTS.integral)), false)).toEqual(RECORDED.interleaving);
    expect(scored(attempt('all-failed').reward)).toEqual(RECORDED.scoring);
    // A policy has come by the same reward.
    expect(scored((await rollout(PLACES.failed)).reward)).toEqual(RECORDED.scoring);
    const { mixed, ...equal } = compared(await group(PLACES.mixed), await group(PLACES.equal));
    expect(equal).toMatchObject({ rewards: RECORDED.comparing.rewards, advantages: RECORDED.comparing.advantages });
    expect(mixed).toBeCloseTo(RECORDED.comparing.mixed, 2);
    const { steps, run } = recordedRun;
    const rewards = steps.map(({ metrics }) => metrics['reward'] ?? NaN);
    expect(run.id).toBe(RECORDED_RUN);
    expect([rewards.at(0), rewards.at(RECORDED.loop.steps - 1)].map((x) => x?.toFixed(2))).toEqual([RECORDED.loop.first, RECORDED.loop.last].map((x) => x.toFixed(2)));
    expect(run.settings.grpo.questions * run.settings.grpo.group * RECORDED.loop.steps).toBe(RECORDED.loop.rollouts);
    expect(steps.slice(0, RECORDED.loop.steps).reduce((sum, { metrics }) => sum + (metrics['step_time'] ?? NaN), 0)).toBeCloseTo(RECORDED.loop.seconds, 0);
  });

  it('are those of the recorded evaluation', async () => {
    const { evaluations } = JSON.parse(await text('recorded/evaluation.json')) as {
      evaluations: readonly { readonly suite: string; readonly condition: string; readonly probe: boolean; readonly tiers: readonly { readonly calls: number }[]; readonly workflow?: CountedWorkflows }[];
    };
    const calls = (condition: string): number[] =>
      evaluations.find((each) => each.suite === 'arithmetic' && each.condition === condition && !each.probe)?.tiers.map((tier) => tier.calls) ?? [];
    const [before, after] = [calls('prompted'), calls('trained')];
    expect(directions(before.map((x, i) => [x, after[i] ?? NaN] as const))).toEqual(RECORDED.strategy.lab);
    const [prompted, trained] = ['prompted', 'trained'].map((condition) => evaluations.find((each) => each.suite === 'workflow' && each.condition === condition && !each.probe)?.workflow);
    const change = prompted && trained && workflowChange(prompted, trained);
    const rounded = (pair: readonly number[] | undefined): number[] | undefined => pair?.map((x) => Number(x.toFixed(2)));
    expect({ ...change, steps: rounded(change?.steps), within: rounded(change?.within) }).toEqual(RECORDED.workflows.lab);
  });

  it('are those of the engine', async () => {
    const files = await loadPolicy((name) => readFile(new URL(`models/${recordedRun.run.settings.model}/${name}`, PUBLIC)));
    const engine = createCpuEngine({ spawn: spawnInNode });
    const microscope = new Microscope({
      startEngine: () => Promise.resolve(engine),
      loadModel: () => Promise.resolve(files),
      python: { ready: () => Promise.reject(new Error('not used')), run: () => Promise.reject(new Error('not used')), dispose: () => undefined },
      run: () => Promise.resolve({ settings: recordedRun.run.settings, step: recordedRun.run.step, record, snapshot: () => Promise.resolve(undefined) }),
    });
    try {
      const { step, question, rollout: number } = PLACES.masked;
      const { views: [on, off] } = await microscope.ask({ kind: 'update', at: { run: RECORDED_RUN, step, group: question - 1 }, changes: [{ mask: false }] }, new AbortController().signal, () => undefined);
      if (on === undefined || off === undefined) throw new Error('two views were asked for');
      const found = masked(await rollout(PLACES.masked), number - 1, on, off);
      expect(found?.ownMasked).toBe(1);
      for (const name of ['ownUnmasked', 'normMasked', 'normUnmasked'] as const) expect(found?.[name]).toBeCloseTo(RECORDED.masking[name], 3);
    } finally {
      engine.dispose();
    }
  });
});

describe('the lesson', () => {
  it('has eight stages of about forty minutes in all, each with options of its own', () => {
    expect(LESSON.map(({ id }) => id)).toEqual(STAGES);
    const minutes = LESSON.reduce((sum, stage) => sum + stage.minutes, 0);
    expect(minutes).toBeGreaterThanOrEqual(35);
    expect(minutes).toBeLessThanOrEqual(45);
    const options = STAGES.flatMap((id): readonly string[] => OPTIONS[id]);
    expect(new Set(options).size).toBe(options.length);
    const terms = LESSON.flatMap((stage) => stage.terms);
    expect(new Set(terms).size).toBe(terms.length);
  });

  it('looks at rollouts that are what it says of them', async () => {
    const corrected = await rollout(PLACES.corrected);
    expect(corrected.calls.map(({ ok }) => ok)).toEqual([false, true]);
    expect(corrected.reward.correct).toBe(true);
    const rewarded = await rollout(PLACES.rewarded);
    expect([rewarded.reward.correct, rewarded.advantage > 0, rewarded.calls.every(({ ok }) => ok)]).toEqual([false, true, true]);
    expect((await group(PLACES.mixed)).equal).toBe(false);
  });

  it('leads to states of the lab', () => {
    const addresses = [...LESSON.map(({ address }) => address), ...Object.values(CHECK_ADDRESSES), ...Object.values(CLAIM_EVIDENCE).map(({ address }) => address)];
    expect(addresses.filter((address) => !/^\/(tools|rollout|group|update|compare|train)(\?|$)/.test(address))).toEqual([]);
  });
});
