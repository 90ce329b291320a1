/**
 * A teacher's plan and notes as a text file: readable, to be changed in any editor, and read back. Pure.
 *
 *     Atelier teaching notes 1
 *
 *     ## gap, 4 minutes
 *     What is said, in as many lines as it takes.
 */
import { MOST_SECTION, SECTIONS, type Plan, type SectionId } from './plan.ts';

export type Notes = Readonly<Partial<Record<SectionId, string>>>;

const TITLE = 'Atelier teaching notes 1';
export const MOST_CHARACTERS = 200_000;

/** What is wrong with a file. Lines count from 1. */
export type NotesError =
  | { readonly kind: 'large' | 'title' | 'empty' }
  | { readonly kind: 'section' | 'twice' | 'minutes'; readonly line: number; readonly text: string };

/** @param notes of every section: the teacher's own, or what was there to begin with */
export function writeNotes(plan: Plan, notes: Readonly<Record<SectionId, string>>): string {
  const section = (id: SectionId): string => `## ${id}, ${plan[id]} minutes\n${notes[id].replaceAll(/^(?=##|\\)/gm, '\\')}\n`;
  return `${TITLE}\n\n${SECTIONS.map(section).join('\n')}`;
}

/** Sections that the file does not have are absent from the result. */
export function readNotes(file: string): { readonly plan: Readonly<Partial<Record<SectionId, number>>>; readonly notes: Notes } | NotesError {
  if (file.length > MOST_CHARACTERS) return { kind: 'large' };
  const [title, ...lines] = file.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n').split('\n');
  if (title?.trim() !== TITLE) return { kind: 'title' };
  const minutes: Partial<Record<SectionId, number>> = {};
  const texts = new Map<SectionId, string[]>();
  let current: string[] | undefined;
  for (const [i, text] of lines.entries()) {
    if (!text.startsWith('##')) {
      current?.push(text.replace(/^\\/, ''));
      continue;
    }
    const line = i + 2;
    const [, name, number] = /^##\s*([\w-]+)\s*(?:,\s*(\S+)\s*minutes?)?\s*$/.exec(text) ?? [];
    const id = SECTIONS.find((section) => section === name);
    if (id === undefined) return { kind: 'section', line, text };
    if (texts.has(id)) return { kind: 'twice', line, text };
    if (number !== undefined) {
      const value = /^\d{1,3}$/.test(number) ? Number(number) : NaN;
      if (!(value <= MOST_SECTION)) return { kind: 'minutes', line, text };
      minutes[id] = value;
    }
    current = [];
    texts.set(id, current);
  }
  if (texts.size === 0) return { kind: 'empty' };
  // Empty lines around a text only set it off.
  return { plan: minutes, notes: Object.fromEntries([...texts].map(([id, body]) => [id, body.join('\n').replaceAll(/^\n+|\n+$/g, '')])) };
}
