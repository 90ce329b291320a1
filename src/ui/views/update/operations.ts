/**
 * The operations of one update in order, each with its formula and the code that computes it, as lines whose terms
 * can be told apart: `{ratio:ρ}` is the term `ratio`, written ρ. Symbols and code only; words come from the catalogue.
 */
import { NO_CLIP, type GrpoSettings } from '../../../grpo/settings.ts';

export const OPERATIONS = ['old', 'new', 'ratio', 'clip', 'advantage', 'kl', 'weight', 'sum', 'gradient', 'adam'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What a term of a line stands for, and the operation that it comes out of; undefined where it is given. */
export const TERMS = {
  old: 'old',
  new: 'new',
  ratio: 'ratio',
  low: undefined,
  high: undefined,
  inside: 'clip',
  advantage: 'advantage',
  gain: 'advantage',
  reference: undefined,
  drift: 'kl',
  kl: 'kl',
  beta: undefined,
  loss: 'kl',
  mask: 'weight',
  rollouts: undefined,
  length: undefined,
  weight: 'weight',
  total: 'sum',
  clipped: 'clip',
  push: 'gradient',
  norm: 'gradient',
  g: 'adam',
  m: 'adam',
  v: 'adam',
  theta: 'adam',
} as const satisfies Readonly<Record<string, Operation | undefined>>;
export type Term = keyof typeof TERMS;

/** What goes into an operation, and what comes out. */
export const FLOW: Readonly<Record<Operation, { readonly into: readonly Term[]; readonly out: readonly Term[] }>> = {
  old: { into: [], out: ['old'] },
  new: { into: [], out: ['new'] },
  ratio: { into: ['new', 'old'], out: ['ratio'] },
  clip: { into: ['ratio', 'low', 'high'], out: ['inside'] },
  advantage: { into: ['ratio', 'inside', 'advantage'], out: ['gain'] },
  kl: { into: ['gain', 'reference', 'beta'], out: ['kl', 'loss'] },
  weight: { into: ['mask', 'rollouts', 'length'], out: ['weight'] },
  sum: { into: ['weight', 'loss'], out: ['total'] },
  gradient: { into: ['weight', 'ratio', 'advantage'], out: ['push', 'norm'] },
  adam: { into: ['g', 'm', 'v'], out: ['theta'] },
};

export type Rule = Pick<GrpoSettings, 'epsilonLow' | 'epsilonHigh' | 'beta' | 'aggregation' | 'advantage'>;

/** Whether the rule has a clip at all. */
export function clips({ epsilonLow, epsilonHigh }: Pick<Rule, 'epsilonLow' | 'epsilonHigh'>): boolean {
  return epsilonLow < NO_CLIP || epsilonHigh < NO_CLIP;
}

const SHARES: Readonly<Record<Rule['aggregation'], { readonly formula: string; readonly code: string }>> = {
  'sequence-mean': { formula: '({rollouts:N} · {length:T_i})', code: '({rollouts:rollouts} * {length:length})' },
  'token-mean': { formula: '{length:ΣT}', code: '{length:allTokens}' },
  constant: { formula: '({rollouts:N} · {length:T_max})', code: '({rollouts:rollouts} * {length:maxLength})' },
};

/** The formula of each operation, under a rule. `=` parts what comes out from what goes in. */
export function formulas(rule: Rule): Readonly<Record<Operation, readonly string[]>> {
  const [low, high] = rule.epsilonLow === rule.epsilonHigh ? ['ε', 'ε'] : ['ε_low', 'ε_high'];
  const pull = rule.beta === 0 ? '' : ' + {beta:β}·{kl:k}';
  return {
    old: ['{old:log π_old}'],
    new: ['{new:log π_θ}'],
    ratio: ['{ratio:ρ} = exp({new:log π_θ} − {old:log π_old})'],
    clip: [clips(rule) ? `{inside:ρ′} = clip({ratio:ρ}, 1 − {low:${low}}, 1 + {high:${high}})` : '{inside:ρ′} = {ratio:ρ}'],
    advantage: ['{gain:g} = min({ratio:ρ}·{advantage:A}, {inside:ρ′}·{advantage:A})'],
    kl: [
      ...(rule.beta === 0 ? [] : ['{drift:δ} = {reference:log π_ref} − {new:log π_θ}', '{kl:k} = exp({drift:δ}) − {drift:δ} − 1']),
      `{loss:ℓ} = −{gain:g}${pull}`,
    ],
    weight: [`{weight:w} = {mask:mask} / ${SHARES[rule.aggregation].formula}`],
    sum: ['{total:L} = Σ {weight:w}·{loss:ℓ}'],
    gradient: [
      rule.beta === 0
        ? '{push:∂L/∂log π_θ} = −{weight:w}·{ratio:ρ}·{advantage:A}'
        : '{push:∂L/∂log π_θ} = {weight:w}·(−{ratio:ρ}·{advantage:A} + {beta:β}·(1 − exp({drift:δ})))',
    ],
    adam: ['{theta:θ} ← {theta:θ} − η · {m:m̂} / (√{v:v̂} + ϵ)'],
  };
}

const ADVANTAGES: Readonly<Record<Rule['advantage'], string>> = {
  'sample-std': '(r − μ) / (σ + 10⁻⁴)',
  'population-std': '(r − μ) / (σ_n + 10⁻⁴)',
  mean: 'r − μ',
};

/** The three terms in which the variants differ, with their numbers: advantage, clip and weight. */
export function differingTerms(rule: Rule): readonly (readonly [name: string, term: string])[] {
  const bound = (x: number): string => String(Number(x.toPrecision(3)));
  return [
    ['A', ADVANTAGES[rule.advantage]],
    ['g', clips(rule) ? `min(ρ·A, clip(ρ, 1 − ${bound(rule.epsilonLow)}, 1 + ${bound(rule.epsilonHigh)})·A)` : 'ρ·A'],
    ['w', `1 / ${pieces(SHARES[rule.aggregation].formula).map(({ text }) => text).join('')}`],
  ];
}

/** The code of each operation: what `src/grpo` and the engines compute, as short as it can be said. */
export function listing(rule: Rule): Readonly<Record<Operation, readonly string[]>> {
  const pulled = rule.beta !== 0;
  const push = '({clipped:clipped} ? 0 : -{ratio:ratio} * {advantage:A})';
  return {
    old: ['{old:old} = rollout.logProbs[t]'],
    new: ['{new:now} = logSoftmax(logits[t])[id]'],
    ratio: ['{ratio:ratio} = exp({new:now} - {old:old})'],
    clip: [clips(rule) ? '{inside:inside} = clamp({ratio:ratio}, 1 - {low:low}, 1 + {high:high})' : '{inside:inside} = {ratio:ratio}'],
    advantage: ['{gain:gain} = min({ratio:ratio} * {advantage:A}, {inside:inside} * {advantage:A})'],
    kl: [
      ...(pulled ? ['{drift:drift} = {reference:reference} - {new:now}', '{kl:kl} = exp({drift:drift}) - {drift:drift} - 1'] : []),
      `{loss:loss} = -{gain:gain}${pulled ? ' + {beta:beta} * {kl:kl}' : ''}`,
    ],
    weight: [`{weight:w} = {mask:mask} ? 1 / ${SHARES[rule.aggregation].code} : 0`],
    sum: ['{total:total} += {weight:w} * {loss:loss}'],
    gradient: [
      '{clipped:clipped} = {inside:inside} * {advantage:A} < {ratio:ratio} * {advantage:A}',
      `{push:push} = {weight:w} * ${pulled ? `(${push} + {beta:beta} * (1 - exp({drift:drift})))` : push}`,
    ],
    adam: [
      '{m:m} = beta1 * {m:m} + (1 - beta1) * {g:g}',
      '{v:v} = beta2 * {v:v} + (1 - beta2) * {g:g} ** 2',
      '{theta:theta} -= rate * ({m:m} / c1) / (sqrt({v:v} / c2) + eps)',
    ],
  };
}

/** A piece of a line: a term, or what stands between. */
export interface Piece {
  readonly text: string;
  readonly term: Term | undefined;
}

const isTerm = (name: string): name is Term => Object.hasOwn(TERMS, name);

/** @throws RangeError where a line names a term that there is not. */
export function pieces(line: string): readonly Piece[] {
  return line.split(/(\{\w+:[^}]*\})/).flatMap((part): Piece[] => {
    if (part === '') return [];
    const [, name, text] = /^\{(\w+):([^}]*)\}$/.exec(part) ?? [];
    if (name === undefined || text === undefined) return [{ text: part, term: undefined }];
    if (!isTerm(name)) throw new RangeError(`no term ${name}`);
    return [{ text, term: name }];
  });
}
