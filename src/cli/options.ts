/** Command lines: each option declared once, with its default and its line of help. */
import { parseArgs } from 'node:util';

/** The command line is wrong; the message says how. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Option {
  readonly help: string;
  /** Shown in the help; undefined for a switch. */
  readonly default?: string;
  readonly choices?: readonly string[];
  readonly kind: 'text' | 'number' | 'switch';
}

export type Options = Readonly<Record<string, Option>>;

export interface Values {
  text(name: string): string;
  /** @throws UsageError where the value is not a number of this kind. */
  number(name: string, limits?: { readonly whole?: boolean; readonly least?: number }): number;
  on(name: string): boolean;
}

/** @throws UsageError for an unknown option or value; prints the help and exits for `--help`. */
export function readOptions(command: string, options: Options, args = process.argv.slice(2)): Values {
  const declared = Object.fromEntries(
    Object.entries(options).map(([name, { kind }]) => [name, { type: kind === 'switch' ? ('boolean' as const) : ('string' as const) }]),
  );
  let parsed: Readonly<Record<string, string | boolean | undefined>>;
  try {
    parsed = parseArgs({ args, options: { ...declared, help: { type: 'boolean' } }, strict: true }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} (see ${command} --help)`);
  }
  if (parsed['help'] === true) {
    process.stdout.write(helpOf(command, options));
    process.exit(0);
  }
  const text = (name: string): string => {
    const value = parsed[name] ?? options[name]?.default ?? '';
    const choices = options[name]?.choices;
    if (choices !== undefined && !choices.includes(String(value))) {
      throw new UsageError(`--${name} must be one of ${choices.join(', ')}, not "${String(value)}"`);
    }
    return String(value);
  };
  return {
    text,
    number(name, { whole = false, least = -Infinity } = {}) {
      const value = Number(text(name));
      if (text(name).trim() === '' || !Number.isFinite(value) || (whole && !Number.isInteger(value)) || value < least) {
        const kind = whole ? 'a whole number' : 'a number';
        throw new UsageError(`--${name} must be ${kind}${least === -Infinity ? '' : ` of at least ${least}`}, not "${text(name)}"`);
      }
      return value;
    },
    on: (name) => parsed[name] === true,
  };
}

function helpOf(command: string, options: Options): string {
  const lines = Object.entries(options).map(([name, { help, kind, choices, default: preset }]) => {
    const value = kind === 'switch' ? '' : ` ${choices?.join('|') ?? kind.toUpperCase()}`;
    return `  --${name}${value}\n      ${help}${preset === undefined || preset === '' ? '' : ` (default ${preset})`}`;
  });
  return `${command} [options]\n\n${lines.join('\n')}\n`;
}

/** Runs a command: faults end it with a message and code 1, wrong usage with code 2. */
export function main(command: () => Promise<void>): void {
  command().then(
    () => { process.exit(0); },
    (error: unknown) => {
      const known = error instanceof Error;
      process.stderr.write(`\n${known ? (process.env['DEBUG'] === undefined ? error.message : (error.stack ?? error.message)) : String(error)}\n`);
      process.exit(error instanceof UsageError ? 2 : 1);
    },
  );
}
