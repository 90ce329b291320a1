/**
 * A reward rule as a person writes it: Python with the signature of a reward function of TRL, so that it can be carried
 * away. Builds the program that scores a group by it in the sandbox, and reads what that program says. Rollouts enter
 * as data, never as code.
 */
import * as v from 'valibot';
import type { Tokenizer } from '../policy/tokenizer.ts';
import { codeClosedAtEnd } from '../rollout/grammar.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type Trajectory } from '../rollout/trajectory.ts';
import { workflowOf } from '../tasks/workflow.ts';
import type { PythonResult } from '../tools/python/python.ts';
import { replay, stateMatch } from '../tools/workflow/workflow.ts';
import { functionMatch } from './workflow.ts';

/** The paper's rule: what `scoreMath` computes with the paper's settings. */
export const PAPER_RULE = String.raw`import re
from fractions import Fraction


def reward(completions, answer, calls, **kwargs) -> list[float]:
    """ARTIST: 2 for the answer, 1 for the format, 1 for calls that ran.

    The column calls holds what the runtime said of each call. Elsewhere,
    let your tool record it.
    """
    rewards = []
    for completion, right, made in zip(completions, answer, calls):
        turns = [written(m) for m in completion if m['role'] == 'assistant']
        text = ''.join(turns)
        given = [found for turn in turns for found in ANSWER.findall(turn)]
        pairs = [balanced(text, name) for name in ('think', 'python', 'answer')]
        pairs.append(any(m['role'] == 'tool' for m in completion))

        score = 2 if given and same(given[-1], right) else 0
        score += 0.125 * sum(pairs)
        score += 0.5 if in_order(completion) else 0
        score += sum(call['ok'] for call in made) / len(made) if made else 0
        rewards.append(score)
    return rewards


# Nothing that opens fits into a part.
OPENS = '<(?:think|python|output|answer)>'
PART = {
    name: f'<{name}>((?:(?!</{name}>|{OPENS}).)*)</{name}>'
    for name in ('think', 'python', 'answer')
}
CALLS = re.compile(r'\s*{think}\s*{python}\s*'.format(**PART), re.S)
ANSWERS = re.compile(r'\s*(?:{think}\s*)?{answer}\s*'.format(**PART), re.S)
ANSWER = re.compile(PART['answer'], re.S)
NUMBER = re.compile(r'[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,4})?', re.A)


def written(message):
    """What the policy wrote in one turn, its call with its tags."""
    text = message['content']
    for call in message.get('tool_calls') or []:
        text += f"<python>{call['function']['arguments']['code']}</python>"
    return text


def balanced(text, name):
    """A pair of tags is there, never closes before it opens, and closes as often."""
    depth = 0
    tags = re.findall(f'</?{name}>', text)
    for tag in tags:
        depth += -1 if tag.startswith('</') else 1
        if depth < 0:
            return False
    return len(tags) > 0 and depth == 0


def in_order(completion):
    """(think, call, output) once or more, one more think if it likes, answer."""
    *turns, last = completion
    asked, told = turns[::2], turns[1::2]
    return (
        len(asked) == len(told) > 0
        and all(m['role'] == 'assistant' and CALLS.fullmatch(written(m)) for m in asked)
        and all(m['role'] == 'tool' for m in told)
        and last['role'] == 'assistant'
        and ANSWERS.fullmatch(written(last)) is not None
    )


def same(given, right):
    """The same text, or the same number: 12.0 is 12, and 1/2 is 0.5."""
    given, right = given.strip(), right.strip()
    if given == right:
        return given != ''
    return value(given) is not None and value(given) == value(right)


def value(text):
    """A whole number, a decimal, or a fraction of two; else None."""
    parts = [part.strip() for part in text.split('/')]
    if len(parts) > 2 or not all(NUMBER.fullmatch(part) for part in parts):
        return None
    below = Fraction(parts[1]) if len(parts) == 2 else 1
    return Fraction(parts[0]) / below if below else None
`;

