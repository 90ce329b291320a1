/**
 * How long the page computes for a step, a change of signal, a scroll and a drag, on a group of six and on a rollout
 * of 10,000 tokens: milliseconds of script, and of the whole main thread, each as median and 95th percentile.
 *
 *     npm run build && node scripts/cli.mjs e2e/bench-page.ts
 */
import { chromium, type CDPSession, type Page } from '@playwright/test';
import { findChromium } from '../scripts/browser.mjs';
import { listen, staticFiles } from '../scripts/serve.mjs';
import type { StepRecord, TrainedTrajectory } from '../src/grpo/record.ts';
import { Tokenizer } from '../src/policy/tokenizer.ts';
import { spansOf } from '../src/rollout/grammar.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf } from '../src/rollout/trajectory.ts';
import { syntheticStep } from '../src/ui/testing/synthetic.ts';
import { scriptedLab, serveRecorded, SETTINGS } from './harness/scripted.ts';

const TOKENS = 10_000;
const FOLDER = process.argv[2] ?? 'dist';
const tokenizer = new Tokenizer();

/** 40 calls with their outputs, and one thought of half the length that never ends. */
function long(model: TrainedTrajectory): TrainedTrajectory {
  const ids: number[] = [];
  const owner: number[] = [];
  const write = (text: string, who: number): void => {
    for (const id of tokenizer.encode(text)) {
      ids.push(id);
      owner.push(who);
    }
  };
  write('<bos>1+1', PROMPT);
  for (let i = 0; i < 40; i++) {
    write(`<think>step ${i}: use code to see what comes</think><python>print(${i} * 17 + sum(range(10)))</python>`, POLICY);
    write(`<output>${'0123456789 '.repeat(3)}</output>`, ENVIRONMENT);
  }
  write('<think>', POLICY);
  while (ids.length < TOKENS) write('all of this is one long thought, ', POLICY);
  ids.length = TOKENS;
  owner.length = TOKENS;
  const floats = (make: (t: number) => number): Float32Array => Float32Array.from(owner, (who, t) => (who === POLICY ? make(t) : NaN));
  const zero = (make: (t: number) => number): Float32Array => Float32Array.from(owner, (who, t) => (who === POLICY ? make(t) : 0));
  return {
    ...model,
    tokens: Uint32Array.from(ids),
    owner: Uint8Array.from(owner),
    logProbs: floats((t) => -((t * 7) % 31) / 10),
    spans: spansOf(ids, owner, tagsOf(tokenizer)),
    weights: zero(() => 1 / TOKENS),
    update: {
      logProbs: floats((t) => -((t * 7) % 31) / 10), entropy: floats((t) => (t % 13) / 10), ratio: floats((t) => 0.7 + (t % 60) / 100),
      kl: floats((t) => (t % 11) / 100), clipped: Uint8Array.from(owner, (_, t) => Number(t % 17 === 0)), dLogProb: zero((t) => ((t % 9) - 4) / 1e5), gradient: zero((t) => (t % 23) / 1e5),
    },
    calls: Array.from({ length: 40 }, (_, i) => ({ code: `print(${i})`, ok: true, output: '0', truncated: false, seconds: 0.001 })),
    stop: 'length',
  };
}

const records = [1, 2].map((step): StepRecord => {
  const record = syntheticStep({ step, seed: 5, grpo: SETTINGS.grpo, progress: 0.4 });
  return step === 1 ? record : {
    ...record,
    groups: record.groups.map((group, i) => (i === 0 ? { ...group, members: group.members.map((member, k) => (k === 0 ? long(member) : member)) } : group)),
  };
});
const mixed = (records[0]?.groups.findIndex(({ equal }) => !equal) ?? 0) + 1;

type Spent = Readonly<Record<'ScriptDuration' | 'LayoutDuration' | 'RecalcStyleDuration' | 'TaskDuration', number>>;

async function spent(cdp: CDPSession): Promise<Spent> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  const of = (name: string): number => 1000 * (metrics.find((m) => m.name === name)?.value ?? NaN);
  return { ScriptDuration: of('ScriptDuration'), LayoutDuration: of('LayoutDuration'), RecalcStyleDuration: of('RecalcStyleDuration'), TaskDuration: of('TaskDuration') };
}

