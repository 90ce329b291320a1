/** The card of a checkpoint: how it was made, and what it does on held-out questions. */
import type { EvaluationResult, Figures } from '../evaluation/evaluate.ts';

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const fixed = (value: number | null | undefined, digits: number): string => (value === null || value === undefined ? '–' : value.toFixed(digits));
const interval = ({ accuracyInterval }: Figures): string => accuracyInterval.map((end) => end.toFixed(2)).join('–');

/** A Markdown table, a column a tier, and the means below it. */
export function resultTable(result: EvaluationResult): string {
  return result.workflow === undefined ? mathTable(result) : workflowTable(result);
}

function mathTable({ tiers, reward, accuracy }: EvaluationResult): string {
  return [
    row(['held-out questions', ...tiers.map((t) => `tier ${t.tier}`)]),
    row(['---', ...tiers.map(() => '---')]),
    row(['accuracy', ...tiers.map((t) => t.accuracy.toFixed(3))]),
    row(['95 % interval', ...tiers.map(interval)]),
    row(['calls a question', ...tiers.map((t) => t.calls.toFixed(2))]),
    row(['calls that ran', ...tiers.map((t) => fixed(t.callSuccess, 2))]),
    row(['tokens written', ...tiers.map((t) => t.tokens.toFixed(0))]),
    '',
    `Mean reward ${reward.toFixed(3)} of 4, accuracy ${accuracy.toFixed(3)}. Tier 1 is not split into training and held-out questions.`,
  ].join('\n');
}

function workflowTable({ tiers, ...all }: EvaluationResult): string {
  const line = (name: string, cell: (f: Figures) => string): string => row([name, ...tiers.map(cell), cell(all)]);
  return [
    row(['held-out tasks', ...tiers.map((t) => `tier ${t.tier}`), 'all']),
    row(['---', ...tiers.map(() => '---'), '---']),
    line('completed', (f) => f.accuracy.toFixed(3)),
    line('95 % interval', interval),
    line('needed calls made', ({ workflow: w }) => `${w?.correctCalls ?? 0} of ${w?.neededCalls ?? 0}`),
    line('calls that failed', ({ workflow: w }) => `${w?.failedCalls ?? 0} of ${w?.calls ?? 0}`),
    line('all calls / completed tasks', ({ workflow: w }) => fixed(w?.callsPerCompleted, 2)),
    line('calls of a completed task', ({ workflow: w }) => fixed(w?.callsWhereCompleted, 2)),
    line('reward, at most 1.2', (f) => f.reward.toFixed(3)),
    line('strict format', (f) => f.strictFormat.toFixed(3)),
    '',
    'Tiers 1 and 2 are returns, 3 and 4 trips; on 2 and 4 the first choice fails (not allowed, out of stock, sold out, over the budget).',
  ].join('\n');
}

/** One line for the terminal. */
export function resultLine({ tiers, reward }: EvaluationResult): string {
  const list = (digits: (t: EvaluationResult['tiers'][number]) => number): string => tiers.map((t) => digits(t).toFixed(2)).join(' ');
  return `reward ${reward.toFixed(2)}, accuracy ${list((t) => t.accuracy)}, calls ${list((t) => t.calls)} by tier`;
}
