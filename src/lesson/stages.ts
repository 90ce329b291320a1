/**
 * The eight stages of the lesson as data: what each teaches, what is predicted, how a prediction is graded, and where in
 * the lab its figure lives on. Pure, without words and without a page: texts are the catalogue's part `lesson`, under
 * `lesson.<stage>.…` and `lesson.option.<option>`.
 *
 * No option is right by decree. A grade is read from a finding: numbers that an engine, Python or a published table gave.
 */

export const STAGES = ['gap', 'interleaving', 'scoring', 'comparing', 'masking', 'strategy', 'workflows', 'loop'] as const;
export type StageId = (typeof STAGES)[number];

/** What the figure of each stage found. */
export interface Findings {
  /** The integral, run by Python. */
  readonly gap: {
    readonly ok: boolean;
    readonly output: string;
    /** Whether it ran on this page; else it is an observation that was recorded. */
    readonly live: boolean;
  };
  /** A rollout, by who wrote its tokens. */
  readonly interleaving: {
    /** Tokens that the environment wrote, and those of them that a later token of the policy was drawn after. */
    readonly observed: number;
    readonly read: number;
    /** Tokens of the policy, and those of them inside an output tag. */
    readonly written: number;
    readonly forged: number;
    /** Whether a policy wrote it; else its policy's part was written for the lesson. */
    readonly sampled: boolean;
  };
  /** A correct attempt whose calls all failed, scored. */
  readonly scoring: { readonly answer: number; readonly format: number; readonly execution: number; readonly total: number; readonly most: number };
  /** Groups of the recorded run, one of mixed and one of equal rewards. */
  readonly comparing: {
    readonly rewards: readonly number[];
    readonly advantages: readonly number[];
    /** The largest size of an advantage in the mixed group. */
    readonly mixed: number;
  };
  /** One update with the mask and without it. */
  readonly masking: {
    /** Of the gradient on a rollout's tokens, the share on those that the policy wrote; 0 to 1. */
    readonly ownMasked: number;
    readonly ownUnmasked: number;
    /** Norms of the gradient of the whole batch. */
    readonly normMasked: number;
    readonly normUnmasked: number;
  };
  /** Calls a question, before and after training: on how many benchmarks or tiers they rose and fell. */
  readonly strategy: {
    readonly paper: Directions;
    readonly lab: Directions;
  };
  /** Function calling before and after training. */
  readonly workflows: { readonly paper: PaperWorkflows; readonly lab: LabWorkflows | undefined };
  /** The run of this visit. */
  readonly loop: {
    /** Mean rewards of its first and its last step. */
    readonly first: number;
    readonly last: number;
    readonly steps: number;
    readonly rollouts: number;
    readonly seconds: number;
    readonly engine: 'webgpu' | 'cpu';
    /** Whether it ran on this page; else it is the beginning of the recorded run. */
    readonly live: boolean;
  };
}

export interface Directions {
  readonly rose: number;
  readonly fell: number;
  readonly of: number;
}

type Change = readonly [before: number, after: number];

/** Correct calls in all, and steps: the paper's of all tasks, the lab's (all its calls) for each task that was completed. */
export interface WorkflowChange {
  readonly calls: Change;
  readonly steps: Change;
}

export interface PaperWorkflows extends WorkflowChange {
  /** Steps less, as the text says; those before and after are read off its chart. */
  readonly fewer: number;
}

export interface LabWorkflows extends WorkflowChange {
  readonly tasks: number;
  /** Calls within a completed task, mean. */
  readonly within: Change;
  /** Calls of all tasks, completed or not. */
  readonly all: Change;
  /** Tasks that were completed. */
  readonly completed: Change;
}

