/** The arrays of one update, as they are drawn: what each operation leaves at each token, and on what scale. Pure. */
import { walkToken, type TokenRule, type TokenWalk } from '../../../grpo/explain.ts';
import type { GroupRecord, StepRecord, TrainedTrajectory } from '../../../grpo/record.ts';
import type { GrpoSettings } from '../../../grpo/settings.ts';
import type { UpdateMember, UpdateView } from '../../../lab/inspection.ts';
import { ENVIRONMENT } from '../../../rollout/trajectory.ts';
import { position, type SignalScale } from '../step/tokens.ts';
import type { Operation } from './operations.ts';

/** What the step's own record holds of its last update, in the form of an answer of the microscope. */
export function storedView(record: StepRecord, group: GroupRecord, grpo: GrpoSettings): UpdateView {
  const all = record.groups.filter(({ dropped }) => !dropped).flatMap(({ members }) => members);
  // The record does not say which rollouts a minibatch had.
  const whole = grpo.minibatches === 1;
  const single = whole && grpo.innerEpochs === 1;
  const count = (of: (rollout: TrainedTrajectory, t: number) => boolean): number =>
    whole ? all.reduce((n, rollout) => n + rollout.weights.reduce((m, w, t) => m + (w !== 0 && of(rollout, t) ? 1 : 0), 0), 0) : NaN;
  return {
    settings: {
      mask: grpo.mask, advantage: grpo.advantage, aggregation: grpo.aggregation, epsilonLow: grpo.epsilonLow,
      epsilonHigh: grpo.epsilonHigh, beta: grpo.beta, temperature: grpo.temperature, maxLength: grpo.maxLength,
    },
    members: group.members.map(({ weights, advantage, logProbs, update }) => ({
      weights, advantage, oldLogProbs: logProbs, referenceLogProbs: undefined, tokens: update,
    })),
    loss: single ? (record.metrics.loss ?? NaN) : NaN,
    gradNorm: single ? (record.metrics.grad_norm ?? NaN) : NaN,
    rollouts: whole ? all.length : NaN,
    tokensInLoss: count(() => true),
    observationTokensInLoss: count(({ owner }, t) => owner[t] === ENVIRONMENT),
    difference: { norm: 0, cosine: 1 },
  };
}

/** Which update of the step, from 0, the record tells of for a rollout: the last one that covered it. */
export function lastUpdate(record: StepRecord, rollout: TrainedTrajectory, { innerEpochs, minibatches }: Pick<GrpoSettings, 'innerEpochs' | 'minibatches'>): number {
  // Dealt out as `plannedUpdates` does.
  const place = record.groups.filter(({ dropped }) => !dropped).flatMap(({ members }) => members).indexOf(rollout);
  return (innerEpochs - 1) * minibatches + (Math.max(0, place) % minibatches);
}

/** An update of which nothing is known yet. */
export function blank(view: UpdateView): UpdateView {
  return { ...view, loss: NaN, gradNorm: NaN, members: view.members.map((member) => ({ ...member, tokens: undefined })) };
}

/** The walk of one token; from the engine's own ratio where it reports one. */
export function walkAt(member: UpdateMember, rule: TokenRule, t: number): TokenWalk {
  const ratio = member.tokens?.ratio[t] ?? NaN;
  return walkToken(
    {
      oldLogProb: member.oldLogProbs[t] ?? NaN,
      logProb: member.tokens?.logProbs[t] ?? NaN,
      referenceLogProb: member.referenceLogProbs?.[t] ?? NaN,
      advantage: member.advantage,
      weight: member.weights[t] ?? 0,
    },
    rule,
    Number.isNaN(ratio) ? undefined : ratio,
  );
}

