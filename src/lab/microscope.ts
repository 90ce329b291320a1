/**
 * Looks into steps that were made: puts an engine of its own at the weights of a step and answers the page's questions
 * with the computations that trained. The run's own engine is not touched, so training goes on meanwhile.
 */
import { callTags } from '../evaluation/conditions.ts';
import { evaluate } from '../evaluation/evaluate.ts';
import { measureDrift } from '../evaluation/masking.ts';
import { compareGroup } from '../grpo/advantages.ts';
import { lossMask, updateRows, type BatchItem } from '../grpo/batch.ts';
import type { GroupRecord, ScoredTrajectory, StepRecord } from '../grpo/record.ts';
import type { GrpoSettings } from '../grpo/settings.ts';
import { batchItems, makeUpdate, objectiveOf, plannedUpdates, replayStep, type ComparedRollout } from '../grpo/update.ts';
import type { PolicyFiles } from '../policy/checkpoint.ts';
import { parameterLayout, type PolicyConfig } from '../policy/config.ts';
import { EngineError, type GradientReport, type PolicyEngine, type Snapshot, type UpdateRequest } from '../policy/engine.ts';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { readRuleOutput, ruleProgram } from '../reward/rule.ts';
import { scorerOf } from '../reward/score.ts';
import { observationOf, rollOut, type Beginning } from '../rollout/rollout.ts';
import { ENVIRONMENT, POLICY, tagsOf, type Tags, type ToolCall, type Trajectory } from '../rollout/trajectory.ts';
import { PERSON_LIMITS, TOY_LIMITS, type Python, type PythonLimits } from '../tools/python/python.ts';
import type {
  AdamParameter, AdamTensor, GroupRef, Inspection, InspectionKind, InspectionPhase, InspectionResults, PolicyRef, PolicySource, Provenance,
  RolloutRef, StepRef, UpdateChange, UpdateMember, UpdateView,
} from './inspection.ts';
import type { RunSettings } from './protocol.ts';
import { callsOf, evaluationOf, suiteOf } from './suites.ts';

/** A run that can be looked into. */
export interface InspectedRun {
  readonly settings: RunSettings;
  /** Steps made. */
  readonly step: number;
  record(step: number): Promise<StepRecord | undefined>;
  /** The last snapshot at `upTo` or before; undefined where there is none but the model. */
  snapshot(upTo: number): Promise<{ readonly step: number; readonly snapshot: Snapshot } | undefined>;
}

/** What the microscope needs from the lab. */
export interface MicroscopePlatform {
  /** An engine of the kind that the lab uses now, for the microscope alone. */
  startEngine(): Promise<PolicyEngine>;
  run(id: string): Promise<InspectedRun | undefined>;
  loadModel(name: string): Promise<PolicyFiles>;
  readonly python: Python;
}

export type Progress = (phase: InspectionPhase, done: number, of: number) => void;

/** A person's rule reads a whole group, and may print what it likes before its result. */
const RULE_LIMITS: PythonLimits = { seconds: 5, outputCharacters: 200_000, memoryMegabytes: 512 };

/** Parameters shown of a step of Adam: those with the largest gradients, at most this many a tensor. */
const SHOWN_PARAMETERS = 12;
const SHOWN_A_TENSOR = 2;

/** Weights at which the microscope stood, kept for going back; each is three times the policy. */
const KEPT_SNAPSHOTS = 6;

/** The engine's weights are those of this run after this step. */
interface Place {
  readonly id: string;
  readonly step: number;
}

/** The way to a place: where the nearest snapshot was, and what was made again from there. */
type Way = Pick<Provenance, 'snapshot' | 'replayed'>;

/** Weights that were made again. */
interface Known extends Place {
  readonly snapshot: Snapshot;
  readonly way: Way;
}

const keyOf = ({ id, step }: Place): string => `${id}/${step}`;

interface Visit {
  readonly engine: PolicyEngine;
  readonly files: PolicyFiles;
  readonly run: InspectedRun;
  readonly settings: GrpoSettings;
}

export class Microscope {
  private engine: Promise<PolicyEngine> | undefined;
  /** Undefined where the weights are those of no place: a model that was loaded to compare, or half a step. */
  private place: Place | undefined;
  private readonly known = new Map<string, Known>();
  private readonly checks = new Map<string, Provenance['check']>();
  private readonly models = new Map<string, Promise<PolicyFiles>>();
  private queue: Promise<unknown> = Promise.resolve();

