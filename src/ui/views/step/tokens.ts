/** What the group view says of each token: role, share in the loss, value of a signal. Pure; no DOM. */
import type { TrainedTrajectory } from '../../../grpo/record.ts';
import { NO_CLIP, type GrpoSettings } from '../../../grpo/settings.ts';
import { ENVIRONMENT, type SpanKind } from '../../../rollout/trajectory.ts';
import type { Signal } from '../../routes.ts';
import { tokenizerOf } from './tokenizers.ts';

/**
 * What cannot be seen made visible: white space, control characters, marks that would sit on their neighbour, and
 * characters that turn the direction of a line. Everything else as it is.
 */
export function visible(token: string): string {
  return token.replaceAll(' ', '␣').replaceAll('\n', '⏎').replaceAll('\t', '⇥').replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, controlPicture).replace(/^\p{M}/u, '◌$&');
}

function controlPicture(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '␡' : `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`;
}

export const GLYPHS: Readonly<Record<SpanKind, string>> = { prompt: '·', think: 'T', call: '▸', output: '◂', answer: '✓', stray: '~' };

export function spanAt(rollout: TrainedTrajectory, token: number): TrainedTrajectory['spans'][number] | undefined {
  return rollout.spans.find((span) => token >= span.start && token < span.end);
}

/** Whether the update covered a token; from the weights of the batch, never from the owner. */
export function inLoss(rollout: TrainedTrajectory, token: number): boolean {
  return (rollout.weights[token] ?? 0) !== 0;
}

/** How a ratio stands to the trust region: `clipped` only where the clip acts for the sign of the advantage. */
export type ClipState = 'inside' | 'outside' | 'clipped';

export function clipState(rollout: TrainedTrajectory, token: number, grpo: GrpoSettings): ClipState | undefined {
  const ratio = rollout.update?.ratio[token] ?? NaN;
  if (rollout.update === undefined || !inLoss(rollout, token) || Number.isNaN(ratio)) return undefined;
  if (rollout.update.clipped[token] === 1) return 'clipped';
  return ratio > 1 + grpo.epsilonHigh || ratio < 1 - grpo.epsilonLow ? 'outside' : 'inside';
}

const CLIP_VALUE: Readonly<Record<ClipState, number>> = { inside: 0, outside: 1, clipped: 2 };

/** Log-probs of another policy less those of the one that wrote, for each token; NaN where there is none. */
export type Deltas = ReadonlyMap<TrainedTrajectory, Float32Array>;

/**
 * The value of a signal; undefined where the token has none, which is not 0. The gradient is the norm of the row of
 * d loss / d logits, with the sign of the push: + where the update makes the token more likely. It is exactly 0 for
 * a token outside of the loss.
 */
export function signalValue(rollout: TrainedTrajectory, token: number, signal: Signal, grpo: GrpoSettings, delta?: Deltas): number | undefined {
  const { update } = rollout;
  const trained = inLoss(rollout, token);
  const number = (x: number | undefined): number | undefined => (x === undefined || Number.isNaN(x) ? undefined : x);
  switch (signal) {
    case 'none':
      return undefined;
    case 'logprob':
      return number(rollout.logProbs[token]) ?? number(trained ? update?.logProbs[token] : undefined);
    case 'entropy':
      return trained ? number(update?.entropy[token]) : undefined;
    case 'advantage':
      return trained ? rollout.advantage : undefined;
    case 'ratio':
      return trained ? number(update?.ratio[token]) : undefined;
    case 'clip': {
      const state = clipState(rollout, token, grpo);
      return state === undefined ? undefined : CLIP_VALUE[state];
    }
    case 'kl':
      return trained ? number(update?.kl[token]) : undefined;
    case 'delta':
      return number(delta?.get(rollout)?.[token]);
    case 'gradient': {
      if (update === undefined) return undefined;
      const norm = update.gradient[token] ?? 0;
      return (update.dLogProb[token] ?? 0) > 0 ? -norm : norm;
    }
  }
}

/** How a signal is drawn: symmetric about its zero, or from a floor upwards, or in three classes. */
export type SignalScale =
  | { readonly kind: 'diverging'; /** Value at both ends. */ readonly most: number }
  /** A ratio: diverging on a log axis, symmetric about 1. */
  | { readonly kind: 'ratio'; readonly most: number }
  | { readonly kind: 'sequential'; readonly from: number; readonly to: number; readonly logarithmic: boolean }
  | { readonly kind: 'classes' };