/** The paper's rule of function calling: what `scoreWorkflow` computes without a cost of calls. */
export const WORKFLOW_RULE = String.raw`import re


def reward(completions, state, functions, **kwargs) -> list[float]:
    """ARTIST: 0.5 for the final state, 0.5 for the needed calls, 0.2 for the format.

    The columns state and functions hold what the runtime counted: the share
    of entries that are as they should be, and of needed calls that were made.
    Elsewhere, let your environment record them.
    """
    rewards = []
    for completion, reached, made in zip(completions, state, functions):
        turns = [written(m) for m in completion if m['role'] == 'assistant']

        score = 0.5 * reached + 0.5 * made
        for name in ('reasoning', 'tool'):
            score += 0.025 * any(f'<{name}>' in turn for turn in turns)
            score += 0.025 * any(re.search(PART[name], turn, re.S) for turn in turns)
        score += 0.1 if in_order(completion) else 0
        rewards.append(score)
    return rewards


# Nothing that opens fits into a part.
OPENS = '<(?:reasoning|tool|tool_result)>'
PART = {
    name: f'<{name}>((?:(?!</{name}>|{OPENS}).)*)</{name}>'
    for name in ('reasoning', 'tool')
}
CALLS = re.compile(r'\s*{reasoning}\s*{tool}\s*'.format(**PART), re.S)
ENDS = re.compile(r'\s*(?:{reasoning}\s*)?'.format(**PART), re.S)


def written(message):
    """What the policy wrote in one turn, its call with its tags."""
    text = message['content']
    for call in message.get('tool_calls') or []:
        text += f"<tool>{call['function']['arguments']['code']}</tool>"
    return text


def in_order(completion):
    """(reasoning, call, result) once or more, one more reasoning if it likes."""
    asked, told = completion[::2], completion[1::2]
    last = asked.pop() if len(asked) > len(told) else None
    return (
        len(asked) == len(told) > 0
        and all(m['role'] == 'assistant' and CALLS.fullmatch(written(m)) for m in asked)
        and all(m['role'] == 'tool' for m in told)
        and (last is None or ENDS.fullmatch(written(last)) is not None)
    )
`;

export type ExampleName = 'outcome' | 'ran' | 'calls' | 'short' | 'callers';

/** Rules to start from. All but the first can be gamed: each pays for something that is not a right answer. */
export const EXAMPLE_RULES: Readonly<Record<ExampleName, string>> = {
  outcome: String.raw`import re


def reward(completions, answer, **kwargs) -> list[float]:
    """1 for the right answer, whatever the way there."""
    rewards = []
    for completion, right in zip(completions, answer):
        given = re.findall('<answer>(.*?)</answer>', completion[-1]['content'])
        rewards.append(1.0 if given and given[-1].strip() == right else 0.0)
    return rewards
`,
  ran: `def reward(completions, calls, **kwargs) -> list[float]:
    """1 where some call ran. Any call: print(1) is enough."""
    return [1.0 if any(call['ok'] for call in made) else 0.0 for made in calls]
`,
  calls: `def reward(completions, **kwargs) -> list[float]:
    """1 for each call. The more the better, whatever they are for."""
    return [float(sum(len(message.get('tool_calls', [])) for message in completion)) for completion in completions]
`,
  short: `def reward(completions, completion_ids, **kwargs) -> list[float]:
    """A hundredth off for each token. Best of all is to say nothing."""
    return [-len(ids) / 100 for ids in completion_ids]
`,
  callers: `def reward(completions, calls, **kwargs) -> list[float]:
    """The share of calls that ran. None: without a call the rule does not apply."""
    return [sum(call['ok'] for call in made) / len(made) if made else None for made in calls]
`,
};

/** As `EXAMPLE_RULES`, for workflows: there the outcome is a state. */
export const WORKFLOW_EXAMPLES: Readonly<Record<ExampleName, string>> = {
  ...EXAMPLE_RULES,
  outcome: `def reward(completions, state, **kwargs) -> list[float]:
    """1 where the final state is right, whatever the way there."""
    return [1.0 if reached == 1 else 0.0 for reached in state]
`,
};

/** Why a rule gave no rewards, where that is not something that Python itself said. */
export type RuleFailure =
  | { readonly why: 'prints' | 'program' | 'missing' | 'memory' | 'endless' }
  | { readonly why: 'list'; readonly type: string }
  | { readonly why: 'count'; readonly wanted: number; readonly given: number }
  /** @param rollout from 1 */
  | { readonly why: 'number'; readonly rollout: number; readonly given: string };

/** A rule that gave no rewards: in English words, or Python's, and as a reason that can be said in another language. */
export class RuleError extends Error {
  override readonly name = 'RuleError';

  constructor(message: string, readonly failure?: RuleFailure) {
    super(message);
  }
}

interface Message {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: string;
  readonly name?: string;
  readonly tool_calls?: readonly { readonly type: 'function'; readonly function: { readonly name: string; readonly arguments: { readonly code: string } } }[];
}

