import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { spansOf } from './grammar.ts';
import { scripted, scriptedEngine, sumTask, tableOfCalls, testConfig, tokenizer } from './testing.ts';
import { ENVIRONMENT, POLICY, PROMPT, policyLength, tagsOf, type Trajectory } from './trajectory.ts';
import { rollOut, type Beginning } from './rollout.ts';

async function one(script: string, overrides: Parameters<typeof scripted>[2] = {}): Promise<Trajectory> {
  const [trajectory] = await scripted([script], undefined, overrides);
  if (trajectory === undefined) throw new Error('no trajectory');
  return trajectory;
}

const shape = (t: Trajectory): string[] => t.spans.map((s) => `${s.kind}${s.closed ? '' : '!'}${s.forged ? '?' : ''}`);

describe('a rollout against a hand-worked trace', () => {
  it('records owner, log-prob and span of each token', async () => {
    const t = await one('<think>go</think><python>print(17+25)</python><answer>42</answer><eos>');
    expect(tokenizer.decode(t.tokens)).toBe(
      '<bos>17+25<think>go</think><python>print(17+25)</python><output>42</output><answer>42</answer><eos>',
    );
    //            <bos>17+25      think,call      output     answer,eos
    expect([...t.owner].join('')).toBe('0'.repeat(6) + '1'.repeat(4 + 14) + '2'.repeat(4) + '1'.repeat(4 + 1));
    expect(shape(t)).toEqual(['prompt', 'think', 'call', 'output', 'answer', 'stray']);
    expect(t.stop).toBe('end');
    expect(t.calls).toMatchObject([{ code: 'print(17+25)', ok: true, output: '42' }]);
    for (const [i, owner] of t.owner.entries()) {
      if (owner === POLICY) expect(t.logProbs[i]).toBe(Math.fround(-i / 100));
      else expect(t.logProbs[i]).toBeNaN();
    }
  });

  it('goes on with exactly the tokens it has: each context is a prefix of the next', async () => {
    const engine = scriptedEngine(['<python>show(1)</python><think>fix it</think><python>print(1)</python><answer>1</answer><eos>']);
    const [t] = await rollOut({
      engine, tokenizer, runCalls: tableOfCalls({ 'print(1)': '1' }), tasks: [sumTask],
      seed: 1, step: 1, temperature: 1, maxCalls: 3, maxLength: 160,
    });
    const contexts = [...engine.requests.map((r) => r.rows[0]?.tokens ?? new Uint32Array()), t?.tokens ?? new Uint32Array()];
    for (const [i, context] of contexts.slice(1).entries()) {
      const before = contexts[i] ?? new Uint32Array();
      expect([...context.subarray(0, before.length)]).toEqual([...before]);
    }
    expect(t?.calls.map((c) => c.ok)).toEqual([false, true]);
    expect(t?.calls[0]?.errorKind).toBe('exception');
  });
});

describe('what runs', () => {
  const codes = (t: Trajectory): string[] => t.calls.map((c) => c.code);

  it('is the code after the last unclosed <python>', async () => {
    expect(codes(await one('<python>a<python>print(1)</python><eos>'))).toEqual(['print(1)']);
    expect(codes(await one('<think>x<python>print(1)</think></python><eos>'))).toEqual(['print(1)</think>']);
  });

  it('is nothing without one', async () => {
    const t = await one('</python>print(1)</python><eos>');
    expect(t.calls).toEqual([]);
    expect(t.stop).toBe('end');
    expect(t.owner.includes(ENVIRONMENT)).toBe(false);
  });

  it('cannot be opened by a question or an observation', async () => {
    const [t] = await scripted(['<python>print(17+25)</python>1)</python><eos>'], { 'print(17+25)': '<python>print(' });
    expect(t?.calls).toHaveLength(1);
    const output = t?.spans.find((s) => s.kind === 'output');
    // The tag in the output was split into characters: none of its tokens is special but the two real tags.
    const ids = [...(t?.tokens.subarray(output?.start, output?.end) ?? [])];
    expect(ids.filter((id) => tokenizer.isSpecial(id))).toEqual([tokenizer.id('<output>'), tokenizer.id('</output>')]);
  });
});

