/** Search in the text of a trajectory, across tokens. Pure; no DOM. */
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { tokenizerOf } from '../step/tokenizers.ts';
import type { Ranges } from '../step/strip.ts';

/** What was typed as the text means it: white space may be written as it is shown. */
const meant = (query: string): string => query.replaceAll('␣', ' ').replaceAll('⏎', '\n').replaceAll('⇥', '\t').toLowerCase();

/** Token ranges that hold the text, without overlaps; upper and lower case are the same. */
export function find({ task, tokens }: Pick<TrainedTrajectory, 'task' | 'tokens'>, query: string): Ranges {
  const wanted = meant(query);
  if (wanted === '') return [];
  const tokenizer = tokenizerOf(task);
  const starts: number[] = [];
  let text = '';
  for (const id of tokens) {
    starts.push(text.length);
    text += tokenizer.token(id).toLowerCase();
  }
  const ranges: [number, number][] = [];
  let token = 0;
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    while ((starts[token + 1] ?? Infinity) <= at) token++;
    let end = token + 1;
    while ((starts[end] ?? Infinity) < at + wanted.length) end++;
    ranges.push([token, end]);
  }
  return ranges;
}

/** The match after, or before, a token; round and round. Undefined without matches. */
export function nextMatch(matches: Ranges, token: number, direction: 1 | -1): readonly [number, number] | undefined {
  return direction === 1
    ? (matches.find(([start]) => start > token) ?? matches[0])
    : (matches.findLast(([start]) => start < token) ?? matches.at(-1));
}
