/**
 * The warm start of the workflow policies: demonstrations of mixed quality, written by an agent that knows what to do
 * and often does not do it. What it is about to do is named first in its reasoning, with the chosen offer, so that a
 * bad habit is one word that reinforcement learning can turn away from, and copying stays clean.
 */
import { parseConfig, type PolicyConfig } from '../policy/config.ts';
import type { AdamW, PolicyEngine } from '../policy/engine.ts';
import { Random } from '../policy/random.ts';
import { PRINTABLE, Tokenizer, WORKFLOW_SPECIALS } from '../policy/tokenizer.ts';
import { observationOf, promptOf } from '../rollout/rollout.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf, type Owner, type Tags } from '../rollout/trajectory.ts';
import type { Task } from '../tasks/task.ts';
import { allows, formatCall, workflow as suite, workflowOf, type Flight, type Hotel, type State, type Wish, type Workflow } from '../tasks/workflow.ts';
import { WORKFLOW_WORDS } from '../tools/workflow/vocabulary.ts';
import { beginState, callFunction, type WorkflowResult } from '../tools/workflow/workflow.ts';
import type { Demonstration } from './demonstrations.ts';
import { learningRateAt, supervisedRows, type WarmStartProgress, type WarmStartSettings } from './warmstart.ts';

/** What the agent says in its reasoning, beside words of the task and the outputs. */
const PLAN_WORDS = [
  'find flights', 'find hotels', 'find order', 'cheapest', 'earliest', 'best', 'first', 'next ', 'guess', 'again', 'check', 'try',
  'nothing to do', 'give up', 'done',
] as const;

export function workflowTokenizer(): Tokenizer {
  return new Tokenizer(WORKFLOW_SPECIALS, [...PRINTABLE, ...WORKFLOW_WORDS, ...PLAN_WORDS]);
}

/** How often the agent does what it should not. */
export const HABITS = {
  /** Makes a call that only looks things up a second time. */
  again: 0.3,
  /** Takes the first offer or order of a list, whatever was asked. */
  first: 0.3,
  /** Names an id that it has not seen. */
  guess: 0.1,
  /** After a failure: goes on as it should, repeats the call and then gives up, or gives up at once. */
  recovery: [0.6, 0.1, 0.3],
  /** Stops before the work is done, at each of its parts. */
  stop: 0.12,
  /** Leaves out the car that was asked for, or rents one that was not. */
  forgetCar: 0.3,
  needlessCar: 0.08,
  /** Acts on an order without looking at its policy, or against it. */
  skipPolicy: 0.15,
  ignorePolicy: 0.3,
  /** Grants the second wish where the first was possible. */
  secondWish: 0.25,
  /** One turn with a fault of form. */
  fault: 0.12,
} as const;

const FAULTS = ['no reasoning', 'reasoning open', 'stray words'] as const;

interface Turn {
  readonly reasoning: string;
  readonly code: string;
  readonly output: string;
}

/** Works on one task, turn by turn. */
class Agent {
  readonly turns: Turn[] = [];
  private state: State;

  constructor(
    readonly workflow: Workflow,
    readonly random: Random,
  ) {
    this.state = beginState(workflow);
  }

  chance(habit: 'again' | 'first' | 'guess' | 'stop' | 'forgetCar' | 'needlessCar' | 'skipPolicy' | 'ignorePolicy' | 'secondWish'): boolean {
    return this.random.next() < HABITS[habit];
  }

  call(reasoning: string, name: string, args: Readonly<Record<string, string | number>>): WorkflowResult {
    const code = formatCall({ name, args });
    const result = callFunction(this.workflow, this.state, code);
    this.state = result.state;
    this.turns.push({ reasoning, code, output: result.output });
    return result;
  }

  lookUp(reasoning: string, name: string, args: Readonly<Record<string, string | number>>): void {
    this.call(reasoning, name, args);
    if (this.chance('again')) this.call('again', name, args);
  }

  /** What it does about a failure; where it repeats the call, that has been done. */
  goesOnAfterFailure(repeat: () => void): boolean {
    const choice = this.random.weighted(HABITS.recovery);
    if (choice === 1) repeat();
    return choice === 0;
  }
}

