import { describe, expect, it } from 'vitest';
import { directions } from '../../../lesson/findings.ts';
import { PAPER_WORKFLOWS, RECORDED } from '../../../lesson/recorded.ts';
import { CHECK_ADDRESSES, CLAIM_EVIDENCE, INTEGRAL_CODE, LESSON, PLACES, STAGES } from '../../../lesson/stages.ts';
import { EXAMPLE_TRIP, workflowOf } from '../../../tasks/workflow.ts';
import { reachesGoal } from '../../../tools/workflow/workflow.ts';
import { parseSelection, splitHash } from '../../routes.ts';
import { glossary } from '../../text/en/glossary.ts';
import { parseCompare } from '../compare/address.ts';
import { CALLS, WORKFLOWS } from '../compare/paper.ts';
import { parsePlace } from '../tools/place.ts';
import { stateAfter } from '../tools/walk.ts';
import { parseSettings } from '../train/fields.ts';
import { lessonAddress, parseLessonPlace } from './address.ts';
import { tripSteps } from './trip.ts';

describe('the address of the lesson', () => {
  it('holds stage, prediction, and what of the figure is chosen', () => {
    const address = lessonAddress('comparing', 'no-push', { group: 'mixed', token: '12', mask: '' });
    expect(address).toBe('/lesson?stage=4&said=no-push&group=mixed&token=12');
    expect(parseLessonPlace(splitHash(address).search)).toEqual({ stage: 'comparing', said: 'no-push', kept: { group: 'mixed', token: '12' } });
  });

  it('takes nothing that is not its own', () => {
    expect(parseLessonPlace('stage=9&said=top&attempt=<b>&x=1')).toEqual({ stage: undefined, said: undefined, kept: {} });
    // An option of another stage.
    expect(parseLessonPlace('stage=4&said=top').said).toBeUndefined();
  });

  it('leads to the states of the lab that it means', () => {
    const query = (address: string): string => splitHash(address).search;
    const [gap, interleaving] = LESSON.map(({ address }) => address);
    expect(parsePlace(query(gap ?? '')).code).toBe(INTEGRAL_CODE);
    expect(parseSelection(query(interleaving ?? ''))).toMatchObject({ run: 'recorded', ...PLACES.corrected });
    expect(parseSelection(query(CHECK_ADDRESSES.bars))).toMatchObject({ ...PLACES.masked, more: { mask: 'off' } });
    expect(parseSettings(query(CHECK_ADDRESSES.selective)).grpo.reward).toEqual({ noCall: 'full', callCost: 0.2 });
    expect([CLAIM_EVIDENCE['own-tokens'], CLAIM_EVIDENCE.strategy].map(({ address }) => parseCompare(query(address)).part)).toEqual(['masking', 'paper']);
  });
});

describe('the words and numbers of the lesson', () => {
  it('are explained in the glossary where they first stand', () => {
    expect(LESSON.flatMap(({ terms }) => terms).filter((id) => !(`term.${id}.what` in glossary))).toEqual([]);
    expect(STAGES).toHaveLength(8);
  });

  it("are the paper's, as the compare view has them", () => {
    expect(directions(CALLS.map(({ from, to }) => [from, to] as const))).toEqual(RECORDED.strategy.paper);
    const calls = WORKFLOWS.find(({ figure }) => figure === 'calls');
    expect([calls?.from, calls?.to]).toEqual(PAPER_WORKFLOWS.calls);
    const steps = WORKFLOWS.find(({ figure }) => figure === 'steps');
    expect([steps?.from, steps?.to, steps?.change]).toEqual([...PAPER_WORKFLOWS.steps, -PAPER_WORKFLOWS.fewer]);
  });
});

describe('the trip', () => {
  it('tries the flight that was asked for, finds it sold out, and comes to its goal', () => {
    const workflow = workflowOf({ question: EXAMPLE_TRIP });
    const steps = tripSteps(workflow, 99);
    expect(steps.filter(({ result }) => !result.ok).map(({ result }) => result.error?.type)).toEqual(['SoldOut']);
    expect(reachesGoal(workflow, stateAfter(workflow, steps))).toBe(true);
    expect(tripSteps(workflow, 2).map(({ code }) => code)).toEqual(steps.slice(0, 2).map(({ code }) => code));
  });
});
