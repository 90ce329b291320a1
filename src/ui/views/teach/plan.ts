/** How a lesson of some length is spread over the stages, and where the clock stands in it. Pure. */
import { LESSON, STAGES, type StageId } from '../../../lesson/stages.ts';

/** What a class goes through: the stages, then the self-checks. */
export const SECTIONS = [...STAGES, 'closing'] as const;
export type SectionId = StageId | 'closing';

/** Minutes of each section, whole; 0 leaves it out. */
export type Plan = Readonly<Record<SectionId, number>>;

export const LENGTHS = [20, 45, 90] as const;
export const LEAST_TOTAL = 10;
export const MOST_TOTAL = 240;
export const MOST_SECTION = 60;

/** Which stages a short lesson keeps: what ARTIST adds comes first, what it needs to be understood next. */
const KEPT_FIRST: readonly StageId[] = ['interleaving', 'comparing', 'masking', 'scoring', 'gap', 'loop', 'strategy', 'workflows'];
/** A stage is left out rather than taught in less than this share of its time. */
const LEAST_SHARE = 0.6;
const minutesOf = (stage: StageId): number => LESSON.find(({ id }) => id === stage)?.minutes ?? 0;

/** @param total minutes of the whole lesson */
export function planFor(total: number): Plan {
  const closing = Math.max(2, Math.round(total / 15));
  const budget = total - closing;
  const kept: StageId[] = [];
  let least = 0;
  for (const stage of KEPT_FIRST) {
    least += Math.ceil(LEAST_SHARE * minutesOf(stage));
    if (least > budget) break;
    kept.push(stage);
  }
  const all = kept.reduce((sum, stage) => sum + minutesOf(stage), 0);
  const shares = STAGES.filter((stage) => kept.includes(stage)).map((stage) => ({ stage, exact: (budget * minutesOf(stage)) / all }));
  const left = budget - shares.reduce((sum, { exact }) => sum + Math.floor(exact), 0);
  // What the whole minutes leave goes to the largest remainders.
  const up = new Set([...shares].sort((a, b) => (b.exact % 1) - (a.exact % 1)).slice(0, left).map(({ stage }) => stage));
  const plan = Object.fromEntries(shares.map(({ stage, exact }) => [stage, Math.floor(exact) + (up.has(stage) ? 1 : 0)]));
  return Object.fromEntries(SECTIONS.map((id) => [id, id === 'closing' ? closing : (plan[id] ?? 0)])) as unknown as Plan;
}

export function totalOf(plan: Plan): number {
  return SECTIONS.reduce((sum, id) => sum + plan[id], 0);
}

/** The sections that are taught, in order. */
export function taught(plan: Plan): SectionId[] {
  return SECTIONS.filter((id) => plan[id] > 0);
}

/** Minutes from the beginning of the lesson to that of a section. */
export function startOf(plan: Plan, section: SectionId): number {
  return SECTIONS.slice(0, SECTIONS.indexOf(section)).reduce((sum, id) => sum + plan[id], 0);
}

export interface Standing {
  /** Seconds by which the class is late (positive) or early (negative); 0 while the plan has it in this section. */
  readonly lag: number;
  /** Seconds until the plan leaves this section; negative when it has. */
  readonly left: number;
}

/** @param at the section that the class is in @param elapsed seconds since it began */
export function standing(plan: Plan, at: SectionId, elapsed: number): Standing {
  const start = startOf(plan, at) * 60;
  const end = start + plan[at] * 60;
  return { lag: elapsed > end ? elapsed - end : Math.min(0, elapsed - start), left: end - elapsed };
}

/** A clock that can be paused. `before` is in seconds, `since` in milliseconds since 1970; undefined while it stands. */
export interface Clock {
  readonly before: number;
  readonly since: number | undefined;
}

/** Seconds on the clock. */
export function elapsed({ before, since }: Clock, now: number): number {
  return before + (since === undefined ? 0 : Math.max(0, now - since) / 1000);
}
