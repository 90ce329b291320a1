/** The form of an attempt, from its spans. */
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { Span, Tags, Trajectory } from '../rollout/trajectory.ts';

const LETTERS: Readonly<Record<Span['kind'], string>> = { think: 't', call: 'c', output: 'o', answer: 'a', prompt: '', stray: '' };

/**
 * The parts after the prompt in their order, a letter each: think, call, output, answer. White space between them and
 * the `<eos>` at the end are left out. Undefined where a part is not closed, an output is forged, or there is other text.
 */
export function shapeOf(trajectory: Trajectory, tags: Tags, tokenizer: Tokenizer): string | undefined {
  const parts = trajectory.spans.filter((s) => s.kind !== 'prompt' && !isBlank(trajectory, s, tags, tokenizer));
  if (parts.some((s) => !s.closed || s.forged || s.kind === 'stray')) return undefined;
  return parts.map((s) => LETTERS[s.kind]).join('');
}

/** A stray that holds only white space, and at the very end the one `<eos>`. */
function isBlank({ tokens }: Trajectory, span: Span, tags: Tags, tokenizer: Tokenizer): boolean {
  if (span.kind !== 'stray') return false;
  const ids = tokens.subarray(span.start, span.end);
  const ends = span.end === tokens.length && ids.at(-1) === tags.eos;
  return [...(ends ? ids.subarray(0, -1) : ids)].every((id) => !tokenizer.isSpecial(id) && tokenizer.token(id).trim() === '');
}
