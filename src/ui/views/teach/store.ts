/** What a teacher planned, wrote and started: kept in the browser. */
import * as v from 'valibot';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { recalled, remember } from '../../stores/memory.ts';
import type { Notes } from './notes.ts';
import { MOST_SECTION, planFor, SECTIONS, taught, type Clock, type Plan, type SectionId } from './plan.ts';

export const CHECKLIST = ['link', 'secure', 'offline', 'warm', 'try', 'print'] as const;
export type ChecklistItem = (typeof CHECKLIST)[number];

export interface TeachState {
  readonly plan: Plan;
  /** Only where they are the teacher's own. */
  readonly notes: Notes;
  readonly done: readonly ChecklistItem[];
  readonly clock: Clock;
  /** Where the class is. */
  readonly at: SectionId;
  /** Whether the presenter shows the notes, which hold the answers: not before the teacher asks for them. */
  readonly shown: boolean;
}

const STILL: Clock = { before: 0, since: undefined };
const FRESH: TeachState = { plan: planFor(45), notes: {}, done: [], clock: STILL, at: 'gap', shown: false };

const minutes = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST_SECTION));
const Stored = v.object({
  plan: v.object(Object.fromEntries(SECTIONS.map((id) => [id, minutes])) as Record<SectionId, typeof minutes>),
  notes: v.object(Object.fromEntries(SECTIONS.map((id) => [id, v.optional(v.string())])) as Record<SectionId, v.OptionalSchema<v.StringSchema<undefined>, undefined>>),
  done: v.array(v.picklist(CHECKLIST)),
  clock: v.object({ before: v.pipe(v.number(), v.finite(), v.minValue(0)), since: v.optional(v.number()) }),
  at: v.picklist(SECTIONS),
  shown: v.boolean(),
});

/** What was stored, or a fresh plan where that is nothing this page wrote. */
export function parseTeach(text: string | undefined): TeachState {
  try {
    const { notes, clock, ...rest } = v.parse(Stored, JSON.parse(text ?? ''));
    const own = Object.entries(notes).filter(([, note]) => note !== undefined) as [SectionId, string][];
    return { ...rest, notes: Object.fromEntries(own), clock: { before: clock.before, since: clock.since } };
  } catch {
    return FRESH;
  }
}

export const teachStore = createStore<TeachState>(() => parseTeach(recalled('teach')));

export function useTeach<T>(selector: (state: TeachState) => T): T {
  return useStore(teachStore, selector);
}

function change(to: Partial<TeachState>): void {
  teachStore.setState(to);
  remember('teach', JSON.stringify(teachStore.getState()));
}

const now = (): TeachState => teachStore.getState();

export const teach = {
  plan: (total: number): void => {
    const plan = planFor(total);
    change({ plan, at: plan[now().at] > 0 ? now().at : (taught(plan)[0] ?? 'closing') });
  },
  minutes: (section: SectionId, count: number): void => {
    change({ plan: { ...now().plan, [section]: count } });
  },
  write: (section: SectionId, text: string): void => {
    change({ notes: { ...now().notes, [section]: text } });
  },
  /** Goes back to the notes that came with the page: of one section, or of all. */
  reset: (section?: SectionId): void => {
    change({ notes: section === undefined ? {} : Object.fromEntries(Object.entries(now().notes).filter(([id]) => id !== section)) });
  },
  /** Takes over a file; what it does not name stays. */
  take: ({ plan, notes }: { readonly plan: Partial<Plan>; readonly notes: Notes }): void => {
    change({ plan: { ...now().plan, ...plan }, notes: { ...now().notes, ...notes } });
  },
  check: (item: ChecklistItem, done: boolean): void => {
    change({ done: CHECKLIST.filter((other) => (other === item ? done : now().done.includes(other))) });
  },
  visit: (at: SectionId): void => {
    if (now().at !== at) change({ at });
  },
  show: (shown: boolean): void => {
    change({ shown });
  },
  start: (): void => {
    const { clock } = now();
    if (clock.since === undefined) change({ clock: { before: clock.before, since: Date.now() } });
  },
  pause: (): void => {
    const { before, since } = now().clock;
    if (since !== undefined) change({ clock: { before: before + Math.max(0, Date.now() - since) / 1000, since: undefined } });
  },
  stop: (): void => {
    change({ clock: STILL, at: taught(now().plan)[0] ?? 'closing' });
  },
};
