/**
 * Well-formed steps without an engine, for tests of the page: scripted rollouts, scored and compared by the lab's own
 * code. The numbers of the update are made up.
 */
import { compareGroup } from '../../grpo/advantages.ts';
import { lossMask, tokenWeights } from '../../grpo/batch.ts';
import { stepMetrics } from '../../grpo/metrics.ts';
import type { GroupRecord, StepRecord, TrainedTrajectory } from '../../grpo/record.ts';
import type { GrpoSettings } from '../../grpo/settings.ts';
import type { TokenScores, UpdateReport, UpdateTokens } from '../../policy/engine.ts';
import { Random } from '../../policy/random.ts';
import { Tokenizer } from '../../policy/tokenizer.ts';
import { scoreMath } from '../../reward/math.ts';
import { spansOf } from '../../rollout/grammar.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type Owner, type ToolCall, type Trajectory } from '../../rollout/trajectory.ts';
import { arithmetic } from '../../tasks/arithmetic.ts';
import { drawTasks, type Task } from '../../tasks/task.ts';

export interface SyntheticOptions {
  readonly step: number;
  readonly seed: number;
  readonly grpo: GrpoSettings;
  /** 0 to 1: how well the scripted policy does. */
  readonly progress: number;
}

const tokenizer = new Tokenizer();
const tags = tagsOf(tokenizer);

function call(code: string, ok: boolean, output: string): ToolCall {
  return { code, ok, output, truncated: false, seconds: 0.001, ...(ok ? {} : { errorKind: 'exception', errorType: 'NameError' }) };
}

/** One scripted attempt: well called, called with a bug, forged, or answered at once. */
function attempt(task: Task, random: Random, progress: number): Trajectory {
  const ids: number[] = [];
  const owner: Owner[] = [];
  const calls: ToolCall[] = [];
  const write = (text: string, who: Owner): void => {
    for (const id of tokenizer.encode(text)) {
      ids.push(id);
      owner.push(who);
    }
  };
  const run = (code: string, ok: boolean, output: string): void => {
    write(`<python>${code}</python>`, POLICY);
    write(`<output>${output}</output>`, ENVIRONMENT);
    calls.push(call(code, ok, output));
  };
  const guess = String(random.integer(10, 99));
  write(`<bos>${task.question}`, PROMPT);
  const luck = random.next();
  if (luck < 0.25 + 0.75 * progress) {
    write(`<think>${task.kind}: use code</think>`, POLICY);
    run(`print(${task.expression})`, true, task.answer);
    write(`<answer>${task.answer}</answer><eos>`, POLICY);
  } else if (luck < 0.5 + 0.5 * progress) {
    write(`<think>${task.kind}: use code</think>`, POLICY);
    run(`show(${task.expression})`, false, "NameError: name 'show' is not defined");
    if (random.next() < 0.5) {
      write('<think>fix it</think>', POLICY);
      run(`print(${task.expression})`, true, task.answer);
      write(`<answer>${task.answer}</answer><eos>`, POLICY);
    } else write(`<answer>${guess}</answer><eos>`, POLICY);
  } else if (luck < 0.56 + 0.44 * progress) write(`<think>${task.kind}</think><output>${guess}</output><answer>${guess}</answer><eos>`, POLICY);
  else write(`<think>${task.kind}: easy</think><answer>${task.tier === 1 ? task.answer : guess}</answer><eos>`, POLICY);
  return {
    task,
    tokens: Uint32Array.from(ids),
    owner: Uint8Array.from(owner),
    logProbs: Float32Array.from(owner, (who) => (who === POLICY ? Math.log(0.3 + 0.699 * random.next()) : NaN)),
    spans: spansOf(ids, owner, tags),
    calls,
    stop: 'end',
  };
}

function update({ logProbs }: Trajectory, weights: Float32Array, advantage: number, random: Random): UpdateTokens {
  const trained = (make: (t: number) => number, otherwise: number): Float32Array =>
    Float32Array.from(weights, (w, t) => (w === 0 ? otherwise : make(t)));
  const ratio = trained(() => Math.exp(0.1 * random.normal()), NaN);
  return {
    logProbs: trained((t) => logProbs[t] ?? NaN, NaN),
    entropy: trained(() => 0.6 * random.next() ** 2, NaN),
    ratio,
    kl: trained(() => 0.01 * random.next() ** 2, NaN),
    clipped: Uint8Array.from(ratio, (r) => (advantage > 0 ? Number(r > 1.2) : Number(r < 0.8))),
    dLogProb: trained((t) => -advantage * (weights[t] ?? 0), 0),
    gradient: trained((t) => Math.abs(advantage) * (weights[t] ?? 0) * (1 - Math.exp(logProbs[t] ?? 0)), 0),
  };
}

/** Scores of one row of tokens: the token itself is the most probable, the next ids follow. */
export function syntheticScores(tokens: Uint32Array, alternatives = 0): TokenScores {
  const random = new Random(tokens.length, 0);
  const logProbs = Float32Array.from(tokens, (_, t) => (t === 0 ? NaN : Math.log(0.5 + 0.49 * random.next())));
  const entropy = logProbs.map((lp) => -2 * lp);
  if (alternatives === 0) return { logProbs, entropy };
  const ids = new Uint32Array(tokens.length * alternatives);
  const others = new Float32Array(ids.length).fill(NaN);
  for (let t = 1; t < tokens.length; t++) {
    const left = 1 - Math.exp(logProbs[t] ?? 0);
    for (let k = 0; k < alternatives; k++) {
      ids[t * alternatives + k] = ((tokens[t] ?? 0) + k) % tokenizer.size;
      others[t * alternatives + k] = k === 0 ? (logProbs[t] ?? 0) : Math.log(left / 2 ** k);
    }
  }
  return { logProbs, entropy, alternatives: { ids, logProbs: others } };
}

export function syntheticStep({ step, seed, grpo, progress }: SyntheticOptions): StepRecord {
  const random = new Random(seed, step);
  const tasks = drawTasks(arithmetic, grpo.questions, 'train', seed, step);
  const compared = tasks.map((task) => {
    const rollouts = Array.from({ length: grpo.group }, () => attempt(task, random, progress));
    const rewards = rollouts.map((r) => scoreMath(r, arithmetic, tokenizer, grpo.reward));
    return { task, rollouts, rewards, statistics: compareGroup(rewards.map((r) => r.total), grpo.advantage) };
  });
  const all = compared.flatMap((group) => group.rollouts);
  const weights = tokenWeights(all.map((r) => lossMask(r, grpo.mask)), grpo.aggregation, grpo.maxLength);
  let row = 0;
  const groups = compared.map(({ task, rollouts, rewards, statistics }): GroupRecord => ({
    task,
    members: rollouts.map((rollout, i): TrainedTrajectory => {
      const own = weights[row++] ?? new Float32Array(rollout.tokens.length);
      const advantage = statistics.advantages[i] ?? 0;
      const reward = rewards[i];
      if (reward === undefined) throw new Error('a rollout without a reward');
      return { ...rollout, reward, advantage, weights: own, update: update(rollout, own, advantage, random) };
    }),
    mean: statistics.mean,
    std: statistics.std,
    equal: statistics.equal,
    dropped: false,
  }));
  const report: UpdateReport = { loss: 0.01 * random.normal(), gradNorm: 0.2 + 0.4 * random.next(), applied: true, rows: [] };
  const metrics = stepMetrics(groups, grpo, { tokensBefore: 6000 * step, seconds: 0.5, updates: [report] });
  return { step, groups, metrics, warnings: [] };
}
