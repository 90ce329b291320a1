import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { EvaluationResult } from '../evaluation/evaluate.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const evaluate = (...args: string[]): Promise<{ readonly stdout: string }> =>
  run(process.execPath, ['scripts/cli.mjs', 'src/cli/evaluate.ts', '--suite', 'workflow', ...args], { cwd: ROOT });

describe('npm run evaluate', () => {
  it('prints the same bytes for the same seed: one object, whose counts add up', async () => {
    const args = ['--condition', 'prompted', '--questions', '3', '--seed', '1', '--json'];
    const [first, second] = await Promise.all([evaluate(...args), evaluate(...args)]);
    expect(second.stdout).toBe(first.stdout);

    const { workflow, ...result } = JSON.parse(first.stdout) as EvaluationResult & { readonly suite: string; readonly model: string };
    expect([result.suite, result.model]).toEqual(['workflow', 'workflow-base']);
    expect(result.tiers.map(({ tier, workflow: of }) => [tier, of?.rollouts])).toEqual([[1, 3], [2, 3], [3, 3], [4, 3]]);
    expect([workflow?.completed, workflow?.calls]).toEqual([Math.round(12 * result.accuracy), Math.round(12 * result.calls)]);
    expect(Object.keys(result.rewardParts)).toEqual(['state', 'functions', 'format', 'callCost']);
    expect(Object.values(result.rewardParts).reduce((sum, part) => sum + part, 0)).toBeCloseTo(result.reward);
  }, 120_000);

  it('refuses what has no meaning for workflows, in words', async () => {
    await expect(evaluate('--probe')).rejects.toThrow(/fail by themselves/);
  }, 60_000);
});
