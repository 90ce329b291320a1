/**
 * Our own rollout files: JSON lines, one rollout a line, everything a training step left behind. What a file from
 * outside claims is checked: arrays that do not have one length are refused, with the line that is at fault.
 */
import * as v from 'valibot';
import type { GroupRecord, StepRecord, TrainedTrajectory } from '../grpo/record.ts';
import { compareGroup } from '../grpo/advantages.ts';
import type { AdvantageRule } from '../grpo/settings.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import type { RewardParts } from '../reward/reward.ts';

export const ROLLOUT_SCHEMA = 'atelier-rollout/1';

/** A file that cannot be read, in words. */
export class FormatError extends Error {
  override readonly name = 'FormatError';
}

const num = v.number();
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
/** JSON has no NaN, which is "no value" here, and no infinity. */
const float = v.nullable(v.union([v.number(), v.picklist(['Infinity', '-Infinity'])]));
const floatArray = v.array(float);

const LineSchema = v.object({
  schema: v.literal(ROLLOUT_SCHEMA),
  step: count,
  group: count,
  rollout: count,
  dropped: v.boolean(),
  task: v.object({
    id: v.string(), suite: v.string(), tier: count, question: v.string(), answer: v.string(), expression: v.string(), kind: v.string(),
  }),
  tokens: v.array(count),
  owner: v.array(v.picklist([0, 1, 2])),
  log_probs: floatArray,
  spans: v.array(v.object({
    kind: v.picklist(['prompt', 'think', 'call', 'output', 'answer', 'stray']),
    start: count, end: count, owner: v.picklist([0, 1, 2]), closed: v.boolean(), forged: v.boolean(),
  })),
  calls: v.array(v.object({
    code: v.string(), ok: v.boolean(), output: v.string(), truncated: v.boolean(),
    errorKind: v.optional(v.picklist(['exception', 'timeout', 'memory', 'runtime'])),
    errorType: v.optional(v.string()),
    seconds: num,
  })),
  stop: v.picklist(['end', 'length', 'calls', 'cancelled']),
  reward: v.object({
    answer: num, formatRelaxed: num, formatStrict: num, execution: v.nullable(num), callCost: num, total: num, correct: v.boolean(),
    workflow: v.optional(v.object({ state: num, functions: num, functionsMatched: count, functionsNeeded: count })),
  }),
  advantage: num,
  weights: floatArray,
  update: v.nullable(v.object({
    log_probs: floatArray, entropy: floatArray, ratio: floatArray, kl: floatArray,
    clipped: v.array(v.picklist([0, 1])), d_log_prob: floatArray, gradient: floatArray,
  })),
});
type Line = v.InferOutput<typeof LineSchema>;
type Float = v.InferOutput<typeof float>;

/** The shortest decimals that are the same float32 again. */
function floats(values: Float32Array): Float[] {
  return Array.from(values, (x) => {
    if (Number.isNaN(x)) return null;
    if (!Number.isFinite(x)) return x > 0 ? 'Infinity' : '-Infinity';
    for (let digits = 6; digits < 9; digits++) {
      const short = Number(x.toPrecision(digits));
      if (Math.fround(short) === x) return short;
    }
    return Number(x.toPrecision(9));
  });
}

/** A step as JSON lines. `text` is for people and is not read back: tokens are. */
export function encodeStep(record: StepRecord, tokenizer: Tokenizer): string {
  const lines = record.groups.flatMap((group, g) =>
    group.members.map((t, r) => {
      const { update } = t;
      const line: Line & { text: string } = {
        schema: ROLLOUT_SCHEMA,
        step: record.step, group: g, rollout: r, dropped: group.dropped,
        task: t.task,
        text: tokenizer.decode(t.tokens),
        tokens: [...t.tokens],
        owner: [...t.owner] as (0 | 1 | 2)[],
        log_probs: floats(t.logProbs),
        spans: [...t.spans], calls: [...t.calls], stop: t.stop, reward: t.reward, advantage: t.advantage,
        weights: floats(t.weights),
        update: update === undefined ? null : {
          log_probs: floats(update.logProbs), entropy: floats(update.entropy), ratio: floats(update.ratio), kl: floats(update.kl),
          clipped: [...update.clipped] as (0 | 1)[],
          d_log_prob: floats(update.dLogProb), gradient: floats(update.gradient),
        },
      };
      return JSON.stringify(line);
    }),
  );
  return `${lines.join('\n')}\n`;
}

