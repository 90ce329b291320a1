/** The card of a checkpoint: how it was made, and what it does on held-out questions. */
import type { EvaluationResult } from '../evaluation/evaluate.ts';

/** A Markdown table, a column a tier, and the means below it. */
export function resultTable({ tiers, reward, accuracy }: EvaluationResult): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const share = (value: number | null): string => (value === null ? '–' : value.toFixed(2));
  return [
    row(['held-out questions', ...tiers.map((t) => `tier ${t.tier}`)]),
    row(['---', ...tiers.map(() => '---')]),
    row(['accuracy', ...tiers.map((t) => t.accuracy.toFixed(3))]),
    row(['95 % interval', ...tiers.map((t) => t.accuracyInterval.map((end) => end.toFixed(2)).join('–'))]),
    row(['calls a question', ...tiers.map((t) => t.calls.toFixed(2))]),
    row(['calls that ran', ...tiers.map((t) => share(t.callSuccess))]),
    row(['tokens written', ...tiers.map((t) => t.tokens.toFixed(0))]),
    '',
    `Mean reward ${reward.toFixed(3)} of 4, accuracy ${accuracy.toFixed(3)}. Tier 1 is not split into training and held-out questions.`,
  ].join('\n');
}

/** One line for the terminal. */
export function resultLine({ tiers, reward }: EvaluationResult): string {
  const list = (digits: (t: EvaluationResult['tiers'][number]) => number): string => tiers.map((t) => digits(t).toFixed(2)).join(' ');
  return `reward ${reward.toFixed(2)}, accuracy ${list((t) => t.accuracy)}, calls ${list((t) => t.calls)} by tier`;
}
