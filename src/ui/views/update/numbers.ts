/** The numbers of the terms for what is looked at: a token of an update, or an example. */
import { EXAMPLES, walkToken, weightParts, type CaseName, type TokenNumbers, type TokenWalk } from '../../../grpo/explain.ts';
import { NO_CLIP } from '../../../grpo/settings.ts';
import type { AdamParameter, InspectionResults, UpdateView } from '../../../lab/inspection.ts';
import { format } from '../../text/text.ts';
import { walkAt } from './arrays.ts';
import { clips, formulas, pieces, type Operation, type Rule, type Term } from './operations.ts';

export interface Subject {
  readonly rule: Rule;
  readonly numbers: TokenNumbers;
  /** The walk; its ratio, KL, clip and push are the engine's where it reports them. */
  readonly walk: TokenWalk;
  /** Norm of the row of d loss / d logits; NaN where nobody computed it. */
  readonly norm: number;
  /** What the weight is 1 over the product of; undefined where it is not known. */
  readonly parts: readonly number[];
  /** Σ w·loss over the batch. */
  readonly total: number;
}

const inLoss = (weights: Float32Array): number => weights.reduce((n, w) => n + (w === 0 ? 0 : 1), 0);

/** A token of a real update. */
export function subjectAt(view: UpdateView, member: number, t: number): Subject | undefined {
  const of = view.members[member];
  if (of === undefined) return undefined;
  const walk = walkAt(of, view.settings, t);
  const weight = of.weights[t] ?? 0;
  const kl = of.tokens?.kl[t] ?? NaN;
  return {
    rule: view.settings,
    numbers: {
      oldLogProb: of.oldLogProbs[t] ?? NaN,
      logProb: of.tokens?.logProbs[t] ?? NaN,
      referenceLogProb: of.referenceLogProbs?.[t] ?? NaN,
      advantage: of.advantage,
      weight,
    },
    walk: {
      ...walk,
      clipped: of.tokens === undefined ? walk.clipped : of.tokens.clipped[t] === 1,
      kl: view.settings.beta === 0 || Number.isNaN(kl) ? walk.kl : kl,
      dLogProb: of.tokens?.dLogProb[t] ?? NaN,
    },
    norm: of.tokens?.gradient[t] ?? NaN,
    parts: weightParts(view.settings.aggregation, { ...view, maxLength: view.settings.maxLength }, inLoss(of.weights)),
    total: view.loss,
  };
}

export const EXAMPLE_RULE: Rule = { advantage: 'sample-std', aggregation: 'sequence-mean', epsilonLow: 0.2, epsilonHigh: 0.2, beta: 0 };

/** An example: worked here, on given numbers. */
export function exampleSubject(name: CaseName): Subject {
  const numbers = EXAMPLES[name];
  return {
    rule: EXAMPLE_RULE,
    numbers,
    walk: walkToken(numbers, EXAMPLE_RULE),
    norm: NaN,
    // 1 / (20 · 50) is the weight that the examples have.
    parts: [20, 50],
    total: NaN,
  };
}

export type AdamResult = InspectionResults['adam'];

/** The value of a term as a number; NaN where there is none. */
export function termNumber({ rule, numbers, walk, parts, total }: Subject, term: Term, adam?: AdamParameter): number {
  const masked = numbers.weight === 0;
  const drift = (numbers.referenceLogProb ?? NaN) - numbers.logProb;
  switch (term) {
    case 'old':
      return numbers.oldLogProb;
    case 'new':
      return numbers.logProb;
    case 'ratio':
      return masked ? NaN : walk.ratio;
    case 'low':
      return rule.epsilonLow;
    case 'high':
      return rule.epsilonHigh;
    case 'inside':
      return masked ? NaN : walk.inside;
    case 'advantage':
      return numbers.advantage;
    case 'gain':
      return masked ? NaN : walk.gain;
    case 'reference':
      return numbers.referenceLogProb ?? NaN;
    case 'drift':
      return drift;
    case 'kl':
      return masked ? NaN : walk.kl;
    case 'beta':
      return rule.beta;
    case 'loss':
      return masked ? NaN : walk.loss;
    case 'mask':
      return masked ? 0 : 1;
    case 'rollouts':
      return parts[0] ?? NaN;
    case 'length':
      return parts.at(-1) ?? NaN;
    case 'weight':
      return numbers.weight;
    case 'total':
      return total;
    case 'clipped':
      return masked ? NaN : Number(walk.clipped);
    case 'push':
      return walk.dLogProb;
    case 'norm':
      return NaN;
    case 'g':
      return adam?.clipped ?? NaN;
    case 'm':
      return adam?.m ?? NaN;
    case 'v':
      return adam?.v ?? NaN;
    case 'theta':
      return adam?.after ?? NaN;
  }
}

