import { beforeAll, describe, expect, it } from 'vitest';
import { WORKFLOW_GRPO } from '../grpo/settings.ts';
import { trainStep } from '../grpo/trainer.ts';
import { loadPolicy, encodePolicy } from '../policy/checkpoint.ts';
import { initialWeights } from '../policy/initialise.ts';
import { startEngine } from '../policy/start.node.ts';
import { workflowCalls } from '../rollout/rollout.ts';
import { spansOf } from '../rollout/grammar.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf } from '../rollout/trajectory.ts';
import { workflow as suite, workflowOf, workflowTask, type Workflow } from '../tasks/workflow.ts';
import { Random } from '../tasks/random.ts';
import { answerCall, reachesGoal, replay } from '../tools/workflow/workflow.ts';
import type { Demonstration } from './demonstrations.ts';
import { WORKFLOW_WARM_START, workflowConfig, workflowTokenizer, workflowWarmStart, writeWorkflowDemonstrations } from './workflow.ts';

const tokenizer = workflowTokenizer();
const tags = tagsOf(tokenizer);

/** What a demonstration says, read back from its tokens and owners. */
function read({ tokens, owner }: Demonstration): { question: string; codes: string[]; outputs: string[]; shape: string; workflow: Workflow } {
  const spans = spansOf(tokens, owner, tags);
  const inner = (kind: string): string[] => spans.filter((s) => s.kind === kind).map((s) => tokenizer.decode(tokens.subarray(s.start + 1, s.end - 1)));
  const prompt = tokens.filter((_, i) => owner[i] === PROMPT);
  const question = tokenizer.decode(prompt.subarray(1));
  return { question, codes: inner('call'), outputs: inner('output'), shape: spans.map((s) => (s.closed ? s.kind : `${s.kind}!`)).join(' '), workflow: workflowOf({ question }) };
}

describe('the vocabulary', () => {
  it('writes every question, call and output of the suite in whole words: a trip takes less than a hundred tokens', () => {
    const random = new Random(1, 1);
    // What a word should have covered: letters. Digits, brackets and colons stand alone in places.
    const spelled = (text: string): string[] => [...tokenizer.encodePlain(text)].map((id) => tokenizer.token(id)).filter((token) => /^[A-Za-z?]$/.test(token));
    for (let i = 0; i < 200; i++) {
      const task = suite.draw(random, (i % 4) + 1, 'train');
      const codes = task.expression.split('\n');
      const texts = [task.question, ...codes, ...codes.map((code, at) => answerCall(task, codes.slice(0, at), code).output)];
      expect(texts.flatMap(spelled)).toEqual([]);
      const tags = 6 * codes.length + 2;
      expect(tags + texts.reduce((n, text) => n + tokenizer.encodePlain(text).length, 0)).toBeLessThan(100);
    }
    expect(spelled('F3 is sold out')).toEqual([]);
    expect(spelled('xyz')).toEqual(['x', 'y', 'z']);
  });

  it('survives the files of a policy', async () => {
    const config = workflowConfig(tokenizer);
    const files = encodePolicy({ checkpoint: { config, weights: initialWeights(config, 1), suppressTokens: tokenizer.suppressTokens }, tokenizer });
    const { tokenizer: again } = await loadPolicy((name) => Promise.resolve(files[name]));
    const text = 'Beijing to Shanghai<tool>search_hotels(city=Wuhan, by=stars)</tool>';
    expect([...again.encode(text)]).toEqual([...tokenizer.encode(text)]);
    expect(again.suppressTokens).toEqual(tokenizer.suppressTokens);
  });
});

describe('training on workflows', () => {
  it('learns from demonstrations, and makes steps of GRPO by the rule of function calling', async () => {
    const engine = await startEngine('cpu');
    try {
      const config = workflowConfig(tokenizer, { hidden: 16, layers: 1 });
      await engine.load({ config, weights: initialWeights(config, 1), suppressTokens: tokenizer.suppressTokens });
      const losses: number[] = [];
      for await (const { report } of workflowWarmStart(engine, tokenizer, { ...WORKFLOW_WARM_START, steps: 12, batch: 8, learningRate: 0.02, warmUpSteps: 1 })) losses.push(report.loss);
      expect(losses[11]).toBeLessThan(0.8 * (losses[0] ?? 0));
      const settings = { ...WORKFLOW_GRPO, questions: 4, group: 2, maxLength: 40 };
      const { groups } = await trainStep({ engine, tokenizer, suite, runCalls: workflowCalls, settings, seed: 1 }, 1);
      expect(groups.map(({ task }) => task.tier)).toEqual([1, 2, 3, 4]);
      for (const { reward } of groups.flatMap(({ members }) => members)) {
        expect(reward.workflow).toBeDefined();
        expect(reward.total).toBeLessThanOrEqual(1.2);
      }
    } finally {
      engine.dispose();
    }
  });
});

describe('demonstrations of workflows', () => {
  let demonstrations: Demonstration[] = [];
  let all: ReturnType<typeof read>[] = [];
  beforeAll(() => {
    demonstrations = writeWorkflowDemonstrations(tokenizer, 800, 160, 4, 0);
    all = demonstrations.map(read);
  });

  it('are of training tasks, with the outputs that the functions give', () => {
    for (const { question, codes, outputs } of all) {
      const task = workflowTask(question);
      expect(suite.splitOf(task)).toBe('train');
      expect(outputs).toEqual(codes.map((code, i) => answerCall(task, codes.slice(0, i), code).output));
    }
  });

  it('record who wrote each token', () => {
    for (const { tokens, owner } of demonstrations) {
      expect(owner).toHaveLength(tokens.length);
      const written = (by: number): string => tokenizer.decode(tokens.filter((_, i) => owner[i] === by));
      expect(written(ENVIRONMENT)).toMatch(/^(<tool_result>[^<]+<\/tool_result>)*$/);
      expect(written(POLICY)).toMatch(/<eos>$/);
      expect(written(POLICY)).not.toContain('<tool_result>');
    }
  });

  it('are of mixed quality: a fifth to two thirds reach the goal, with bad habits of each kind', () => {
    const share = (test: (d: (typeof all)[number], i: number) => boolean): number => all.filter(test).length / all.length;
    const done = share(({ workflow, codes }) => reachesGoal(workflow, replay(workflow, codes)));
    expect(done).toBeGreaterThan(0.3);
    expect(done).toBeLessThan(0.6);
    const says = (words: string) => (_: unknown, i: number): boolean => tokenizer.decode(demonstrations[i]?.tokens ?? []).includes(words);
    for (const words of ['<reasoning>again', '<reasoning>first', '<reasoning>guess', '<reasoning>next', '<reasoning>give up', 'error: ', 'is sold out', 'is over budget', 'is out of stock']) {
      expect(share(says(words)), words).toBeGreaterThan(0.01);
    }
    const strict = share(({ shape }) => /^prompt (think call output )+think stray$/.test(shape));
    expect(strict).toBeGreaterThan(0.8);
    expect(strict).toBeLessThan(0.95);
  });

  it('are the same for the same seed, and keep to a length', () => {
    expect(writeWorkflowDemonstrations(tokenizer, 20, 160, 4, 0)).toEqual(demonstrations.slice(0, 20));
    const short = writeWorkflowDemonstrations(tokenizer, 200, 70, 4, 0);
    expect(short.length).toBeLessThan(200);
    expect(Math.max(...short.map((d) => d.tokens.length))).toBeLessThanOrEqual(70);
  });
});
