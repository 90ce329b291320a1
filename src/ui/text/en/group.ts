/** What the group view says of its figure: rewards, how they were compared, what would change if they were others. */
import { n, plural } from '../english.ts';
import { power } from '../format.ts';

/** "2", "2 and 5", "2, 5 and 6". */
function list(numbers: readonly number[]): string {
  const all = numbers.map((number) => n(number));
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} and ${all.at(-1) ?? ''}`;
}

const rollouts = (numbers: readonly number[]): string => `${numbers.length === 1 ? 'rollout' : 'rollouts'} ${list(numbers)}`;
const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
const are = (numbers: readonly number[], one: string, more: string): string => (numbers.length === 1 ? one : more);

interface Numbers {
  readonly numbers: readonly number[];
}

export const group = {
  'group.statistics': ({ mean, std }: { mean: string; std: string }) => `mean ${mean} (line), σ ${std} (band)`,
  'group.leftOut': ({ counted, of }: { counted: number; of: number }) => `of ${n(counted)} of ${n(of)}`,
  'group.alone': 'With one rollout there is nothing to compare it with: its advantage is 0, whatever it earned.',
  'group.nobody': 'The rule applies to no rollout of this group: there is nothing to compare.',
  'group.equal': ({ n: count, reward }: { n: number; reward: string }) =>
    `All ${n(count)} rewards are ${reward}, so every advantage is 0 and this group pushes nothing. That is no fault: there is no better rollout to learn from.`,
  'group.dropped': 'It was replaced by another question.',
  'group.pushes': ({ up, down }: { up: readonly number[]; down: readonly number[] }) =>
    [up.length === 0 ? '' : `${upper(rollouts(up))} ${are(up, 'stands above the mean and becomes', 'stand above the mean and become')} more likely`,
      down.length === 0 ? '' : `${rollouts(down)} less likely`].filter(Boolean).join(', ') + '.',
  'group.wrongUp': ({ numbers }: Numbers) => `${upper(rollouts(numbers))} ${are(numbers, 'is', 'are')} wrong and ${are(numbers, 'rises', 'rise')} all the same.`,
  'group.wrongUp.run': 'That is the rule of this run at work: it also pays for the format and for calls that run, and in a weak group that is enough to stand above the mean.',
  'group.wrongUp.paper': 'That is the paper’s own rule at work: it also pays for the format and for calls that run, and in a weak group that is enough to stand above the mean.',
  'group.wrongUp.own': 'A policy trained with your rule would learn to do the same: the rule can be gamed.',
  'group.wrongUp.ownToo': 'So it is under the rule of the run, and your rule does not mend it: it can be gamed too.',
  'group.wrongUp.dragged': 'You gave a wrong answer more than the mean.',
  'group.equalShare': ({ equal, of, share }: { equal: number; of: number; share: string }) => `In this step ${n(equal)} of ${plural(of, 'group has', 'groups have')} equal rewards, ${share}.`,
  'group.equalShare.expected': ({ correct, group, share }: { correct: string; group: number; share: string }) =>
    `If only right or wrong counted, ${correct} right answers would make p${power(group)} + (1 − p)${power(group)} = ${share} of the groups equal.`,

  'group.grid': 'Rollouts, token by token',
  'group.grid.keys': 'Arrow keys walk the tokens and rollouts, Page keys the parts, Enter opens the rollout at this token',
  'group.reward': ({ low, high }: { low: string; high: string }) => `Reward, ${low} to ${high}`,
  'group.advantage': 'Advantage',
  'group.tokens': 'Tokens: edge and glyph say who wrote them, hatched ones are context only',
  'group.rowFacts': ({ number, reward, advantage }: { number: number; reward: string; advantage: string }) => `Rollout ${n(number)}: reward ${reward}, advantage ${advantage}`,
  'group.was': ({ value }: { value: string }) => `was ${value}`,
  'group.open': 'Step through',
  'group.openNamed': ({ number }: { number: number }) => `Step through rollout ${n(number)}`,
  'group.toUpdate': 'See what the update did with it',
  'group.table': 'The rewards as a table',

  'group.drag': ({ number }: { number: number }) => `Reward of rollout ${n(number)}`,
  'group.drag.value': ({ reward, sampled, advantage }: { reward: string; sampled: string; advantage: string }) => `${reward}, sampled ${sampled}; advantage ${advantage}`,
  'group.drag.none': ({ sampled }: { sampled: string }) => `the rule does not apply, sampled ${sampled}`,
  'group.drag.hint': 'Drag the end of a bar: all advantages follow.',
  'group.keys.tokens': 'In the rollouts: walk the tokens. On a handle: the reward by a quarter',
  'group.keys.rollouts': 'In the rollouts: the rollout above or below',
  'group.keys.parts': 'In the rollouts: the part before or after. On a handle: the reward by 1',
  'group.keys.open': 'In the rollouts: step through the rollout from this token',
  'group.keys.sampled': 'On a handle: the reward as it was sampled',
  'group.place': ({ number, token }: { number: number; token: number }) => `Rollout ${n(number)}, token ${n(token)}`,
  'group.makeEqual': 'Make all equal',
  'group.asSampled': 'As sampled',

  'group.norm': 'Divide by',
  'group.norm.sample-std': 'σ, n − 1',
  'group.norm.population-std': 'σ, n',
  'group.norm.mean': 'nothing',
  'group.norm.sample-std.what': 'The distance from the mean in units of σ.',
  'group.norm.population-std.what': 'In units of a σ that is slightly smaller.',
  'group.norm.mean.what': 'The distance itself, in points: Dr. GRPO.',
  'group.noCall': 'No call is worth',
  'group.noCall.paper': '0',
  'group.noCall.excluded': 'left out',
  'group.noCall.full': 'full',
  'group.noCall.paper.what': 'Without a call the part for calls is 0, as in the paper.',
  'group.noCall.excluded.what': 'Without a call the other parts are stretched to 4.',
  'group.noCall.full.what': 'Not calling is worth as much as a call that ran.',
  'group.cost': 'A call costs',
  'group.cost.what': 'Taken off for each call that was made.',
  'group.switch.own': 'Your rule scores now; a choice here ends that.',

  'rule.title': 'The reward rule',
  'rule.what': 'This Python decides what a rollout is worth. Change it, and this group is scored again from its record: nothing is sampled anew, and the run stays as it is. The signature is that of a reward function of TRL.',
  'rule.columns': 'completions: the turns, with tool_calls. answer: the right one. calls: code, ok and output of each. Also prompts, completion_ids and text. None: does not apply.',
  'rule.columns.workflow': 'completions: the turns, with tool_calls. state and functions: shares of the final state that are right and of the needed calls that were made. calls: code, ok and output of each. Also prompts, answer, completion_ids and text. None: does not apply.',
  'rule.code': 'Reward rule in Python',
  'rule.keys': 'Ctrl or Cmd with Enter scores the group; Tab leaves the editor.',
  'rule.start': 'Start from',
  'rule.start.paper': 'The paper’s rule',
  'rule.start.outcome': 'The answer alone',
  'rule.start.state': 'The final state alone',
  'rule.start.ran': 'Some call ran',
  'rule.start.calls': 'Count of calls',
  'rule.start.short': 'The shorter, the better',
  'rule.start.callers': 'Only rollouts that call',
  'rule.start.own': 'Your own',
  'rule.apply': 'Score this group',
  'rule.back': 'Back to the paper’s rule',
  'rule.asked': 'Your rule',
  'rule.sampled': 'The rewards shown are those of the run.',
  'rule.switches': 'The rewards shown come from the switches above.',
  'rule.applied': 'The rewards shown are those of this rule.',
  'rule.edited': 'The rewards shown are those of the rule before your last changes.',
  'rule.change': ({ was, now }: { was: string; now: string }) => `${was} → ${now}`,
  'rule.failed': 'This rule gives no rewards; the old ones stay. Mend it and score again.',
  'rule.why.prints': 'The rule prints too much. Take its prints out.',
  'rule.why.program': 'The rule broke the program around it. It may only define functions and compute.',
  'rule.why.missing': 'There is no function named reward. The rule must define one: def reward(completions, answer, **kwargs).',
  'rule.why.memory': 'The rule needs more memory than it may have.',
  'rule.why.endless': 'The rule did not come to its end and was stopped. Is there a loop without an end?',
  'rule.why.list': ({ type }: { type: string }) => `reward must return a list with one number for each rollout; it returned ${type === 'NoneType' ? 'nothing' : `a value of type ${type}`}.`,
  'rule.why.count': ({ wanted, given }: { wanted: number; given: number }) => `reward must return one number for each rollout, ${n(wanted)} here; it returned ${n(given)}.`,
  'rule.why.number': ({ rollout, given }: { rollout: number; given: string }) =>
    `The reward of rollout ${n(rollout)} is ${/^-?(?:nan|inf)$/.test(given) ? given : `of type ${given}`}: it must be a finite number, or None where the rule does not apply.`,
  'rule.stopped': 'You stopped it; the old rewards stay.',

  'column.sampledReward': 'sampled reward',
  'column.sampledAdvantage': 'sampled advantage',
} as const;
