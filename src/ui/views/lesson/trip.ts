/** The lesson's booking: the next call is made by pressing a button, and the first choice of a flight is tried first. Pure. */
import { formatCall, type Workflow } from '../../../tasks/workflow.ts';
import { nextCall, walk, type WalkStep } from '../tools/walk.ts';

/** The flight that the request asks for, sold out or not: that is found out only when one tries. */
function firstChoice({ database, request }: Extract<Workflow, { domain: 'travel' }>): string | undefined {
  const offers = database.flights.filter(({ from, to, day }) => from === request.from && to === request.to && day === request.day);
  const worth = ({ price, hour }: (typeof offers)[number]): number => (request.flight === 'cheapest' ? price : hour);
  return offers.reduce<(typeof offers)[number] | undefined>((best, next) => (best === undefined || worth(next) < worth(best) ? next : best), undefined)?.id;
}

/** The first `count` calls of the way, fewer where it is at its end. */
export function tripSteps(workflow: Workflow, count: number): readonly WalkStep[] {
  const codes: string[] = [];
  while (codes.length < count) {
    const next = nextCall(workflow, walk(workflow, codes));
    if (next.kind !== 'call') break;
    const tried = codes.some((code) => code.startsWith('book_flight('));
    const choice = next.call.name === 'book_flight' && !tried && workflow.domain === 'travel' ? firstChoice(workflow) : undefined;
    codes.push(formatCall(choice === undefined ? next.call : { name: 'book_flight', args: { id: choice } }));
  }
  return walk(workflow, codes);
}