/** One scale for a whole group, so that rows can be compared. Undefined where no token has a value. */
export function signalScale(members: readonly TrainedTrajectory[], signal: Signal, grpo: GrpoSettings, delta?: Deltas): SignalScale | undefined {
  const values: number[] = [];
  for (const rollout of members) {
    for (let i = 0; i < rollout.tokens.length; i++) {
      const value = signalValue(rollout, i, signal, grpo, delta);
      if (value !== undefined && Number.isFinite(value)) values.push(value);
    }
  }
  if (values.length === 0) return undefined;
  const most = values.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
  switch (signal) {
    case 'none':
      return undefined;
    case 'clip':
      return { kind: 'classes' };
    case 'ratio': {
      const furthest = values.reduce((a, b) => Math.max(a, Math.abs(Math.log(Math.max(b, 1e-6)))), 0);
      // At least the trust region: a ratio of 1.001 is not an event.
      const band = Math.log(1 + (grpo.epsilonHigh < NO_CLIP ? grpo.epsilonHigh : 0.2));
      return { kind: 'ratio', most: Math.exp(Math.max(furthest, band)) };
    }
    case 'advantage':
      return { kind: 'diverging', most: Math.max(most, 1e-6) };
    case 'gradient':
      return { kind: 'diverging', most: Math.max(most, 1e-12) };
    case 'delta':
      return { kind: 'diverging', most: Math.max(most, 1e-3) };
    case 'logprob':
      // A sure token is the rule and a surprise the event: from 0 down to the least, at least 1 nat.
      return { kind: 'sequential', from: 0, to: Math.min(-1, values.reduce((a, b) => Math.min(a, b), 0)), logarithmic: false };
    case 'entropy':
      return { kind: 'sequential', from: 0, to: Math.max(most, 0.1), logarithmic: false };
    case 'kl':
      return { kind: 'sequential', from: Math.max(most, 1e-6) * 1e-3, to: Math.max(most, 1e-6), logarithmic: true };
  }
}

/** Where a value lies on its scale: −1 to 1 if it diverges, else 0 to 1. */
export function position(value: number, scale: SignalScale): number {
  const clamp = (x: number, low: number): number => Math.min(1, Math.max(low, x));
  switch (scale.kind) {
    case 'diverging':
      return clamp(value / scale.most, -1);
    case 'ratio':
      return clamp(Math.log(Math.max(value, 1e-6)) / Math.log(scale.most), -1);
    case 'sequential':
      return scale.logarithmic
        ? clamp(Math.log(Math.max(value, scale.from) / scale.from) / Math.log(scale.to / scale.from), 0)
        : clamp((value - scale.from) / (scale.to - scale.from), 0);
    case 'classes':
      return clamp(value / 2, 0);
  }
}

export interface MaskCount {
  readonly kind: SpanKind;
  readonly trained: number;
  readonly all: number;
}

export interface MaskCounts {
  readonly kinds: readonly MaskCount[];
  readonly trained: number;
  /** Tokens after the prompt. */
  readonly all: number;
  readonly prompt: number;
  /** Tokens that the environment wrote. */
  readonly observed: number;
}

/** How many tokens of each kind the update covered. */
export function maskCounts(rollout: TrainedTrajectory): MaskCounts {
  const counts = new Map<SpanKind, { trained: number; all: number }>();
  for (const { kind, start, end } of rollout.spans) {
    const count = counts.get(kind) ?? { trained: 0, all: 0 };
    for (let i = start; i < end; i++) if (inLoss(rollout, i)) count.trained++;
    count.all += end - start;
    counts.set(kind, count);
  }
  const prompt = counts.get('prompt')?.all ?? 0;
  const order: readonly SpanKind[] = ['think', 'call', 'output', 'answer', 'stray'];
  const kinds = order.flatMap((kind): MaskCount[] => {
    const count = counts.get(kind);
    return count === undefined ? [] : [{ kind, ...count }];
  });
  return {
    kinds,
    prompt,
    trained: kinds.reduce((n, k) => n + k.trained, 0),
    all: kinds.reduce((n, k) => n + k.all, 0),
    observed: rollout.owner.reduce((n, owner) => n + (owner === ENVIRONMENT ? 1 : 0), 0),
  };
}

/** The text of a token, as a person reads it. */
export function tokenText(rollout: TrainedTrajectory, token: number): string {
  return visible(tokenizerOf(rollout.task).token(rollout.tokens[token] ?? 0));
}

/** Where a key leads from a token: along the tokens, or to the next part; a step may lead beyond the ends. */
export function walk(key: string, { tokens, spans }: TrainedTrajectory, token: number): number | undefined {
  switch (key) {
    case 'ArrowRight':
      return token + 1;
    case 'ArrowLeft':
      return token - 1;
    case 'PageDown':
      return spans.find(({ start }) => start > token)?.start ?? tokens.length - 1;
    case 'PageUp':
      return spans.findLast(({ start }) => start < token)?.start ?? 0;
    case 'Home':
      return 0;
    case 'End':
      return tokens.length - 1;
    default:
      return undefined;
  }
}