/** @returns its last words. */
function travels(agent: Agent): string {
  const { workflow } = agent;
  if (workflow.domain !== 'travel') throw new RangeError('not a trip');
  const { request, database } = workflow;
  const { from, to, day, days } = request;

  const byHour = request.flight === 'earliest';
  agent.lookUp('find flights', 'search_flights', { from, to, day, by: byHour ? 'hour' : 'price' });
  const flights = database.flights.filter((f) => f.from === from && f.to === to && f.day === day);
  const flight = book(agent, flights, (f) => (byHour ? f.hour : f.price), request.flight, 'F',
    (f) => ` ${byHour ? `${f.hour}h` : f.price}:${f.id}`,
    (id) => ({ name: 'book_flight', args: { id } }));
  if (flight === undefined) return 'give up';
  if (agent.chance('stop')) return 'done';

  const best = request.hotel === 'best';
  agent.lookUp('find hotels', 'search_hotels', { city: to, by: best ? 'stars' : 'price' });
  const hotel = book(agent, database.hotels.filter((h) => h.city === to), (h) => (best ? -h.stars : h.price), request.hotel, 'H',
    (h) => ` ${best ? `${h.stars}*` : h.price}:${h.id}`,
    (id) => ({ name: 'book_hotel', args: { id, nights: days } }));
  if (hotel === undefined) return 'give up';

  if (request.car ? !agent.chance('forgetCar') : agent.chance('needlessCar')) agent.call('car', 'rent_car', { city: to, day, days });
  return 'done';
}

/** Chooses among offers and books. @returns what was booked, or undefined where it gave up. */
function book<T extends Flight | Hotel>(
  agent: Agent,
  offers: readonly T[],
  rank: (offer: T) => number,
  criterion: string,
  letter: string,
  text: (offer: T) => string,
  callOf: (id: string) => { readonly name: string; readonly args: Readonly<Record<string, string | number>> },
): T | undefined {
  const attempt = (reasoning: string, id: string): WorkflowResult => {
    const { name, args } = callOf(id);
    return agent.call(reasoning, name, args);
  };
  if (agent.chance('guess')) {
    const id = `${letter}${agent.random.integer(1, 6)}`;
    if (attempt('guess', id).ok) return offers.find((offer) => offer.id === id);
    if (!agent.goesOnAfterFailure(() => { attempt('again', id); })) return undefined;
  }
  const ranked = offers.toSorted((a, b) => rank(a) - rank(b));
  const [first] = offers;
  let reasoning = criterion;
  if (first !== undefined && agent.chance('first')) {
    if (attempt(`first${text(first)}`, first.id).ok) return first;
    ranked.splice(ranked.indexOf(first), ranked.includes(first) ? 1 : 0);
    if (!agent.goesOnAfterFailure(() => { attempt('again', first.id); })) return undefined;
    reasoning = `next ${criterion}`;
  }
  for (const offer of ranked) {
    if (attempt(`${reasoning}${text(offer)}`, offer.id).ok) return offer;
    if (!agent.goesOnAfterFailure(() => { attempt('again', offer.id); })) return undefined;
    reasoning = `next ${criterion}`;
  }
  return undefined;
}

const wishText = (wish: Wish): string => (wish.kind === 'refund' ? ' refund' : ` exchange for ${wish.colour}`);

/** @returns its last words. */
function returns(agent: Agent): string {
  const { workflow, random } = agent;
  if (workflow.domain !== 'retail') throw new RangeError('not a return');
  const { request, database } = workflow;
  if (agent.chance('guess')) {
    const id = `O${random.integer(1, 6)}`;
    if (!agent.call('guess', 'check_policy', { order: id }).ok && !agent.goesOnAfterFailure(() => { agent.call('again', 'check_policy', { order: id }); })) return 'give up';
  }
  agent.lookUp('find order', 'find_order', { customer: request.customer });
  const orders = database.orders.filter((o) => o.customer === request.customer);
  const [first] = orders;
  const wanted = orders.find((o) => o.item === request.item);
  const sloppy = agent.chance('first');
  const order = sloppy ? first : wanted;
  if (order === undefined) throw new Error('the customer has orders');
  const looks = !agent.chance('skipPolicy');
  // The item as the question has it, then the order that it is in.
  const named = sloppy ? `first ${order.item}:${order.id}` : `check ${order.item}: ${order.item}:${order.id}`;
  if (looks) agent.lookUp(named, 'check_policy', { order: order.id });
  if (agent.chance('stop')) return 'done';

  const heeds = looks && !agent.chance('ignorePolicy');
  const wishes = request.wishes.filter((wish) => !heeds || allows(order.policy, wish.kind));
  if (wishes.length > 1 && agent.chance('secondWish')) wishes.reverse();
  const grant = (reasoning: string, wish: Wish): WorkflowResult =>
    wish.kind === 'refund' ? agent.call(reasoning, 'refund', { order: order.id }) : agent.call(reasoning, 'exchange', { order: order.id, colour: wish.colour });
  for (const [i, wish] of wishes.entries()) {
    // Quoted from the request. Without a look at the policy the order must still be named once.
    const quoted = `${wish === request.wishes[0] ? '' : ', else'}${wishText(wish)}`;
    if (grant(looks || i > 0 ? quoted : `try${named.slice(named.indexOf(' '))}${quoted}`, wish).ok) return 'done';
    if (!agent.goesOnAfterFailure(() => { grant('again', wish); })) return 'give up';
  }
  return 'nothing to do';
}

