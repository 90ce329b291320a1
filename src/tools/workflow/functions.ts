/**
 * What a function of a domain is: declared once, with typed parameters, and from that validated, run, shown as a form
 * and exported as a JSON schema. A call is text, `book_hotel(id=H2, nights=3)`; whatever the text, the answer is an
 * outcome in words, never an exception.
 */
import { formatCall, type FunctionCall, type State } from '../../tasks/workflow.ts';

export type Parameter = { readonly name: string; readonly description: string } & (
  | { readonly type: 'choice'; readonly values: readonly string[] }
  | { readonly type: 'integer'; readonly least: number; readonly most: number }
  /** A letter and a number that an earlier output gave: F3. */
  | { readonly type: 'id'; readonly letter: string }
);

/** Every way in which a call can fail. The state is then as before, and another call may follow. */
export const ERROR_TYPES = [
  // The text is not a valid call.
  'NotACall', 'UnknownFunction', 'MissingArgument', 'UnknownArgument', 'RepeatedArgument', 'BadArgument',
  // The call is valid, and cannot be carried out.
  'NotFound', 'SoldOut', 'OverBudget', 'WrongDates', 'WrongCity', 'AlreadyBooked', 'NotBooked', 'InUse',
  'NotRefundable', 'NotExchangeable', 'OutOfStock', 'AlreadyReturned',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

export interface Failure {
  readonly type: ErrorType;
  /** For the caller, in words. */
  readonly message: string;
}

export type Outcome =
  | { readonly ok: true; readonly output: string; readonly state: State }
  | { readonly ok: false; readonly error: Failure };

export const fail = (type: ErrorType, message: string): Outcome => ({ ok: false, error: { type, message } });

/** Arguments that have passed validation. */
export class Arguments {
  constructor(readonly values: Readonly<Record<string, string | number>>) {}

  text(name: string): string {
    return String(this.values[name] ?? '');
  }

  number(name: string): number {
    return Number(this.values[name] ?? NaN);
  }
}

export interface FunctionSpec<Database> {
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Its effect: a new state, or the same one where it only looks things up. Neither argument is changed. */
  apply(database: Database, state: State, args: Arguments): Outcome;
}

/** What a form or a schema needs of a function. */
export type FunctionSignature = Omit<FunctionSpec<never>, 'apply'>;

/** Texts from a policy come back in messages, cut to what a person can read at a glance. */
const quoted = (text: string): string => (text.length > 20 ? `${text.slice(0, 20)}...` : text);

type Parsed =
  | { readonly ok: true; readonly name: string; readonly args: readonly (readonly [string, string])[] }
  | { readonly ok: false; readonly error: Failure };

function parse(code: string): Parsed {
  const notACall: Parsed = { ok: false, error: { type: 'NotACall', message: 'write name(argument=value)' } };
  const call = /^\s*(\w+)\s*\(([^()]*)\)\s*$/.exec(code);
  if (call === null) return notACall;
  const [, name = '', list = ''] = call;
  if (list.trim() === '') return { ok: true, name, args: [] };
  const args: (readonly [string, string])[] = [];
  for (const piece of list.split(',')) {
    const argument = /^\s*(\w+)\s*=\s*([^\s=]+)\s*$/.exec(piece);
    if (argument === null) return notACall;
    const [, key = '', value = ''] = argument;
    if (args.some(([known]) => known === key)) return { ok: false, error: { type: 'RepeatedArgument', message: `argument ${quoted(key)} twice` } };
    args.push([key, value]);
  }
  return { ok: true, name, args };
}

function valueOf(parameter: Parameter, text: string): string | number | undefined {
  switch (parameter.type) {
    case 'choice':
      return parameter.values.includes(text) ? text : undefined;
    case 'integer': {
      const value = /^\d{1,6}$/.test(text) ? Number(text) : NaN;
      return value >= parameter.least && value <= parameter.most ? value : undefined;
    }
    case 'id':
      return new RegExp(`^${parameter.letter}\\d{1,2}$`).test(text) ? text : undefined;
  }
}

function expected(parameter: Parameter): string {
  switch (parameter.type) {
    case 'choice':
      return `one of ${parameter.values.join(', ')}`;
    case 'integer':
      return `${parameter.least} to ${parameter.most}`;
    case 'id':
      return `like ${parameter.letter}3`;
  }
}

type Resolved<Database> =
  | { readonly ok: true; readonly spec: FunctionSpec<Database>; readonly call: FunctionCall }
  | { readonly ok: false; readonly error: Failure };

/** The function that a text calls, with arguments of the right types in declared order, or what is wrong with it. */
function resolve<Database>(specs: readonly FunctionSpec<Database>[], code: string): Resolved<Database> {
  const parsed = parse(code);
  if (!parsed.ok) return parsed;
  const refuse = (type: ErrorType, message: string): Resolved<Database> => ({ ok: false, error: { type, message } });
  const spec = specs.find(({ name }) => name === parsed.name);
  if (spec === undefined) return refuse('UnknownFunction', `no function ${quoted(parsed.name)}`);
  const given = new Map(parsed.args);
  const values: [string, string | number][] = [];
  for (const parameter of spec.parameters) {
    const text = given.get(parameter.name);
    if (text === undefined) return refuse('MissingArgument', `argument ${parameter.name} is missing`);
    const value = valueOf(parameter, text);
    if (value === undefined) return refuse('BadArgument', `${parameter.name} must be ${expected(parameter)}`);
    values.push([parameter.name, value]);
    given.delete(parameter.name);
  }
  const [unknown] = given.keys();
  if (unknown !== undefined) return refuse('UnknownArgument', `no argument ${quoted(unknown)}`);
  return { ok: true, spec, call: { name: spec.name, args: Object.fromEntries(values) } };
}

/** Carries out a call that may be any text. */
export function runCall<Database>(specs: readonly FunctionSpec<Database>[], database: Database, state: State, code: string): Outcome {
  const resolved = resolve(specs, code);
  return resolved.ok ? resolved.spec.apply(database, state, new Arguments(resolved.call.args)) : resolved;
}

/** A valid call in its one spelling, so that two of them can be compared; undefined where it is not valid. */
export function canonicalCall(specs: readonly FunctionSpec<never>[], code: string): string | undefined {
  const resolved = resolve(specs, code);
  return resolved.ok ? formatCall(resolved.call) : undefined;
}

/** A function in the JSON schema that chat templates and other trainers take as a tool. */
export function functionSchema({ name, description, parameters }: FunctionSignature): unknown {
  return {
    type: 'function',
    function: {
      name,
      description,
      parameters: {
        type: 'object',
        properties: Object.fromEntries(parameters.map((p) => [p.name, { ...typeSchema(p), description: p.description }])),
        required: parameters.map((p) => p.name),
        additionalProperties: false,
      },
    },
  };
}

function typeSchema(parameter: Parameter): Record<string, unknown> {
  switch (parameter.type) {
    case 'choice':
      return { type: 'string', enum: parameter.values };
    case 'integer':
      return { type: 'integer', minimum: parameter.least, maximum: parameter.most };
    case 'id':
      return { type: 'string', pattern: `^${parameter.letter}\\d{1,2}$` };
  }
}
