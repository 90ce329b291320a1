/** Our engines as contenders, through nothing but the interface that the trainer uses. */
import type { PolicyEngine } from '../src/policy/engine.ts';
import type { Decoder, Trainer } from './contender.ts';
import { ADAMW, configOf, weightsOf, type Work } from './work.ts';

export async function ourTrainer(engine: PolicyEngine, work: Work): Promise<Trainer> {
  await engine.load({ config: configOf(work), weights: weightsOf(work), suppressTokens: [] });
  const weights = new Float32Array(work.length).fill(1 / (work.rows * (work.length - 1)));
  return {
    adapter: engine.info.adapter,
    async train(batches) {
      const reports = await Promise.all(batches.map((rows) => engine.update(
        { rows: rows.map((tokens) => ({ tokens, weights })), objective: { kind: 'supervised' }, temperature: 1 }, ADAMW,
      )));
      return reports.map(({ loss }) => loss);
    },
    dispose() {
      engine.dispose();
    },
  };
}

export async function ourDecoder(engine: PolicyEngine, work: Work): Promise<Decoder> {
  await engine.load({ config: configOf(work), weights: weightsOf(work), suppressTokens: [] });
  return {
    adapter: engine.info.adapter,
    async decode(rows, length) {
      const result = await engine.continue({
        rows: rows.map((tokens, stream) => ({ tokens, stream })), seed: 1, step: 1, temperature: 0, stopTokens: [], maxLength: length,
      });
      return rows.map((tokens, i) => [...tokens, ...(result.rows[i]?.tokens ?? [])]);
    },
    dispose() {
      engine.dispose();
    },
  };
}