/** What an operation leaves at a token; NaN where the token has no such number. The push is −d loss/d log π: + is up. */
export function operationValue(member: UpdateMember, rule: TokenRule, operation: Operation, t: number): number {
  const trained = (member.weights[t] ?? 0) !== 0;
  switch (operation) {
    case 'old':
      return member.oldLogProbs[t] ?? NaN;
    case 'new':
      return trained ? (member.tokens?.logProbs[t] ?? NaN) : NaN;
    case 'ratio':
      return trained ? (member.tokens?.ratio[t] ?? NaN) : NaN;
    case 'clip':
      return trained ? walkAt(member, rule, t).inside : NaN;
    case 'advantage':
      return trained ? walkAt(member, rule, t).gain : NaN;
    case 'kl':
      return trained ? walkAt(member, rule, t).loss : NaN;
    case 'weight':
      return member.weights[t] ?? 0;
    case 'sum':
      return trained ? walkAt(member, rule, t).weighted : 0;
    case 'gradient':
    case 'adam':
      return member.tokens === undefined ? NaN : push(member, t);
  }
}

/** −d loss / d log π: what the update does to the token; exactly 0 where it does nothing. */
export function push(member: UpdateMember, t: number): number {
  const d = member.tokens?.dLogProb[t] ?? 0;
  return d === 0 ? 0 : -d;
}

/** The norm of the row of d loss / d logits, with the sign of the push. */
export function signedGradient(member: UpdateMember, t: number): number {
  const norm = member.tokens?.gradient[t] ?? 0;
  return (member.tokens?.dLogProb[t] ?? 0) > 0 ? -norm : norm;
}

export function arrayOf(member: UpdateMember, rule: TokenRule, operation: Operation): Float64Array {
  return Float64Array.from(member.weights, (_, t) => operationValue(member, rule, operation, t));
}

/** One scale for all rollouts of the group. Undefined where no token has a value. */
export function scaleOf(arrays: readonly Float64Array[], operation: Operation, rule: TokenRule): SignalScale | undefined {
  let [least, most, any] = [0, 0, false];
  for (const array of arrays) {
    for (const x of array) {
      if (!Number.isFinite(x)) continue;
      any = true;
      least = Math.min(least, x);
      most = Math.max(most, x);
    }
  }
  if (!any) return undefined;
  switch (operation) {
    case 'old':
    case 'new':
      return { kind: 'sequential', from: 0, to: Math.min(-1, least), logarithmic: false };
    case 'ratio':
    case 'clip':
      return { kind: 'ratio', most: ratioReach(arrays, rule) };
    case 'weight':
      return { kind: 'sequential', from: 0, to: most === 0 ? 1 : most, logarithmic: false };
    case 'advantage':
    case 'kl':
    case 'sum':
    case 'gradient':
    case 'adam':
      return { kind: 'diverging', most: Math.max(-least, most) || 1 };
  }
}

/** How far a ratio's log axis goes to either side of 1: a little beyond the band, or to the furthest token. */
export function ratioReach(arrays: readonly Float64Array[], { epsilonLow, epsilonHigh }: TokenRule): number {
  let most = 0;
  for (const array of arrays) for (const x of array) if (x > 0) most = Math.max(most, Math.abs(Math.log(x)));
  const band = Math.max(epsilonHigh < 1e3 ? Math.log(1 + epsilonHigh) : 0, epsilonLow < 1 ? -Math.log(1 - epsilonLow) : 0, 0.1);
  return Math.exp(Math.max(most, 1.5 * band));
}

/** Height of a bar, −1 to 1, of a value on its scale. */
export function barHeight(value: number, scale: SignalScale): number {
  return Number.isNaN(value) ? 0 : position(value, scale);
}

/** The token with the strongest gradient of a rollout; its first one in the loss; else its first. */
export function strongestToken(rollout: TrainedTrajectory): number {
  let best = rollout.weights.findIndex((w) => w !== 0);
  for (const [t, gradient] of (rollout.update?.gradient ?? []).entries()) if (gradient > (rollout.update?.gradient[best] ?? 0)) best = t;
  return Math.max(0, best);
}
