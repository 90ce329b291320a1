/**
 * What running Python for a policy means, without saying how: a batch of independent calls goes in, a result
 * for each comes out. Whether a call succeeded is a fact of the runtime, never read from text.
 */

/** Limits of one call. */
export interface PythonLimits {
  /** Wall-clock seconds a call may take. */
  readonly seconds: number;
  /** Characters of output that are kept. */
  readonly outputCharacters: number;
  /** Megabytes the interpreter's heap may grow to before it is replaced. */
  readonly memoryMegabytes: number;
}

/** Limits in a toy rollout: outputs are cut at 40 characters. */
export const TOY_LIMITS: PythonLimits = { seconds: 2, outputCharacters: 40, memoryMegabytes: 512 };

/** Limits for a person at the prompt. */
export const PERSON_LIMITS: PythonLimits = { seconds: 10, outputCharacters: 10_000, memoryMegabytes: 1024 };

/**
 * How a call failed: it raised; it ran out of time or memory; or the interpreter itself could not be used
 * (`runtime`: that is the lab's fault, not the policy's).
 */
export type PythonErrorKind = 'exception' | 'timeout' | 'memory' | 'runtime';

export interface PythonResult {
  /** The call ran to its end without an error. */
  readonly ok: boolean;
  /**
   * The observation: what the call printed, without white space at its ends; for a failed call "Kind: message";
   * for a call that ran and printed nothing, `NO_OUTPUT`. Cut to the limit.
   */
  readonly output: string;
  /** True where the output was longer than the limit. */
  readonly truncated: boolean;
  readonly error?: { readonly kind: PythonErrorKind; readonly type: string; readonly message: string };
  readonly seconds: number;
}

/** What the policy reads after a call that printed nothing: it counts as a success, and says what is missing. */
export const NO_OUTPUT = 'no output: use print()';

export interface PythonInfo {
  readonly version: string;
  /** The version of SymPy, or undefined where it could not be loaded. */
  readonly sympy: string | undefined;
  /** Whether a runaway call is interrupted (shared memory), or costs a restart of the interpreter. */
  readonly interruptible: boolean;
}

export interface Python {
  /** Resolves once the interpreter answers. @throws PythonUnavailable with the reason. */
  ready(): Promise<PythonInfo>;
  /** Runs each call in a namespace of its own, in order. One crossing into the interpreter for the whole batch. */
  run(calls: readonly string[], limits: PythonLimits, signal?: AbortSignal): Promise<readonly PythonResult[]>;
  dispose(): void;
}

/** Python could not be started. */
export class PythonUnavailable extends Error {
  override readonly name = 'PythonUnavailable';
}