/** What can be predicted at each stage. An option belongs to one stage. */
export const OPTIONS = {
  gap: ['decimal', 'exact', 'working'],
  interleaving: ['rewritten', 'context', 'unseen'],
  scoring: ['top', 'less', 'answer-only'],
  comparing: ['same-push', 'no-push', 'full-push'],
  masking: ['masked', 'unmasked', 'either'],
  strategy: ['everywhere', 'some', 'nowhere'],
  workflows: ['more-steps', 'same-steps', 'fewer-steps'],
  loop: ['rises', 'stays', 'falls'],
} as const satisfies Readonly<Record<StageId, readonly string[]>>;
export type OptionOf<S extends StageId> = (typeof OPTIONS)[S][number];
export type OptionId = OptionOf<StageId>;

/** Rewards that differ by less, of four, are called the same: what one step of few rollouts differs by chance. */
const SAME_REWARD = 0.25;

const GRADES: { readonly [S in StageId]: (finding: Findings[S]) => OptionOf<S> | undefined } = {
  gap({ ok, output }) {
    if (!ok || output.trim() === '') return undefined;
    if (/^[-+]?[\d.]+(e[-+]?\d+)?$/i.test(output.trim())) return 'decimal';
    return output.trim().includes('\n') ? 'working' : 'exact';
  },
  interleaving({ observed, read, forged }) {
    if (read > 0) return 'context';
    if (observed > 0) return 'unseen';
    return forged > 0 ? 'rewritten' : undefined;
  },
  scoring({ answer, total, most }) {
    if (answer === 0) return undefined;
    return total >= most ? 'top' : total > answer ? 'less' : 'answer-only';
  },
  comparing({ rewards, advantages, mixed }) {
    if (advantages.length < 2 || rewards.some((reward) => Math.abs(reward - (rewards[0] ?? NaN)) > 1e-9)) return undefined;
    const most = Math.max(...advantages.map(Math.abs));
    return most === 0 ? 'no-push' : most < mixed ? 'same-push' : 'full-push';
  },
  masking({ ownMasked, ownUnmasked }) {
    if (!Number.isFinite(ownMasked) || !Number.isFinite(ownUnmasked)) return undefined;
    return ownMasked > ownUnmasked ? 'masked' : ownMasked < ownUnmasked ? 'unmasked' : 'either';
  },
  strategy({ paper: { rose, of } }) {
    if (of === 0) return undefined;
    return rose === of ? 'everywhere' : rose > 0 ? 'some' : 'nowhere';
  },
  workflows({ paper, lab }) {
    // Where the two disagreed, neither answer would be the finding.
    const found = [paper, lab].flatMap((change) => (change === undefined ? [] : [Math.sign(change.steps[1] - change.steps[0])]));
    const [sign] = found;
    if (sign === undefined || found.some((other) => other !== sign)) return undefined;
    return sign > 0 ? 'more-steps' : sign < 0 ? 'fewer-steps' : 'same-steps';
  },
  loop({ first, last }) {
    if (!Number.isFinite(first) || !Number.isFinite(last)) return undefined;
    return last - first > SAME_REWARD ? 'rises' : first - last > SAME_REWARD ? 'falls' : 'stays';
  },
};

/** The option that a finding bears out; undefined where it bears out none (a call that failed, say). */
export function grade<S extends StageId>(stage: S, finding: Findings[S]): OptionOf<S> | undefined {
  return GRADES[stage](finding);
}

export interface Stage {
  readonly id: StageId;
  /** How long a person takes, of about forty in all. */
  readonly minutes: number;
  /** Words that stand here for the first time: ids of the glossary. */
  readonly terms: readonly string[];
  /** The lab's state that the figure shows, to go on from there. */
  readonly address: string;
}

/** Steps and groups of the recorded run that the lesson looks at. Steps, questions and rollouts count from 1. */
export const PLACES = {
  /** An integral of the toy's own: its first call fails, the second one mends it. */
  corrected: { step: 10, question: 12, rollout: 4 },
  /** A right answer whose only call failed. */
  failed: { step: 1, question: 5, rollout: 3 },
  mixed: { step: 5, question: 6 },
  equal: { step: 10, question: 15 },
  /** In it wrong answers stand above the mean, for a call that ran. */
  rewarded: { step: 1, question: 8, rollout: 2 },
  /** An output of many characters: an error. */
  masked: { step: 1, question: 10, rollout: 1 },
} as const satisfies Readonly<Record<string, { readonly step: number; readonly question: number; readonly rollout?: number }>>;