const quantile = (values: readonly number[], q: number): string => {
  const sorted = [...values].sort((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? NaN).toFixed(1);
};

const frames = (page: Page): Promise<void> => page.evaluate(() => new Promise<void>((done) => {
  requestAnimationFrame(() => {
    requestAnimationFrame(() => {
      done();
    });
  });
}));

async function measure(page: Page, name: string, times: number, act: (i: number) => Promise<void>): Promise<void> {
  const cdp = await page.context().newCDPSession(page);
  // The thread's own time: what other processes take does not count.
  await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
  const rows: Spent[] = [];
  for (let i = -3; i < times; i++) {
    const before = await spent(cdp);
    await act(i + 3);
    await frames(page);
    const after = await spent(cdp);
    // The first ones compile.
    if (i >= 0) rows.push({
      ScriptDuration: after.ScriptDuration - before.ScriptDuration, LayoutDuration: after.LayoutDuration - before.LayoutDuration,
      RecalcStyleDuration: after.RecalcStyleDuration - before.RecalcStyleDuration, TaskDuration: after.TaskDuration - before.TaskDuration,
    });
  }
  const say = (key: keyof Spent): string => `${quantile(rows.map((r) => r[key]), 0.5).padStart(6)} ${quantile(rows.map((r) => r[key]), 0.95).padStart(6)}`;
  console.log(`${name.padEnd(44)} ${say('ScriptDuration')}  ${say('RecalcStyleDuration')}  ${say('LayoutDuration')}  ${say('TaskDuration')}`);
  await cdp.detach();
}

const servers = await listen(staticFiles(FOLDER), ['127.0.0.1'], 0);
const address = servers?.[0]?.address();
if (address === null || address === undefined || typeof address === 'string') throw new Error('no port');
const base = `http://127.0.0.1:${address.port}`;
const source = await scriptedLab();
const executablePath = findChromium();
const browser = await chromium.launch({ ...(executablePath === undefined ? {} : { executablePath }), args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
await page.addInitScript(source);
await serveRecorded(page, records);
console.log(`${'milliseconds, median and 95th percentile'.padEnd(44)} ${'script'.padStart(13)}  ${'style'.padStart(13)}  ${'layout'.padStart(13)}  ${'main thread'.padStart(13)}`);
const SIGNALS = ['1', '2', '4', '7', '3', '0'];
const signal = (i: number): Promise<void> => page.keyboard.press(SIGNALS[i % SIGNALS.length] ?? '0');

for (const [what, address] of [
  ['group of six', `run=recorded&step=1&question=${mixed}`],
  [`${TOKENS.toLocaleString('en')} tokens`, 'run=recorded&step=2&question=1'],
] as const) {
  await page.goto(`${base}/#/rollout?${address}&rollout=1&token=30`);
  await page.getByRole('grid').first().waitFor();
  await page.waitForTimeout(1000);
  // There and back again: a short rollout ends.
  const stretch = what === 'group of six' ? 20 : 1000;
  const bounce = (i: number, on: string, back: string): Promise<void> => page.keyboard.press(Math.floor(i / stretch) % 2 === 0 ? on : back);
  await measure(page, `rollout view, ${what}: a step by token`, 100, (i) => bounce(i, 'k', 'j'));
  await measure(page, `rollout view, ${what}: a step by arrow key`, 60, async (i) => {
    await page.getByRole('grid').first().focus();
    await bounce(i, 'ArrowRight', 'ArrowLeft');
  });
  await measure(page, `rollout view, ${what}: a signal`, 40, signal);
  if (what !== 'group of six') {
    await page.getByRole('slider', { name: 'Place' }).focus();
    await measure(page, `rollout view, ${what}: a far jump`, 40, (i) => page.keyboard.press(i % 2 === 0 ? 'End' : 'Home'));
    await measure(page, `rollout view, ${what}: a scroll of 200 px`, 60, async (i) => {
      await page.getByRole('grid').first().evaluate((grid, top) => {
        grid.scrollTop = top;
      }, 200 * i);
    });
  }
  await page.goto(`${base}/#/group?${address}&token=30`);
  await page.getByRole('grid').first().waitFor();
  await page.waitForTimeout(1000);
  await page.getByRole('grid').first().focus();
  await measure(page, `group view, ${what}: a step by arrow key`, 60, (i) => bounce(i, 'ArrowRight', 'ArrowLeft'));
  await measure(page, `group view, ${what}: a signal`, 40, signal);
  const handle = await page.getByRole('slider', { name: 'Reward of rollout 1' }).boundingBox();
  if (handle !== null) {
    const [x, y] = [handle.x + handle.width / 2, handle.y + handle.height / 2];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await measure(page, `group view, ${what}: a drag of a reward`, 60, (i) => page.mouse.move(x - 60 + (i % 30) * 3, y));
    await page.mouse.up();
  }
}
await browser.close();
for (const server of servers ?? []) server.close();