/** What TRL hands to a reward function, one entry a rollout, and what this lab adds: `calls` and `text`. */
interface Columns {
  readonly prompts: readonly (readonly Message[])[];
  readonly completions: readonly (readonly Message[])[];
  readonly completion_ids: readonly (readonly number[])[];
  readonly answer: readonly string[];
  readonly calls: readonly (readonly { readonly code: string; readonly ok: boolean; readonly output: string }[])[];
  readonly text: readonly string[];
  /** Of workflows alone, 0 to 1: entries of the final state that are as they should be, and needed calls that were made. */
  readonly state?: readonly number[];
  readonly functions?: readonly number[];
}

function columnsOf(members: readonly Trajectory[], tokenizer: Tokenizer): Columns {
  const idsOf = ({ tokens, owner }: Trajectory): Uint32Array => tokens.filter((_, i) => owner[i] !== PROMPT);
  return {
    prompts: members.map(({ task }) => [{ role: 'user', content: task.question }]),
    completions: members.map((member) => conversationOf(member, tokenizer)),
    completion_ids: members.map((member) => [...idsOf(member)]),
    answer: members.map(({ task }) => task.answer),
    calls: members.map(({ calls }) => calls.map(({ code, ok, output }) => ({ code, ok, output }))),
    text: members.map((member) => tokenizer.decode(idsOf(member))),
    ...(tagsOf(tokenizer).answer === undefined ? sharesOf(members) : {}),
  };
}

function sharesOf(members: readonly Trajectory[]): Required<Pick<Columns, 'state' | 'functions'>> {
  const matches = members.map(({ task, calls }) => {
    const workflow = workflowOf(task);
    return { state: stateMatch(workflow, replay(workflow, calls.map(({ code }) => code))), functions: functionMatch(workflow, calls) };
  });
  const share = ({ matched, total }: { readonly matched: number; readonly total: number }): number => matched / total;
  return { state: matches.map(({ state }) => share(state)), functions: matches.map(({ functions }) => share(functions)) };
}

/** The turns after the question. The call that ends a turn is a `tool_call`; `<eos>` is left out, as TRL leaves it out. */
function conversationOf({ tokens, owner }: Trajectory, tokenizer: Tokenizer): Message[] {
  const { call, output, eos } = tagsOf(tokenizer);
  const name = tokenizer.token(call.open).slice(1, -1);
  const messages: Message[] = [];
  for (let start = 0, end = 0; start < tokens.length; start = end) {
    while (end < tokens.length && owner[end] === owner[start]) end++;
    const ids = tokens.subarray(start, end);
    if (owner[start] === ENVIRONMENT) {
      for (let from = 0, to = 0; from < ids.length; from = to) {
        to = ids.indexOf(output.close, from) + 1;
        if (to === 0) to = ids.length;
        messages.push({ role: 'tool', name, content: said(ids.subarray(from, to).filter((id) => id !== output.open && id !== output.close), tokenizer) });
      }
    } else if (owner[start] === POLICY) {
      const code = ids.at(-1) === call.close ? codeClosedAtEnd(ids, owner.subarray(start, end), call) : undefined;
      const ended = end === tokens.length && ids.at(-1) === eos;
      messages.push(code === undefined
        ? { role: 'assistant', content: said(ended ? ids.subarray(0, -1) : ids, tokenizer) }
        : {
            role: 'assistant',
            content: said(ids.subarray(0, code.start - 1), tokenizer),
            tool_calls: [{ type: 'function', function: { name, arguments: { code: said(ids.subarray(code.start, code.end), tokenizer) } } }],
          });
    }
  }
  return messages.length === 0 ? [{ role: 'assistant', content: '' }] : messages;
}

/**
 * The text of ids, in which only real tags read as tags: one that was spelled out letter by letter reads `&lt;think>`.
 * A rule sees text, and must not pay for what is none.
 */
function said(ids: Uint32Array, tokenizer: Tokenizer): string {
  let text = '';
  for (let start = 0, end = 0; start < ids.length; start = end) {
    const special = tokenizer.isSpecial(ids[start] ?? 0);
    while (end < ids.length && tokenizer.isSpecial(ids[end] ?? 0) === special) end++;
    const stretch = tokenizer.decode(ids.subarray(start, end));
    text += special ? stretch : stretch.replaceAll(/<(?=\/?\w+>)/g, (open, at: number) =>
      tokenizer.specials.some((tag) => stretch.startsWith(tag, at)) ? '&lt;' : open);
  }
  return text;
}

/** A string of JSON is a string of Python. */
const literal = (text: string): string => JSON.stringify(text);