/** The id of the recorded run. */
export const RECORDED_RUN = 'recorded';

function address(view: 'rollout' | 'group' | 'update', { step, question, rollout }: { readonly step: number; readonly question: number; readonly rollout?: number }, more = ''): string {
  const place = `run=${RECORDED_RUN}&step=${step}&question=${question}${rollout === undefined || rollout === 1 ? '' : `&rollout=${rollout}`}`;
  return `/${view}?${place}${more}`;
}

/** The thread of the lesson: ∫₀¹ x² eˣ dx = e − 2. */
export const INTEGRAL_CODE = "from sympy import *\nx = symbols('x')\nprint(integrate(x**2*exp(x), (x, 0, 1)))";

/** The integral by hand: twice by parts. */
export const BY_HAND = [
  '∫x² eˣ dx = x² eˣ − ∫2x eˣ dx',
  '∫2x eˣ dx = 2x eˣ − ∫2 eˣ dx',
  '∫x² eˣ dx = (x² − 2x + 2) eˣ',
  '∫₀¹x² eˣ dx = (1 − 2 + 2) e − 2 = e − 2',
] as const;

export const LESSON: readonly Stage[] = [
  { id: 'gap', minutes: 4, terms: ['policy', 'rollout', 'observation', 'reward'], address: `/tools?code=${encodeURIComponent(INTEGRAL_CODE)}` },
  { id: 'interleaving', minutes: 6, terms: ['token', 'environment', 'tool-call', 'ownership'], address: address('rollout', PLACES.corrected) },
  { id: 'scoring', minutes: 5, terms: ['format', 'execution'], address: address('group', PLACES.failed) },
  { id: 'comparing', minutes: 6, terms: ['group', 'mean', 'standard-deviation', 'advantage'], address: address('group', PLACES.mixed) },
  { id: 'masking', minutes: 6, terms: ['update', 'weights', 'loss', 'gradient', 'mask'], address: address('update', PLACES.masked, '&mask=on') },
  { id: 'strategy', minutes: 5, terms: ['base-policy', 'warm-start', 'held-out', 'tier', 'pass-at-1', 'confidence-interval'], address: '/compare' },
  { id: 'workflows', minutes: 4, terms: ['workflow'], address: '/tools?part=travel' },
  { id: 'loop', minutes: 6, terms: ['batch', 'step', 'learning-rate', 'grpo'], address: '/train' },
];

export const CHECKS = ['calls', 'missing', 'equal', 'bars', 'rewarded', 'selective'] as const;
export type CheckId = (typeof CHECKS)[number];

/** Six questions at the end, each with the state of the lab that answers it. */
export const CHECK_ADDRESSES: Readonly<Record<CheckId, string>> = {
  calls: address('rollout', PLACES.corrected),
  missing: address('group', PLACES.failed),
  equal: address('group', PLACES.equal),
  bars: address('update', PLACES.masked, '&mask=off'),
  rewarded: address('group', PLACES.rewarded),
  selective: '/train?preset=selective',
};

export const CLAIMS = ['tool', 'context', 'parts', 'differences', 'own-tokens', 'strategy'] as const;
export type ClaimId = (typeof CLAIMS)[number];

/** What the lesson claims, each with the stage whose figure is the evidence and the place of the lab to look further. */
export const CLAIM_EVIDENCE: Readonly<Record<ClaimId, { readonly stage: StageId; readonly address: string }>> = {
  tool: { stage: 'gap', address: `/tools?code=${encodeURIComponent(INTEGRAL_CODE)}` },
  context: { stage: 'interleaving', address: address('rollout', PLACES.corrected) },
  parts: { stage: 'scoring', address: address('group', PLACES.failed) },
  differences: { stage: 'comparing', address: address('group', PLACES.equal) },
  'own-tokens': { stage: 'masking', address: '/compare?part=masking' },
  strategy: { stage: 'strategy', address: '/compare?part=paper' },
};