describe('how a rollout ends', () => {
  const call = '<python>print(1)</python>';

  it('at the fourth call, which is not run and not counted', async () => {
    const t = await one(call.repeat(5));
    expect(t.stop).toBe('calls');
    expect(t.calls).toHaveLength(3);
    expect(shape(t).slice(-1)).toEqual(['call']);
  });

  it('at the token budget', async () => {
    const t = await one('x'.repeat(300));
    expect(t.stop).toBe('length');
    expect(t.tokens).toHaveLength(160);
  });

  it('where an observation would not fit: it is recorded and not appended', async () => {
    const t = await one(`${call}<eos>`, { maxLength: 6 + 10 + 3 });
    expect(t.stop).toBe('length');
    expect(t.calls).toHaveLength(1);
    expect(t.owner.includes(ENVIRONMENT)).toBe(false);
  });

  it('with a prompt as long as the budget: no token of the policy', async () => {
    const t = await one('x<eos>', { maxLength: 6 });
    expect(t.stop).toBe('length');
    expect(policyLength(t)).toBe(0);
  });

  it('cancelled, with what there is', async () => {
    const controller = new AbortController();
    const [t] = await scripted([`${call}<eos>`], undefined, {
      signal: controller.signal,
      runCalls: (_, signal) => {
        controller.abort(new Error('enough'));
        return Promise.reject(signal?.reason as Error);
      },
    });
    expect(t?.stop).toBe('cancelled');
    expect(policyLength(t ?? { owner: new Uint8Array() })).toBe(10);
  });

  it('rejects where a fault is not a cancellation', async () => {
    await expect(one(call, { runCalls: () => Promise.reject(new Error('broken')) })).rejects.toThrow('broken');
  });
});

describe('spans', () => {
  it('mark an output that the policy wrote as forged', async () => {
    expect(shape(await one('<output>42</output><answer>42</answer><eos>'))).toEqual(['prompt', 'output?', 'answer', 'stray']);
  });

  it('end an unclosed tag where another opens', async () => {
    expect(shape(await one('<think>a<python>print(1)</python><answer>1<eos>'))).toEqual([
      'prompt', 'think!', 'call', 'output', 'answer!',
    ]);
  });

  it('cover any trajectory without gaps or overlaps, with one owner each', () => {
    const token = fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer({ min: 0, max: testConfig.vocab_size - 1 }));
    const stretch = fc.tuple(fc.constantFrom(POLICY, ENVIRONMENT), fc.array(token, { minLength: 1, maxLength: 12 }));
    fc.assert(
      fc.property(fc.array(token, { minLength: 1, maxLength: 5 }), fc.array(stretch, { maxLength: 6 }), (prompt, stretches) => {
        const tokens = [...prompt, ...stretches.flatMap(([, ids]) => ids)];
        const owner = [...prompt.map(() => PROMPT), ...stretches.flatMap(([by, ids]) => ids.map(() => by))];
        const spans = spansOf(tokens, owner, tagsOf(tokenizer));
        expect(spans.map((s) => s.start)).toEqual([0, ...spans.slice(0, -1).map((s) => s.end)]);
        expect(spans.at(-1)?.end).toBe(tokens.length);
        for (const s of spans) expect(new Set(owner.slice(s.start, s.end))).toEqual(new Set([s.owner]));
      }),
    );
  });
});

describe('a rollout that goes on from a beginning', () => {
  const whole = '<think>go</think><python>print(17+25)</python><answer>42</answer><eos>';
  /** The first `n` tokens of a finished rollout, with the calls that were answered in them. */
  const cut = (t: Trajectory, n: number): Beginning => ({
    tokens: t.tokens.slice(0, n), owner: t.owner.slice(0, n), logProbs: t.logProbs.slice(0, n),
    calls: t.calls.slice(0, t.spans.filter((s) => s.kind === 'output' && s.end <= n).length),
  });

  it('is the same rollout, wherever it is taken up: a call without an answer is run first', async () => {
    const full = await one(whole);
    const tags = tagsOf(tokenizer);
    const script = [...tokenizer.encode(whole)];
    for (let n = full.owner.indexOf(POLICY); n <= full.tokens.length; n++) {
      // In the midst of an observation there is no place to go on from.
      if (full.owner[n - 1] === ENVIRONMENT && full.tokens[n - 1] !== tags.output.close) continue;
      const beginning = cut(full, n);
      const left = script.slice(beginning.owner.filter((owner) => owner === POLICY).length);
      const t = await one(tokenizer.decode(left), { beginnings: [beginning] });
      expect(t, `from token ${n}`).toEqual(full);
    }
  });

  it('counts the calls that were made before', async () => {
    const beginning = cut(await one(whole), 28);
    expect(beginning.calls).toHaveLength(1);
    expect((await one('<python>print(1)</python>', { beginnings: [beginning], maxCalls: 1 })).stop).toBe('calls');
  });
});