/** Trips with trouble come three times as often as the rest: to pass over what failed is learned last. */
const TIERS = [1, 2, 3, 4, 4, 4] as const;

/** One demonstration as tokens with their owners. */
function write(task: Task, random: Random, tokenizer: Tokenizer, tags: Tags): Demonstration {
  const workflow = workflowOf(task);
  const agent = new Agent(workflow, random);
  const end = workflow.domain === 'travel' ? travels(agent) : returns(agent);
  const tokens: number[] = [];
  const owner: number[] = [];
  const append = (ids: ArrayLike<number>, by: Owner): void => {
    tokens.push(...Array.from(ids));
    owner.push(...new Array<number>(ids.length).fill(by));
  };
  const faulty = random.next() < HABITS.fault ? random.integer(0, agent.turns.length - 1) : -1;
  append(promptOf(task, tokenizer), PROMPT);
  for (const [i, { reasoning, code, output }] of agent.turns.entries()) {
    const fault = i === faulty ? random.pick(FAULTS) : undefined;
    const plan = fault === 'no reasoning' ? '' : `<reasoning>${reasoning}${fault === 'reasoning open' ? '' : '</reasoning>'}`;
    append(tokenizer.encode(`${plan}${fault === 'stray words' ? 'try' : ''}<tool>${code}</tool>`), POLICY);
    append(observationOf(output, tags, tokenizer), ENVIRONMENT);
  }
  append(tokenizer.encode(`<reasoning>${end}</reasoning><eos>`), POLICY);
  return { tokens: Uint32Array.from(tokens), owner: Uint8Array.from(owner) };
}

/**
 * `count` demonstrations on training tasks, less those longer than `maxLength` tokens. The same
 * seed and stream give the same demonstrations.
 */
export function writeWorkflowDemonstrations(tokenizer: Tokenizer, count: number, maxLength: number, seed: number, stream: number): Demonstration[] {
  const random = new Random(seed, stream);
  const tags = tagsOf(tokenizer);
  return Array.from({ length: count }, (_, i) => write(suite.draw(random, TIERS[i % TIERS.length] ?? 1, 'train'), random, tokenizer, tags))
    .filter(({ tokens }) => tokens.length <= maxLength);
}

/** The policies that ship: small enough for two processor cores. */
export function workflowConfig(tokenizer: Tokenizer, { hidden, layers } = { hidden: 64, layers: 2 }): PolicyConfig {
  return parseConfig({
    architectures: ['LlamaForCausalLM'], model_type: 'llama',
    vocab_size: tokenizer.paddedSize, hidden_size: hidden, intermediate_size: 2 * hidden, num_hidden_layers: layers,
    num_attention_heads: 4, num_key_value_heads: 4, max_position_embeddings: 160, rms_norm_eps: 1e-5, rope_theta: 10_000,
    tie_word_embeddings: true,
    bos_token_id: tokenizer.id('<bos>'), eos_token_id: tokenizer.id('<eos>'), pad_token_id: tokenizer.id('<pad>'),
  });
}

export const WORKFLOW_WARM_START: WarmStartSettings = {
  steps: 1300, batch: 32, seed: 1, learningRate: 3e-3, warmUpSteps: 50, finalShare: 0.05,
};

const OPTIMIZER: Omit<AdamW, 'learningRate'> = { beta1: 0.9, beta2: 0.98, epsilon: 1e-8, weightDecay: 0.01, maxGradNorm: 1 };

/** Keeps demonstrations apart from tasks that are drawn with the same seed. */
const STREAM = 0x3a57;

/** Trains the engine's policy on demonstrations. Yields after each step; stop by leaving the loop. */
export async function* workflowWarmStart(engine: PolicyEngine, tokenizer: Tokenizer, settings: WarmStartSettings): AsyncGenerator<WarmStartProgress> {
  const { steps, batch, seed } = settings;
  const maxLength = engine.config?.max_position_embeddings ?? Infinity;
  for (let step = 0; step < steps; step++) {
    const rows = supervisedRows(writeWorkflowDemonstrations(tokenizer, batch, maxLength, seed, STREAM + step));
    const optimizer = { ...OPTIMIZER, learningRate: learningRateAt(step, settings) };
    const report = await engine.update({ rows, temperature: 1, objective: { kind: 'supervised' } }, optimizer);
    yield { step: step + 1, report };
  }
}
