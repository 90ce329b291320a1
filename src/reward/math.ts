/**
 * The reward of a math rollout (ARTIST, arXiv 2505.01441, section 3.1): answer 2, format up to 1, share of calls that
 * ran up to 1. Everything is read from token ids, owners and the runtime's record of calls, never from text that a
 * policy could forge.
 */
import type { Tokenizer } from '../policy/tokenizer.ts';
import { ENVIRONMENT, POLICY, tagsOf, type TagPair, type Tags, type Trajectory } from '../rollout/trajectory.ts';
import type { Suite } from '../tasks/task.ts';
import { shapeOf } from './format.ts';
import type { RewardParts, RewardSettings } from './reward.ts';

const ANSWER = 2;
const STRICT = 0.5;
const RELAXED = 0.5;

/** The last closed answer of the policy, decoded, without its tags. */
export function answerOf(trajectory: Trajectory, tokenizer: Tokenizer): string | undefined {
  const last = trajectory.spans.findLast((s) => s.kind === 'answer' && s.closed);
  return last && tokenizer.decode(trajectory.tokens.subarray(last.start + 1, last.end - 1));
}

/** Whether one tag pair is there and balanced: it never closes before it opens, and closes as often. */
function balanced({ tokens, owner }: Trajectory, pair: TagPair, by: number): boolean {
  let opened = 0;
  let depth = 0;
  for (const [i, id] of tokens.entries()) {
    if (owner[i] !== by) continue;
    if (id === pair.open) {
      opened++;
      depth++;
    } else if (id === pair.close && --depth < 0) return false;
  }
  return opened > 0 && depth === 0;
}

/** 0 to 0.5: equal shares for each pair that the rule asks for. Outputs count only where the environment wrote them. */
function relaxedFormat(trajectory: Trajectory, tags: Required<Tags>, excused: boolean): number {
  const asked: readonly (readonly [TagPair, number])[] = excused
    ? [[tags.think, POLICY], [tags.answer, POLICY]]
    : [[tags.think, POLICY], [tags.call, POLICY], [tags.output, ENVIRONMENT], [tags.answer, POLICY]];
  const there = asked.filter(([pair, by]) => balanced(trajectory, pair, by)).length;
  return (RELAXED * there) / asked.length;
}

/** 0 or 0.5: (think call output)+ think? answer, nothing after it but `<eos>`; for an excused rollout think, answer. */
function strictFormat(trajectory: Trajectory, tags: Tags, tokenizer: Tokenizer, excused: boolean): number {
  const shape = shapeOf(trajectory, tags, tokenizer);
  return shape !== undefined && (excused ? /^ta$/ : /^(tco)+t?a$/).test(shape) ? STRICT : 0;
}

/** Scores one finished attempt. @see RewardParts for the range of each part. @throws RangeError where there is no answer tag. */
export function scoreMath(
  trajectory: Trajectory,
  suite: Suite,
  tokenizer: Tokenizer,
  { noCall, callCost }: RewardSettings,
): RewardParts {
  const { answer: answerTags, ...others } = tagsOf(tokenizer);
  if (answerTags === undefined) throw new RangeError('the math rule needs a vocabulary with an answer tag');
  const tags = { ...others, answer: answerTags };
  const calls = trajectory.calls.length;
  const excused = calls === 0 && noCall !== 'paper';
  const given = answerOf(trajectory, tokenizer);
  const correct = given !== undefined && suite.check(trajectory.task, given);
  const answer = correct ? ANSWER : 0;
  const formatRelaxed = relaxedFormat(trajectory, tags, excused);
  const formatStrict = strictFormat(trajectory, tags, tokenizer, excused);
  const execution = calls > 0 ? trajectory.calls.filter((call) => call.ok).length / calls : noCallWorth(noCall);
  const cost = callCost === 0 ? 0 : -callCost * calls;
  const sum = answer + formatRelaxed + formatStrict;
  // Left out: the other parts, at most 3, are stretched to the same maximum.
  const total = (execution === null ? (sum * 4) / 3 : sum + execution) + cost;
  return { answer, formatRelaxed, formatStrict, execution, callCost: cost, total, correct };
}

function noCallWorth(noCall: RewardSettings['noCall']): number | null {
  switch (noCall) {
    case 'paper':
      return 0;
    case 'excluded':
      return null;
    case 'full':
      return 1;
  }
}