  constructor(private readonly platform: MicroscopePlatform) {}

  /** The lab's engine is another now: the next question is answered by one of its kind. */
  forgetEngine(): void {
    const { engine } = this;
    this.engine = undefined;
    this.place = undefined;
    this.known.clear();
    this.checks.clear();
    void engine?.then((old) => { old.dispose(); }, () => undefined);
  }

  /**
   * Answers one question after the other.
   * @throws in words: the step is not stored, the call does not fit, the rule failed, the signal's reason.
   */
  ask<I extends Inspection>(inspection: I, signal: AbortSignal, progress: Progress): Promise<InspectionResults[I['kind']]> {
    const answer = this.queue.then(async () => {
      signal.throwIfAborted();
      try {
        return await this.answer(inspection, signal, progress);
      } catch (error) {
        // What half a question has left in the engine is nobody's.
        this.place = undefined;
        if (!(error instanceof EngineError) || error.code !== 'lost') throw error;
        this.forgetEngine();
        return await this.answer(inspection, signal, progress);
      }
    });
    this.queue = answer.catch(() => undefined);
    return answer as Promise<InspectionResults[I['kind']]>;
  }

  private answer(inspection: Inspection, signal: AbortSignal, progress: Progress): Promise<InspectionResults[InspectionKind]> {
    switch (inspection.kind) {
      case 'scores':
        return this.scores(inspection, signal, progress);
      case 'update':
        return this.update(inspection, signal, progress);
      case 'adam':
        return this.adam(inspection, signal, progress);
      case 'branch':
        return this.branch(inspection, signal, progress);
      case 'rule':
        return this.rule(inspection, signal, progress);
      case 'evaluate':
        return this.evaluate(inspection, signal, progress);
      case 'answer':
        return this.answerOne(inspection, signal, progress);
      case 'read':
        return this.read(inspection, signal, progress);
      case 'drift':
        return this.drift(inspection, signal, progress);
      case 'python':
        return this.python(inspection, signal, progress);
    }
  }