/**
 * Reads a step back. The metrics are not part of the file.
 * @throws FormatError with the number of the line at fault.
 */
export function decodeStep(text: string, rule: AdvantageRule = 'sample-std'): Omit<StepRecord, 'metrics' | 'warnings' | 'skipped'> {
  const groups = new Map<number, { line: Line; members: TrainedTrajectory[] }>();
  let step: number | undefined;
  for (const [i, raw] of text.split('\n').entries()) {
    if (raw.trim() === '') continue;
    const line = parseLine(raw, i + 1);
    step ??= line.step;
    if (line.step !== step) throw new FormatError(`line ${i + 1}: step ${line.step} in a file of step ${step}`);
    const group = groups.get(line.group) ?? { line, members: [] };
    group.members.push(trajectoryOf(line));
    groups.set(line.group, group);
  }
  if (step === undefined) throw new FormatError('the file holds no rollouts');
  return {
    step,
    groups: [...groups.values()].map(({ line, members }): GroupRecord => {
      const { mean, std, equal } = compareGroup(members.map((t) => t.reward.total), rule);
      return { task: line.task, members, mean, std, equal, dropped: line.dropped };
    }),
  };
}

function parseLine(raw: string, number: number): Line {
  let json: unknown;
  try {
    json = JSON.parse(raw);
  } catch (cause) {
    throw new FormatError(`line ${number} is not JSON`, { cause });
  }
  const parsed = v.safeParse(LineSchema, json);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    throw new FormatError(`line ${number}: ${v.getDotPath(issue) ?? 'the line'}: ${issue.message}`);
  }
  const line = parsed.output;
  const n = line.tokens.length;
  const arrays: Record<string, readonly unknown[]> = {
    owner: line.owner, log_probs: line.log_probs, weights: line.weights, ...(line.update ?? {}),
  };
  for (const [name, array] of Object.entries(arrays)) {
    if (array.length !== n) throw new FormatError(`line ${number}: ${name} has ${array.length} entries for ${n} tokens`);
  }
  if (line.spans.some((s) => s.start > s.end || s.end > n)) throw new FormatError(`line ${number}: a span lies outside the tokens`);
  return line;
}

function rewardOf({ reward: { workflow, ...reward } }: Line): RewardParts {
  return { ...reward, ...(workflow === undefined ? {} : { workflow }) };
}

function trajectoryOf(line: Line): TrainedTrajectory {
  const floatsOf = (values: readonly Float[]): Float32Array => Float32Array.from(values, (x) => (x === null ? NaN : Number(x)));
  const { update } = line;
  return {
    task: line.task,
    tokens: Uint32Array.from(line.tokens),
    owner: Uint8Array.from(line.owner),
    logProbs: floatsOf(line.log_probs),
    spans: line.spans,
    calls: line.calls.map(({ errorKind, errorType, ...call }) => ({
      ...call,
      ...(errorKind === undefined ? {} : { errorKind }),
      ...(errorType === undefined ? {} : { errorType }),
    })),
    stop: line.stop,
    reward: rewardOf(line),
    advantage: line.advantage,
    weights: floatsOf(line.weights),
    update: update === null ? undefined : {
      logProbs: floatsOf(update.log_probs), entropy: floatsOf(update.entropy), ratio: floatsOf(update.ratio), kl: floatsOf(update.kl),
      clipped: Uint8Array.from(update.clipped), dLogProb: floatsOf(update.d_log_prob), gradient: floatsOf(update.gradient),
    },
  };
}