/** A number of a term in figures: the same precision for the same term, and 0 only where it is exactly that. */
export function say(term: Term, x: number): string {
  if (Number.isNaN(x)) return '–';
  if (x === 0) return '0';
  if (WHOLE.has(term)) return format.integer(x);
  if (term === 'low' || term === 'high') return x >= NO_CLIP ? '∞' : format.significant(x, 3);
  return short(x, term === 'ratio' || term === 'inside' ? 6 : 4);
}

const WHOLE: ReadonlySet<Term> = new Set(['mask', 'clipped', 'rollouts', 'length']);

/** Four decimals; small numbers with four significant figures, large ones with six. */
export function short(x: number, decimals = 4): string {
  if (Number.isNaN(x)) return '–';
  if (x === 0) return '0';
  const size = Math.abs(x);
  return size < 0.1 ? format.significant(x, 4) : size < 100 ? format.fixed(x, decimals) : format.significant(x, 6);
}

export function sayTerm(subject: Subject, term: Term, adam?: AdamParameter): string {
  return term === 'norm' ? short(subject.numbers.weight === 0 ? 0 : subject.norm) : say(term, termNumber(subject, term, adam));
}

/** The lines of an operation's formula with numbers in the place of symbols. */
export function workedOut(subject: Subject, operation: Operation, adam: { readonly parameter: AdamParameter; readonly result: AdamResult } | undefined): readonly string[] {
  const at = (term: Term): string => `{${term}:${sayTerm(subject, term)}}`;
  const masked = subject.numbers.weight === 0;
  switch (operation) {
    case 'sum':
      return [`{total:${sayTerm(subject, 'total')}} = … + ${at('weight')}·${masked ? '–' : braced('loss', sayTerm(subject, 'loss'))} + …`];
    case 'gradient':
      if (masked) return [`${at('push')} = ${at('weight')}·…`];
      // Where the clip acts, the gain has no slope; a pull to the start is what is left.
      if (subject.walk.clipped) return subject.rule.beta === 0 ? [`${at('push')} = ${at('weight')}·0`] : [`${at('push')} = ${at('weight')}·(0 + ${at('beta')}·(1 − exp(${at('drift')})))`];
      return filled(subject, formulas(subject.rule).gradient);
    case 'clip':
      return clips(subject.rule) ? filled(subject, formulas(subject.rule).clip) : [`${at('inside')} = ${at('ratio')}`];
    case 'adam': {
      if (adam === undefined) return ['{theta:–}'];
      const { parameter, result } = adam;
      const { t, optimizer } = result;
      const mHat = short(parameter.m / (1 - optimizer.beta1 ** t));
      const vHat = short(parameter.v / (1 - optimizer.beta2 ** t));
      return result.applied
        ? [`{theta:${short(parameter.after)}} = ${braced('theta', short(parameter.before))} − ${short(optimizer.learningRate)} · ${braced('m', mHat)} / (√{v:${vHat}} + ${short(optimizer.epsilon)})`]
        : [`{theta:${short(parameter.after)}} = ${braced('theta', short(parameter.before))}`];
    }
    case 'old':
    case 'new':
    case 'ratio':
    case 'advantage':
    case 'kl':
    case 'weight':
      return filled(subject, formulas(subject.rule)[operation]);
  }
}

/** A negative number behind an operator stands in parentheses. */
function braced(term: Term, value: string): string {
  return value.startsWith('−') ? `{${term}:(${value})}` : `{${term}:${value}}`;
}

function filled(subject: Subject, lines: readonly string[]): readonly string[] {
  return lines.map((line) => {
    let before = '';
    return pieces(line).map(({ text, term }) => {
      const written = term === undefined ? text : /[−·+]\s*$/.test(before) ? braced(term, sayTerm(subject, term)) : `{${term}:${sayTerm(subject, term)}}`;
      before = text;
      return written;
    }).join('');
  });
}