  private async scores({ at, policy, rows, alternatives }: Extract<Inspection, { kind: 'scores' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['scores']> {
    const visit = await this.visit(at, progress);
    const provenance = await this.goToPolicy(visit, at, policy, signal, progress);
    progress('computing', 0, 1);
    const scored = await visit.engine.score({
      rows, temperature: visit.settings.temperature, ...(alternatives === undefined ? {} : { alternatives }),
    });
    return { rows: scored, provenance };
  }

  private async update({ at, changes, update = 0 }: Extract<Inspection, { kind: 'update' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['update']> {
    const visit = await this.visit(at, progress);
    const { engine, settings, files } = visit;
    const record = await recordOf(visit.run, at.step);
    const group = groupOf(record, at);
    const provenance = await this.goToPolicy(visit, at, 'before', signal, progress);
    const switches = [{}, ...changes].map((change: UpdateChange): GrpoSettings => ({ ...settings, ...change }));
    if (switches.some(({ beta }) => beta > 0)) await engine.holdReference(files.checkpoint.weights);
    const planned = [];
    for (const each of switches) {
      // Before the first update: old log-probs are of the policy that sampled.
      planned.push(plannedUpdates(await batchItems(engine, compared(record, each), each), each));
    }
    const [own = []] = planned;
    const updates = own.length;
    const which = Math.min(update, Math.max(0, updates - 1));
    for (const earlier of own.slice(0, which)) {
      this.place = undefined;
      await makeUpdate(engine, earlier, settings);
    }
    const reports: { readonly report: GradientReport; readonly items: readonly BatchItem[]; readonly request: UpdateRequest }[] = [];
    for (const [i, each] of switches.entries()) {
      signal.throwIfAborted();
      progress('computing', i, switches.length);
      const items = planned[i]?.[which]?.items ?? [];
      const request: UpdateRequest = { rows: updateRows(items, each), temperature: each.temperature, objective: objectiveOf(each) };
      reports.push({ request, items, report: await engine.gradients(request) });
    }
    const [first] = reports;
    if (first === undefined) throw new Error('an update without a report');
    const views = reports.map(({ report, items, request }, i): UpdateView => {
      const { mask, advantage, aggregation, epsilonLow, epsilonHigh, beta, temperature, maxLength } = switches[i] ?? settings;
      return {
        settings: { mask, advantage, aggregation, epsilonLow, epsilonHigh, beta, temperature, maxLength },
        members: group.members.map((member) => memberOf(member, items, request, report)),
        loss: report.loss,
        gradNorm: report.gradNorm,
        rollouts: items.length,
        ...countsOf(items, mask),
        difference: differenceOf(first.report.gradient, report.gradient),
      };
    });
    return { views, updates, update: which, provenance };
  }

  private async adam({ at, update = 0 }: Extract<Inspection, { kind: 'adam' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['adam']> {
    const visit = await this.visit(at, progress);
    const { engine, settings, files } = visit;
    const record = await recordOf(visit.run, at.step);
    const provenance = await this.goToPolicy(visit, at, 'before', signal, progress);
    if (settings.beta > 0) await engine.holdReference(files.checkpoint.weights);
    const planned = plannedUpdates(await batchItems(engine, compared(record, settings), settings), settings);
    const which = Math.min(update, Math.max(0, planned.length - 1));
    this.place = undefined;
    for (const earlier of planned.slice(0, which)) await makeUpdate(engine, earlier, settings);
    progress('computing', 0, 1);
    const before = await engine.snapshot();
    const items = planned[which]?.items ?? [];
    const { gradient, gradNorm } = await engine.gradients({
      rows: updateRows(items, settings), temperature: settings.temperature, objective: objectiveOf(settings),
    });
    // Where the step was skipped, the trainer made no update; Adam's momentum alone would have moved the weights.
    const applied = record.skipped === undefined && items.length > 0 && (await makeUpdate(engine, { epoch: 0, items }, settings)).applied;
    const after = applied ? await engine.snapshot() : before;
    const { maxGradNorm } = settings.optimizer;
    const scale = gradNorm > maxGradNorm ? maxGradNorm / gradNorm : 1;
    return {
      t: before.optimizer.step + 1,
      optimizer: settings.optimizer,
      gradNorm, scale, applied, provenance,
      ...adamNumbers(files.checkpoint.config, gradient, scale, before, after),
    };
  }

  private async branch(inspection: Extract<Inspection, { kind: 'branch' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['branch']> {
    const { at, policy, keep, insert, seed } = inspection;
    const visit = await this.visit(at, progress);
    const { engine, files: { tokenizer }, settings } = visit;
    const from = inspection.from ?? memberAt(await recordOf(visit.run, at.step), at);
    const provenance = await this.goToPolicy(visit, at, policy, signal, progress);
    const beginning = beginningOf(from, keep, insert, tokenizer);
    const inserted = [keep, beginning.tokens.length] as const;
    const maxLength = Math.min(settings.maxLength, engine.config?.max_position_embeddings ?? settings.maxLength);
    if (beginning.tokens.length > maxLength) {
      throw new RangeError(`this does not fit: it has ${beginning.tokens.length} tokens, and a rollout at most ${maxLength}`);
    }
    const [trajectory] = await rollOut({
      engine, tokenizer, maxLength, seed,
      tasks: [from.task],
      beginnings: [beginning],
      runCalls: callsOf(suiteOf(from.task.suite), this.platform.python, visit.run.settings.tool),
      // The random numbers of the rollout that it leaves: with the run's seed and weights, nothing put in changes nothing.
      step: at.step,
      firstStream: at.group * settings.group + at.rollout,
      temperature: settings.temperature,
      maxCalls: settings.maxCalls,
      signal,
      onProgress: ({ phase }) => { progress(phase === 'python' ? 'python' : 'computing', 0, 1); },
    });
    signal.throwIfAborted();
    if (trajectory === undefined) throw new Error('no rollout came back');
    return { trajectory: scoredBy(visit.run.settings, trajectory, tokenizer), keep, inserted, provenance };
  }

  private async rule({ at, code }: Extract<Inspection, { kind: 'rule' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['rule']> {
    const run = await this.runOf(at);
    const { members } = groupOf(await recordOf(run, at.step), at);
    const { tokenizer } = await this.model(run.settings.model);
    progress('python', 0, 1);
    const [result] = await this.platform.python.run([ruleProgram(code, members, tokenizer)], RULE_LIMITS, signal);
    if (result === undefined) throw new Error('Python gave no answer');
    return { rewards: readRuleOutput(result, members.length) };
  }

  private async evaluate(inspection: Extract<Inspection, { kind: 'evaluate' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['evaluate']> {
    const { policy, access, tool, probe, questionsPerTier, samples, temperature, seed } = inspection;
    const suite = suiteOf(inspection.suite);
    const { engine, tokenizer } = await this.load(policy, signal, progress);
    const result = await evaluate({
      engine, tokenizer, suite, signal,
      runCalls: callsOf(suite, this.platform.python, tool, probe),
      onProgress: (done, of) => { progress('answering', done, of); },
    }, { ...evaluationOf(suite.name), questionsPerTier, samples, temperature, seed, bannedTokens: access === 'none' ? callTags(tokenizer) : [] });
    return { result, engine: engine.info };
  }

  private async answerOne({ policy, access, task, temperature, seed }: Extract<Inspection, { kind: 'answer' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['answer']> {
    const suite = suiteOf(task.suite);
    const { engine, tokenizer } = await this.load(policy, signal, progress);
    progress('answering', 0, 1);
    const { maxCalls, maxLength, reward } = evaluationOf(suite.name);
    const [trajectory] = await rollOut({
      engine, tokenizer, temperature, seed, maxCalls, signal,
      step: 0,
      tasks: [task],
      runCalls: callsOf(suite, this.platform.python, 'plain'),
      maxLength: engine.config?.max_position_embeddings ?? maxLength,
      bannedTokens: access === 'none' ? callTags(tokenizer) : [],
    });
    signal.throwIfAborted();
    if (trajectory === undefined) throw new Error('no rollout came back');
    return { trajectory: { ...trajectory, reward: scorerOf(suite, tokenizer, reward)(trajectory), advantage: 0 }, engine: engine.info };
  }

  private async read({ policy, rows }: Extract<Inspection, { kind: 'read' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['read']> {
    const { engine } = await this.load(policy, signal, progress);
    progress('computing', 0, 1);
    return { rows: await engine.score({ rows, temperature: 1 }), engine: engine.info };
  }

  private async drift({ at }: Extract<Inspection, { kind: 'drift' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['drift']> {
    const visit = await this.visit(at, progress);
    const members = (await recordOf(visit.run, at.step)).groups.flatMap((group) => group.members);
    const provenance = await this.goToPolicy(visit, at, 'before', signal, progress);
    progress('computing', 0, 1);
    await visit.engine.holdReference(visit.files.checkpoint.weights);
    return { drift: await measureDrift(visit.engine, visit.files.tokenizer, members), provenance };
  }

  private async python({ code, limits }: Extract<Inspection, { kind: 'python' }>, signal: AbortSignal, progress: Progress): Promise<InspectionResults['python']> {
    progress('python', 0, 1);
    const [result] = await this.platform.python.run([code], limits === 'rollout' ? TOY_LIMITS : PERSON_LIMITS, signal);
    if (result === undefined) throw new Error('Python gave no answer');
    return { result };
  }

  /** Puts the engine at a policy that is not looked at as part of a step. */
  private async load(policy: PolicySource, signal: AbortSignal, progress: Progress): Promise<{ readonly engine: PolicyEngine; readonly tokenizer: Tokenizer }> {
    if ('run' in policy) {
      const run = await this.runOf({ run: policy.run, step: 0 });
      const step = Math.min(policy.step ?? run.step, run.step);
      const visit = await this.visit({ run: policy.run, step }, progress);
      await this.goTo(visit, { id: policy.run, step }, signal, progress);
      return { engine: visit.engine, tokenizer: visit.files.tokenizer };
    }
    progress('engine', 0, 1);
    const [engine, { checkpoint, tokenizer }] = await Promise.all([this.started(), this.model(policy.model)]);
    this.place = undefined;
    await engine.load(checkpoint);
    return { engine, tokenizer };
  }

  /** One that could not be started is asked for again with the next question. */
  private started(): Promise<PolicyEngine> {
    const engine = this.engine ?? this.platform.startEngine();
    this.engine = engine;
    engine.catch(() => { if (this.engine === engine) this.engine = undefined; });
    return engine;
  }

  private async runOf({ run: id }: StepRef): Promise<InspectedRun> {
    const run = await this.platform.run(id);
    if (run === undefined) throw new RangeError('this run is not stored here any more');
    return run;
  }

  private async visit(at: StepRef, progress: Progress): Promise<Visit> {
    const run = await this.runOf(at);
    progress('engine', 0, 1);
    const [engine, files] = await Promise.all([this.started(), this.model(run.settings.model)]);
    return { engine, files, run, settings: run.settings.grpo };
  }

  private model(name: string): Promise<PolicyFiles> {
    const files = this.models.get(name) ?? this.platform.loadModel(name);
    this.models.set(name, files);
    files.catch(() => this.models.delete(name));
    return files;
  }

  /** Puts the engine at the weights that a question is about. */
  private async goToPolicy(visit: Visit, at: StepRef, policy: PolicyRef, signal: AbortSignal, progress: Progress): Promise<Provenance> {
    const { engine } = visit;
    if (typeof policy === 'object') {
      const { checkpoint, tokenizer } = await this.model(policy.model);
      if (tokenizer.size !== visit.files.tokenizer.size) throw new RangeError(`${policy.model} reads other tokens than this run`);
      this.place = undefined;
      await engine.load(checkpoint);
      return { engine: engine.info, snapshot: 0, replayed: 0, check: undefined };
    }
    const step = { before: at.step - 1, after: at.step, start: 0, latest: visit.run.step }[policy];
    const way = await this.goTo(visit, { id: at.run, step }, signal, progress);
    const check = policy === 'before' ? await this.check(visit, at, progress) : undefined;
    return { engine: engine.info, ...way, check };
  }

  /** Loads the nearest weights that are at hand, and makes the steps since again. */
  private async goTo(visit: Visit, to: Place, signal: AbortSignal, progress: Progress): Promise<Way> {
    const { engine, run, files } = visit;
    const from = await this.nearest(run, to);
    if (this.place?.id !== to.id || this.place.step !== from.step) {
      this.place = undefined;
      await engine.load(from.snapshot ?? files.checkpoint);
    }
    if (from.step === to.step) {
      this.place = to;
      return from.way;
    }
    this.place = undefined;
    if (run.settings.grpo.beta > 0) await engine.holdReference(files.checkpoint.weights);
    for (let step = from.step + 1; step <= to.step; step++) {
      signal.throwIfAborted();
      progress('replaying', step - from.step - 1, to.step - from.step);
      await replayStep(engine, await recordOf(run, step), run.settings.grpo);
    }
    const way: Way = { ...from.way, replayed: from.way.replayed + to.step - from.step };
    this.place = to;
    this.known.set(keyOf(to), { ...to, snapshot: await engine.snapshot(), way });
    const [oldest] = this.known.keys();
    if (this.known.size > KEPT_SNAPSHOTS && oldest !== undefined) this.known.delete(oldest);
    return way;
  }

  /** What was stored with the run, or what the microscope itself has made since, whichever is nearer. */
  private async nearest(run: InspectedRun, to: Place): Promise<{ readonly step: number; readonly snapshot: Snapshot | undefined; readonly way: Way }> {
    const here = [...this.known.values()].filter(({ id, step }) => id === to.id && step <= to.step);
    const best = here.reduce<Known | undefined>((a, b) => (a === undefined || b.step > a.step ? b : a), undefined);
    if (best?.step === to.step) return best;
    const stored = to.step === 0 ? undefined : await run.snapshot(to.step);
    if (best !== undefined && best.step > (stored?.step ?? 0)) return best;
    return { step: stored?.step ?? 0, snapshot: stored?.snapshot, way: { snapshot: stored?.step ?? 0, replayed: 0 } };
  }

  /** Scores what the step sampled with the weights that it is said to have been sampled with. */
  private async check({ engine, run, settings }: Visit, at: StepRef, progress: Progress): Promise<Provenance['check']> {
    const key = keyOf({ id: at.run, step: at.step });
    const known = this.checks.get(key);
    if (known !== undefined) return known;
    progress('computing', 0, 1);
    const members = (await recordOf(run, at.step)).groups.flatMap((group) => group.members);
    const scored = await engine.score({ rows: members.map(({ tokens }) => tokens), temperature: settings.temperature });
    let tokens = 0;
    let maxDifference = 0;
    for (const [i, { logProbs, owner }] of members.entries()) {
      for (const [k, logProb] of logProbs.entries()) {
        if (owner[k] !== POLICY || Number.isNaN(logProb)) continue;
        tokens++;
        maxDifference = Math.max(maxDifference, Math.abs(logProb - (scored[i]?.logProbs[k] ?? NaN)));
      }
    }
    const check = { tokens, maxDifference };
    this.checks.set(key, check);
    return check;
  }
}

async function recordOf(run: InspectedRun, step: number): Promise<StepRecord> {
  const record = await run.record(step);
  if (record === undefined) throw new RangeError(`step ${step} of this run is not stored`);
  return record;
}

function groupOf(record: StepRecord, at: GroupRef): GroupRecord {
  const group = record.groups[at.group];
  if (group === undefined) throw new RangeError(`step ${at.step} has no group ${at.group + 1}`);
  return group;
}

function memberAt(record: StepRecord, at: RolloutRef): ScoredTrajectory {
  const member = groupOf(record, at).members[at.rollout];
  if (member === undefined) throw new RangeError(`the group has no rollout ${at.rollout + 1}`);
  return member;
}

/** The rollouts that the step's updates covered, with the advantages that a rule gives them. */
function compared(record: StepRecord, { advantage }: GrpoSettings): ComparedRollout[] {
  return record.groups.filter(({ dropped }) => !dropped).flatMap(({ members, mean }) => {
    const advantages = Number.isFinite(mean) ? compareGroup(members.map(({ reward }) => reward.total), advantage).advantages : [];
    return members.map((trajectory, i) => ({ trajectory, advantage: advantages[i] ?? 0 }));
  });
}

function memberOf(member: ScoredTrajectory, items: readonly BatchItem[], { rows }: UpdateRequest, report: GradientReport): UpdateMember {
  const at = items.findIndex(({ trajectory }) => trajectory === member);
  const item = items[at];
  return {
    weights: rows[at]?.weights ?? new Float32Array(member.tokens.length),
    advantage: item?.advantage ?? 0,
    oldLogProbs: item?.oldLogProbs ?? member.logProbs,
    referenceLogProbs: item?.referenceLogProbs,
    tokens: report.rows[at],
  };
}

function countsOf(items: readonly BatchItem[], mask: boolean): Pick<UpdateView, 'tokensInLoss' | 'observationTokensInLoss'> {
  let tokensInLoss = 0;
  let observationTokensInLoss = 0;
  for (const { trajectory } of items) {
    for (const [i, inLoss] of lossMask(trajectory, mask).entries()) {
      tokensInLoss += inLoss;
      if (trajectory.owner[i] === ENVIRONMENT) observationTokensInLoss += inLoss;
    }
  }
  return { tokensInLoss, observationTokensInLoss };
}

function differenceOf(own: Float32Array, other: Float32Array): UpdateView['difference'] {
  let dot = 0;
  let squares = 0;
  let owns = 0;
  let others = 0;
  for (const [i, a] of own.entries()) {
    const b = other[i] ?? NaN;
    dot += a * b;
    squares += (a - b) ** 2;
    owns += a * a;
    others += b * b;
  }
  return { norm: Math.sqrt(squares), cosine: owns === 0 || others === 0 ? NaN : Math.min(1, dot / Math.sqrt(owns * others)) };
}

function adamNumbers(
  config: PolicyConfig, gradient: Float32Array, scale: number, before: Snapshot, after: Snapshot,
): { readonly tensors: readonly AdamTensor[]; readonly parameters: readonly AdamParameter[] } {
  const norm = (at: (i: number) => number, from: number, to: number): number => {
    let sum = 0;
    for (let i = from; i < to; i++) sum += at(i) ** 2;
    return Math.sqrt(sum);
  };
  const g = (i: number): number => gradient[i] ?? 0;
  const change = (i: number): number => (after.weights[i] ?? 0) - (before.weights[i] ?? 0);
  const { slices } = parameterLayout(config);
  const tensors = slices.map(({ name, offset, size }): AdamTensor => ({
    name, size,
    weights: norm((i) => before.weights[i] ?? 0, offset, offset + size),
    gradient: norm(g, offset, offset + size),
    change: norm(change, offset, offset + size),
  }));
  const strongest = slices.flatMap(({ name, offset, size }) =>
    Array.from({ length: size }, (_, index) => index)
      .sort((a, b) => Math.abs(g(offset + b)) - Math.abs(g(offset + a)))
      .slice(0, SHOWN_A_TENSOR)
      .map((index) => ({ name, index, at: offset + index })),
  ).sort((a, b) => Math.abs(g(b.at)) - Math.abs(g(a.at))).slice(0, SHOWN_PARAMETERS);
  const parameters = strongest.map(({ name, index, at }): AdamParameter => ({
    tensor: name, index,
    gradient: g(at),
    clipped: g(at) * scale,
    mBefore: before.optimizer.m[at] ?? 0,
    m: after.optimizer.m[at] ?? 0,
    vBefore: before.optimizer.v[at] ?? 0,
    v: after.optimizer.v[at] ?? 0,
    before: before.weights[at] ?? 0,
    after: after.weights[at] ?? 0,
  }));
  return { tensors, parameters };
}

/** The rollout up to `keep`, with what the person puts in. */
function beginningOf(from: Trajectory, keep: number, insert: Extract<Inspection, { kind: 'branch' }>['insert'], tokenizer: Tokenizer): Beginning {
  const tags = tagsOf(tokenizer);
  const prompt = from.owner.indexOf(POLICY) < 0 ? from.tokens.length : from.owner.indexOf(POLICY);
  if (keep < prompt || keep > from.tokens.length) throw new RangeError('a branch leaves a rollout behind its question');
  const answered = answeredCalls(from, keep, tags);
  const kept = { tokens: from.tokens.subarray(0, keep), owner: from.owner.subarray(0, keep), logProbs: from.logProbs.subarray(0, keep) };
  switch (insert.kind) {
    case 'nothing':
      return { ...kept, calls: answered };
    case 'token':
      return put(kept, Uint32Array.of(insert.id), POLICY, answered);
    case 'call':
      if (from.tokens[keep - 1] !== tags.call.open) throw new RangeError('code goes behind an opening tag of a call');
      return put(kept, Uint32Array.from([...tokenizer.encodePlain(insert.code), tags.call.close]), POLICY, answered);
    case 'observation': {
      if (from.tokens[keep - 1] !== tags.call.close) throw new RangeError('an observation follows a call');
      const call = from.calls[answered.length];
      const told: ToolCall = call === undefined
        ? { code: '', ok: true, output: insert.text, truncated: false, seconds: 0 }
        : { ...call, output: insert.text, truncated: false };
      return put(kept, observationOf(insert.text, tags, tokenizer), ENVIRONMENT, [...answered, told]);
    }
  }
}

function put(kept: Omit<Beginning, 'calls'>, ids: Uint32Array, owner: number, calls: readonly ToolCall[]): Beginning {
  const join = <T extends Uint32Array | Uint8Array | Float32Array>(to: T, head: T, tail: ArrayLike<number>): T => {
    to.set(head);
    to.set(tail, head.length);
    return to;
  };
  const n = kept.tokens.length + ids.length;
  return {
    tokens: join(new Uint32Array(n), kept.tokens, ids),
    owner: join(new Uint8Array(n), kept.owner, new Uint8Array(ids.length).fill(owner)),
    // Nobody drew them.
    logProbs: join(new Float32Array(n), kept.logProbs, new Float32Array(ids.length).fill(NaN)),
    calls,
  };
}

/** The calls whose observation lies before a place. */
function answeredCalls({ tokens, owner, calls }: Trajectory, before: number, tags: Tags): readonly ToolCall[] {
  let answered = 0;
  for (let i = 0; i < before; i++) if (owner[i] === ENVIRONMENT && tokens[i] === tags.output.close) answered++;
  return calls.slice(0, answered);
}

/** Scored by the rule of the run, in no group: there is nothing to compare it with. */
function scoredBy(settings: RunSettings, trajectory: Trajectory, tokenizer: Tokenizer): ScoredTrajectory {
  return { ...trajectory, reward: scorerOf(suiteOf(settings.suite), tokenizer, settings.grpo.reward)(trajectory), advantage: 0 };
}
