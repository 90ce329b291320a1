/** For tests: an engine that writes what a script says, and a tool that answers from a table. */
import type { PolicyConfig } from '../policy/config.ts';
import { parseConfig } from '../policy/config.ts';
import type { PolicyEngine, SampleRequest, SampleResult } from '../policy/engine.ts';
import { Tokenizer } from '../policy/tokenizer.ts';
import type { Task } from '../tasks/task.ts';
import type { PythonResult } from '../tools/python/python.ts';
import { rollOut, type RolloutRequest } from './rollout.ts';
import type { Trajectory } from './trajectory.ts';

export const tokenizer = new Tokenizer();

export const testConfig: PolicyConfig = parseConfig({
  model_type: 'llama', vocab_size: tokenizer.paddedSize, hidden_size: 32, intermediate_size: 64, num_hidden_layers: 2,
  num_attention_heads: 2, num_key_value_heads: 2, max_position_embeddings: 160, rms_norm_eps: 1e-5, rope_theta: 10_000,
  tie_word_embeddings: true, bos_token_id: 1, eos_token_id: 2, pad_token_id: 0,
});

export const sumTask: Task = {
  id: '17+25', suite: 'arithmetic', tier: 2, question: '17+25', answer: '42', expression: '17+25', kind: 'sum',
};

const refuse = (): Promise<never> => Promise.reject(new Error('the scripted engine only samples'));

/**
 * Writes the scripted text of each stream, turn by turn: up to and including the next stop token. The log-prob of a
 * token is −position/100, so that tests can tell them apart.
 */
export function scriptedEngine(scripts: readonly string[], writer: Tokenizer = tokenizer): PolicyEngine & { readonly requests: SampleRequest[] } {
  const left = scripts.map((script) => [...writer.encode(script)]);
  const requests: SampleRequest[] = [];
  return {
    info: { kind: 'cpu', adapter: 'script', software: false },
    config: testConfig,
    requests,
    load: refuse, snapshot: refuse, score: refuse, holdReference: refuse, gradients: refuse, update: refuse,
    dispose: () => undefined,
    continue(request): Promise<SampleResult> {
      requests.push(request);
      const rows = request.rows.map(({ tokens, stream }) => {
        const script = left[stream] ?? [];
        const written: number[] = [];
        while (tokens.length + written.length < request.maxLength) {
          const id = script.shift();
          if (id === undefined) throw new Error(`script ${stream} is at its end`);
          written.push(id);
          if (request.stopTokens.includes(id)) break;
        }
        const last = written.at(-1);
        const stop: 'token' | 'length' = last !== undefined && request.stopTokens.includes(last) ? 'token' : 'length';
        return {
          tokens: Uint32Array.from(written),
          logProbs: Float32Array.from(written, (_, i) => -(tokens.length + i) / 100),
          stop,
        };
      });
      return Promise.resolve({ rows });
    },
  };
}

/** Knows a few programs; anything else is a NameError, as in `show(1)`. */
export function tableOfCalls(table: Readonly<Record<string, string>>): RolloutRequest['runCalls'] {
  return (calls) =>
    Promise.resolve(
      calls.map(({ code }): PythonResult => {
        const output = table[code];
        if (output !== undefined) return { ok: true, output, truncated: false, seconds: 0 };
        const error = { kind: 'exception', type: 'NameError', message: "name 'show' is not defined" } as const;
        return { ok: false, output: `NameError: ${error.message}`, truncated: false, error, seconds: 0 };
      }),
    );
}

/** Rolls out scripted texts of the policy on one task. */
export async function scripted(
  scripts: readonly string[],
  table: Readonly<Record<string, string>> = { 'print(17+25)': '42', 'print(1)': '1' },
  overrides: Partial<RolloutRequest> = {},
): Promise<Trajectory[]> {
  return rollOut({
    engine: scriptedEngine(scripts), tokenizer, runCalls: tableOfCalls(table), tasks: scripts.map(() => sumTask),
    seed: 1, step: 1, temperature: 1, maxCalls: 3, maxLength: 160, ...overrides,
  });
}
