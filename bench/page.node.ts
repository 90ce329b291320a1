/** The page itself: when its first stage can be read, and what training leaves of its main thread. */
import type { CDPSession, Page } from '@playwright/test';
import type { Figure } from './figure.ts';
import { builtProduct, launch, serve } from './places.node.ts';

/** How long training is watched. */
const WATCHED = 12_000;

interface TraceEvent {
  readonly name: string;
  readonly dur?: number;
  readonly tdur?: number;
  readonly tid: number;
  readonly pid: number;
  readonly args?: { readonly name?: string };
}

/** Milliseconds of the longest tasks of the page's main thread while `work` runs: by the wall, and of its own processor time. */
async function longestTask(cdp: CDPSession, work: () => Promise<void>): Promise<{ wall: number; own: number }> {
  const events: TraceEvent[] = [];
  cdp.on('Tracing.dataCollected', ({ value }) => { events.push(...(value as unknown as TraceEvent[])); });
  await cdp.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] } });
  await work();
  const complete = new Promise((resolve) => { cdp.once('Tracing.tracingComplete', resolve); });
  await cdp.send('Tracing.end');
  await complete;
  // Renderers of other tabs and workers have threads of other names.
  const main = new Set(events.filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain').map((e) => `${e.pid}/${e.tid}`));
  const tasks = events.filter((e) => e.name === 'RunTask' && main.has(`${e.pid}/${e.tid}`));
  if (tasks.length === 0) throw new Error('no task was traced');
  return { wall: Math.max(...tasks.map((t) => (t.dur ?? 0) / 1000)), own: Math.max(...tasks.map((t) => (t.tdur ?? 0) / 1000)) };
}

/** When the largest text was painted, in milliseconds since the navigation began. */
async function readable(page: Page, address: string): Promise<number> {
  await page.goto(address);
  await page.getByRole('heading').first().waitFor();
  await page.waitForTimeout(1500);
  return page.evaluate(() => new Promise<number>((resolve) => {
    new PerformanceObserver((list) => { resolve(list.getEntries().at(-1)?.startTime ?? NaN); }).observe({ type: 'largest-contentful-paint', buffered: true });
  }));
}

export async function page(adapter: 'swiftshader' | 'hardware', log: (line: string) => void): Promise<Figure[]> {
  const { base, close } = await serve(await builtProduct());
  const chrome = await launch(adapter);
  try {
    const loads: number[] = [];
    for (let i = 0; i < 3; i++) {
      const context = await chrome.browser.newContext();
      loads.push(await readable(await context.newPage(), base));
      await context.close();
    }
    loads.sort((a, b) => a - b);
    log(`  readable after ${loads.map((ms) => ms.toFixed(0)).join(', ')} ms`);

    const context = await chrome.browser.newContext();
    const visited = await context.newPage();
    // What tsx puts around the named functions of a script that is sent to the page.
    await visited.addInitScript('globalThis.__name = (named) => named');
    await visited.goto(`${base}#/train`);
    await visited.getByRole('button', { name: 'Train', exact: true }).click();
    await visited.getByText(/^Step [1-9]\d* of \d+$/).first().waitFor({ timeout: 120_000 });
    const longest = await longestTask(await context.newCDPSession(visited), async () => {
      await visited.waitForTimeout(WATCHED);
    });
    const frames = await visited.evaluate((milliseconds) => new Promise<number[]>((resolve) => {
      const deltas: number[] = [];
      let last = performance.now();
      const end = last + milliseconds;
      const tick = (): void => {
        const now = performance.now();
        deltas.push(now - last);
        last = now;
        if (now < end) requestAnimationFrame(tick);
        else resolve(deltas);
      };
      requestAnimationFrame(tick);
    }), WATCHED / 3);
    frames.sort((a, b) => a - b);
    const engine = 'headless Chromium';
    const none = { peer: null, peerName: null, ratio: null };
    return [
      { ...none, figure: 'the page, readable', work: 'largest contentful paint, nothing cached, from this machine', adapter: engine, ours: (loads[1] ?? NaN) / 1000, goal: '< 1 s', met: (loads[1] ?? NaN) < 1000, unit: 's' },
      {
        ...none, figure: 'the page, longest task', work: `main thread, ${WATCHED / 1000} s of training on the engine that the page chose`, adapter: engine, ours: longest.own, goal: '≤ 50 ms', met: longest.own <= 50, unit: 'ms of its own',
        note: `${longest.wall.toFixed(0)} ms by the wall, beside whatever else this machine does; frames ${(frames[Math.floor(frames.length / 2)] ?? NaN).toFixed(1)} ms in the median, ${(frames[Math.floor(0.95 * frames.length)] ?? NaN).toFixed(1)} ms at 95 %`,
      },
    ];
  } finally {
    await chrome.close();
    close();
  }
}
