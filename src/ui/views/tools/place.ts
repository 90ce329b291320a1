/**
 * What stands in the address of the tools view: the tool, the task of a workflow with the calls made so far, or the code of
 * a call. A link shows another person the same walk; code in a link is run by no one but the person.
 */
import { Random } from '../../../tasks/random.ts';
import { EXAMPLE_TRIP, workflow as suite, workflowOf, type Domain } from '../../../tasks/workflow.ts';

export const PARTS = ['python', 'travel', 'retail'] as const;
export type Part = (typeof PARTS)[number];

export interface ToolsPlace {
  readonly part: Part;
  /** Python that was run last. */
  readonly code: string | undefined;
  /** The task by its seed; undefined with no `task` is the fixed example. */
  readonly seed: number | undefined;
  /** The task by its question, as another view links to it; of this part's domain. */
  readonly task: string | undefined;
  readonly calls: readonly string[];
}

/** What a person cannot mean to do by hand would only make addresses long. */
export const MOST_CALLS = 40;
export const MOST_CALL = 200;
const MOST_CODE = 1500;

/** Customer 117 wants another colour, or else the money back. The colour turns out to be out of stock. */
const EXAMPLE_RETURN = 'customer 117 tent: exchange for red, else refund';

export function parsePlace(search: string): ToolsPlace {
  const query = new URLSearchParams(search);
  const part = PARTS.find((name) => name === query.get('part')) ?? 'python';
  const code = query.get('code');
  const seed = query.get('seed');
  const task = query.get('task');
  return {
    part,
    code: code === null || code.length > MOST_CODE ? undefined : code,
    seed: seed !== null && /^\d{1,9}$/.test(seed) ? Number(seed) : undefined,
    task: task !== null && part !== 'python' && isTask(task, part) ? task : undefined,
    calls: query.getAll('call').slice(0, MOST_CALLS).map((call) => call.slice(0, MOST_CALL)),
  };
}

function isTask(question: string, domain: Domain): boolean {
  try {
    return workflowOf({ question }).domain === domain;
  } catch {
    return false;
  }
}

export function toolsAddress({ part, code, seed, task, calls = [] }: Partial<ToolsPlace>): string {
  const query = new URLSearchParams();
  if (part !== undefined && part !== 'python') query.set('part', part);
  if (code !== undefined && code.length <= MOST_CODE) query.set('code', code);
  if (seed !== undefined) query.set('seed', String(seed));
  if (task !== undefined) query.set('task', task);
  for (const call of calls) query.append('call', call);
  const text = query.toString();
  return text === '' ? '/tools' : `/tools?${text}`;
}

/** The question of a place: named, drawn by the seed from the held-out side, or the fixed example of the domain. */
export function questionAt({ task, seed }: Pick<ToolsPlace, 'task' | 'seed'>, domain: Domain): string {
  if (task !== undefined) return task;
  if (seed === undefined) return domain === 'travel' ? EXAMPLE_TRIP : EXAMPLE_RETURN;
  const random = new Random(seed, 0x7001);
  // On the second tier of a domain the first choice fails: which one it is stays a surprise.
  return suite.draw(random, (domain === 'retail' ? 1 : 3) + random.integer(0, 1), 'held-out').question;
}
