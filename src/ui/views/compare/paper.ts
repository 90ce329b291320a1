/**
 * What ARTIST reports (arXiv 2505.01441), number by number with its source: printed in the paper, read off its bar
 * charts (±0.1), or said in articles about it. Nothing here was measured by this lab.
 */
import type { Source } from './Badge.tsx';

export const BENCHMARKS = ['MATH-500', 'AIME', 'AMC', 'Olympiad'] as const;

export type MethodKind = 'other' | 'plain' | 'prompted' | 'artist';

export interface Method {
  readonly kind: MethodKind;
  /** A proper name; of the paper's own conditions the size of the model. */
  readonly name: string;
  /** Pass@1 on each benchmark. */
  readonly values: readonly [number, number, number, number];
}

/** Table 1. Source of every number: paper. */
export const TABLE_1: readonly Method[] = [
  { kind: 'other', name: 'GPT-4o', values: [0.63, 0.08, 0.43, 0.29] },
  { kind: 'other', name: 'DeepSeek-R1-Distill-Qwen-7B', values: [0.858, 0.211, 0.675, 0.395] },
  { kind: 'other', name: 'DeepSeek-R1', values: [0.85, 0.3, 0.81, 0.46] },
  { kind: 'other', name: 'NuminaMath-TIR-7B', values: [0.53, 0.06, 0.24, 0.19] },
  { kind: 'other', name: 'ToRA-7B', values: [0.41, 0, 0.07, 0.13] },
  { kind: 'other', name: 'ToRA-Code-7B', values: [0.46, 0, 0.1, 0.16] },
  { kind: 'other', name: 'Qwen2.5-7B, PAL', values: [0.1, 0, 0.05, 0.02] },
  { kind: 'plain', name: '7B', values: [0.62, 0.04, 0.35, 0.21] },
  { kind: 'plain', name: '14B', values: [0.7, 0.06, 0.33, 0.24] },
  { kind: 'prompted', name: '7B', values: [0.629, 0.122, 0.349, 0.366] },
  { kind: 'prompted', name: '14B', values: [0.671, 0.1, 0.41, 0.371] },
  { kind: 'artist', name: '7B', values: [0.676, 0.156, 0.47, 0.379] },
  { kind: 'artist', name: '14B', values: [0.726, 0.122, 0.55, 0.42] },
];

export interface Change {
  readonly name: string;
  /** Of the 7B model, prompted. */
  readonly from: number;
  /** After training. */
  readonly to: number;
  /** The source says only that it is more than `to`. */
  readonly over?: true;
  /** The change where the source prints it and its chart shows it only roughly. */
  readonly change?: number;
  readonly source: Source;
}

/** Calls a question. */
export const CALLS: readonly Change[] = [
  { name: 'MATH-500', from: 4.3, to: 3, source: 'chart' },
  { name: 'AIME', from: 0.3, to: 3, over: true, source: 'article' },
  { name: 'AMC', from: 1.1, to: 3.2, source: 'chart' },
  { name: 'Olympiad', from: 3.2, to: 2.9, source: 'chart' },
];

/** Mean reward of at most 4. */
export const REWARDS: readonly Change[] = [
  { name: 'MATH-500', from: 3, to: 3.2, source: 'chart' },
  { name: 'AIME', from: 0.4, to: 1.7, source: 'chart' },
  { name: 'AMC', from: 0.8, to: 2.7, source: 'chart' },
  { name: 'Olympiad', from: 2.4, to: 2.6, source: 'chart' },
];

export type TaskFigure = 'airline' | 'retail' | 'bfcl' | 'calls' | 'steps';

/** Function calling: pass rates, then totals over all tasks of τ-bench. */
export const WORKFLOWS: readonly (Omit<Change, 'name'> & { readonly figure: TaskFigure; readonly digits: number })[] = [
  { figure: 'airline', from: 0.12, to: 0.26, digits: 2, source: 'paper' },
  { figure: 'retail', from: 0.18, to: 0.24, digits: 2, source: 'paper' },
  { figure: 'bfcl', from: 0.04, to: 0.13, digits: 2, source: 'paper' },
  { figure: 'calls', from: 517, to: 676, digits: 0, source: 'paper' },
  { figure: 'steps', from: 1520, to: 1280, change: -236, digits: 0, source: 'chart' },
];
