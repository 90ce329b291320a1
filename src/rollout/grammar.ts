/**
 * The tag grammar of a rollout, on token ids and owners: which code a `</python>` or `</tool>` closes, and the spans of a
 * finished trajectory. Nested and crossed tags are text.
 */
import { ENVIRONMENT, POLICY, PROMPT, type Owner, type Span, type SpanKind, type TagPair, type Tags } from './trajectory.ts';

/**
 * The token range of the code that the last token, which closes a call, closes: after the last `<python>` or `<tool>` that the
 * policy wrote and that is not closed yet. Undefined where there is none: then nothing runs.
 */
export function codeClosedAtEnd(
  tokens: ArrayLike<number>,
  owner: ArrayLike<number>,
  call: TagPair,
): { readonly start: number; readonly end: number } | undefined {
  const end = tokens.length - 1;
  for (let i = end - 1; i >= 0; i--) {
    if (owner[i] !== POLICY || tokens[i] === call.close) return undefined;
    if (tokens[i] === call.open) return { start: i + 1, end };
  }
  return undefined;
}

/**
 * Spans that cover the trajectory. A span of the policy opens at an opening tag and closes at its own closing tag;
 * closing tags of other kinds inside are text. Where another tag opens first, or the owner changes, the span is not
 * closed and ends there: so `<think>a<python>b</python>` is an unclosed think and the call that runs.
 */
export function spansOf(tokens: ArrayLike<number>, owner: ArrayLike<number>, tags: Tags): Span[] {
  const spans: Span[] = [];
  const n = tokens.length;
  let at = 0;
  while (at < n) {
    const who = (owner[at] ?? PROMPT) as Owner;
    let stretch = at;
    while (stretch < n && owner[stretch] === who) stretch++;
    if (who === PROMPT) spans.push(span('prompt', at, stretch, who, true));
    else if (who === ENVIRONMENT) splitObservations(tokens, at, stretch, tags, spans);
    else splitPolicy(tokens, at, stretch, tags, spans);
    at = stretch;
  }
  return spans;
}

function span(kind: SpanKind, start: number, end: number, owner: Owner, closed: boolean): Span {
  return { kind, start, end, owner, closed, forged: kind === 'output' && owner === POLICY };
}

function splitObservations(tokens: ArrayLike<number>, start: number, end: number, tags: Tags, spans: Span[]): void {
  let from = start;
  for (let i = start; i < end; i++) {
    if (tokens[i] !== tags.output.close) continue;
    spans.push(span('output', from, i + 1, ENVIRONMENT, true));
    from = i + 1;
  }
  if (from < end) spans.push(span('output', from, end, ENVIRONMENT, false));
}

function splitPolicy(tokens: ArrayLike<number>, start: number, end: number, tags: Tags, spans: Span[]): void {
  const kinds: readonly (readonly [SpanKind, TagPair])[] = [
    ['think', tags.think], ['call', tags.call], ['output', tags.output], ...(tags.answer === undefined ? [] : [['answer', tags.answer] as const]),
  ];
  const opens = (id: number | undefined): boolean => kinds.some(([, pair]) => pair.open === id);
  let stray = start;
  for (let at = start; at < end; ) {
    const opened = kinds.find(([, pair]) => pair.open === tokens[at]);
    if (opened === undefined) {
      at++;
      continue;
    }
    const [kind, pair] = opened;
    let next = at + 1;
    while (next < end && tokens[next] !== pair.close && !opens(tokens[next])) next++;
    const closed = next < end && tokens[next] === pair.close;
    const stop = closed ? next + 1 : next;
    if (stray < at) spans.push(span('stray', stray, at, POLICY, true));
    spans.push(span(kind, at, stop, POLICY, closed));
    at = stop;
    stray = stop;
  }
  if (stray < end) spans.push(span('stray', stray, end, POLICY, true));
}