/**
 * The program that scores a group by a rule. It prints one line of JSON, which `readRuleOutput` reads; what the rule
 * itself prints is dropped.
 */
export function ruleProgram(code: string, members: readonly Trajectory[], tokenizer: Tokenizer): string {
  return `import json, math, sys

class Nowhere:
    def write(self, text):
        return len(text)
    def flush(self):
        pass

def told(value):
    if value is None:
        return None
    if isinstance(value, (int, float)):
        value = float(value)
        return value if math.isfinite(value) else {'not': str(value)}
    return {'not': type(value).__name__}

def run(code, columns):
    space = {'__name__': 'rule'}
    exec(compile(code, 'rule.py', 'exec'), space)
    rule = space.get('reward')
    if not callable(rule):
        return {'error': 'missing'}
    rewards = rule(**columns)
    if not isinstance(rewards, (list, tuple)):
        return {'error': 'no list', 'type': type(rewards).__name__}
    return {'rewards': [told(reward) for reward in rewards]}

def main():
    out, sys.stdout = sys.stdout, Nowhere()
    try:
        answer = run(${literal(code)}, json.loads(${literal(JSON.stringify(columnsOf(members, tokenizer)))}))
    except (Exception, SystemExit) as e:
        line, at = None, e.__traceback__
        while at is not None:
            if at.tb_frame.f_code.co_filename == 'rule.py':
                line = at.tb_lineno
            at = at.tb_next
        if isinstance(e, SyntaxError) and e.filename == 'rule.py':
            line = e.lineno
        words = e.msg if isinstance(e, SyntaxError) else str(e)
        answer = {'error': 'raised', 'type': type(e).__name__, 'message': words[:500], 'line': line}
    sys.stdout = out
    print(json.dumps(answer))

main()
`;
}

const AnswerSchema = v.union([
  v.object({ rewards: v.array(v.nullable(v.union([v.number(), v.object({ not: v.string() })]))) }),
  v.object({ error: v.literal('missing') }),
  v.object({ error: v.literal('no list'), type: v.string() }),
  v.object({ error: v.literal('raised'), type: v.string(), message: v.string(), line: v.nullable(v.number()) }),
]);

/**
 * Reads what `ruleProgram` printed: a finite reward for each rollout in its order, or null where the rule says that it
 * does not apply.
 * @throws RuleError in words, with the line of the rule where there is one.
 */
export function readRuleOutput(result: PythonResult, rollouts: number): readonly (number | null)[] {
  if (!result.ok) throw stopped(result);
  if (result.truncated) throw new RuleError('The rule prints too much. Take its prints out.', { why: 'prints' });
  const answer = v.safeParse(AnswerSchema, parseJson(result.output));
  if (!answer.success) throw new RuleError('The rule broke the program around it. It may only define functions and compute.', { why: 'program' });
  const { output } = answer;
  if ('error' in output) {
    switch (output.error) {
      case 'missing':
        throw new RuleError('There is no function named reward. The rule must define one: def reward(completions, answer, **kwargs).', { why: 'missing' });
      case 'no list':
        throw new RuleError(`reward must return a list with one number for each rollout; it returned ${output.type === 'NoneType' ? 'nothing' : `a value of type ${output.type}`}.`, { why: 'list', type: output.type });
      case 'raised':
        throw new RuleError(`${output.line === null ? '' : `Line ${output.line}: `}${output.type}${output.message === '' ? '' : `: ${output.message}`}`);
    }
  }
  const { rewards } = output;
  if (rewards.length !== rollouts) throw new RuleError(`reward must return one number for each rollout, ${rollouts} here; it returned ${rewards.length}.`, { why: 'count', wanted: rollouts, given: rewards.length });
  return rewards.map((reward, i) => {
    if (reward === null || typeof reward === 'number') return reward;
    throw new RuleError(`The reward of rollout ${i + 1} is ${/^-?(nan|inf)$/.test(reward.not) ? reward.not : `of type ${reward.not}`}: it must be a finite number, or None where the rule does not apply.`, { why: 'number', rollout: i + 1, given: reward.not });
  });
}

function stopped({ output, error }: PythonResult): RuleError {
  switch (error?.kind) {
    case 'timeout':
      return new RuleError(`The rule did not come to its end and was ${error.message}. Is there a loop without an end?`, { why: 'endless' });
    case 'memory':
      return new RuleError('The rule needs more memory than it may have.', { why: 'memory' });
    case 'runtime':
      return new RuleError(`Python could not be used: ${error.message}`);
    case 'exception':
    case undefined:
      return new RuleError(output);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
