/**
 * What the page promises whatever the engine computes: checked on a lab that makes scripted steps, so that every
 * state can be had at once. The main job, on the real lab, is in main-job.spec.ts.
 */
import { expect, test, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import { scriptedLab } from './harness/scripted.ts';
import { encodeStep } from '../src/formats/rollouts.ts';
import type { StepRecord } from '../src/grpo/record.ts';
import type { RecordedFile } from '../src/lab/recorded.ts';
import { Tokenizer } from '../src/policy/tokenizer.ts';
import type { FakeOptions } from '../src/ui/testing/fake-lab.ts';
import { syntheticStep } from '../src/ui/testing/synthetic.ts';
import { PRESET_SETTINGS } from '../src/ui/views/train/presets.ts';

let fakeSource = '';

test.beforeAll(async () => {
  fakeSource = await scriptedLab();
});

interface Recorded {
  readonly file: RecordedFile;
  readonly records: readonly StepRecord[];
}

function recordedRun(change: (record: StepRecord) => StepRecord = (record) => record, questions = 4): Recorded {
  const settings = { ...PRESET_SETTINGS.paper, steps: 4, grpo: { ...PRESET_SETTINGS.paper.grpo, questions } };
  const records = [1, 2, 3, 4].map((step) => change(syntheticStep({ step, seed: 5, grpo: settings.grpo, progress: step / 4 })));
  return {
    records,
    file: {
      run: { id: 'recorded', started: 0, settings, step: 4, state: 'finished', engine: { kind: 'webgpu', adapter: 'some GPU', software: false } },
      steps: records.map(({ step, metrics, warnings }) => ({ step, metrics, warnings })),
      recorded: [1, 2, 3, 4],
    },
  };
}

/** Opens the page on the scripted lab. Without a recorded run the page has none. */
async function open(page: Page, path: string, options: FakeOptions = {}, recorded: Recorded | 'none' = recordedRun()): Promise<void> {
  await page.addInitScript(`window.fakeLab = ${JSON.stringify({ pace: 40, ...options })}; ${fakeSource}`);
  await page.route('**/recorded/*', (route) => {
    const name = new URL(route.request().url()).pathname.split('/').at(-1) ?? '';
    if (recorded === 'none') return route.fulfill({ status: 404 });
    const record = recorded.records.find(({ step }) => name === `step_${String(step).padStart(5, '0')}.jsonl`);
    return route.fulfill({ body: record === undefined ? JSON.stringify(recorded.file) : encodeStep(record, new Tokenizer()) });
  });
  await page.goto(`/#${path}`);
}

const main = (page: Page): ReturnType<Page['getByRole']> => page.getByRole('main');

test.describe('@page every view passes axe', () => {
  for (const scheme of ['light', 'dark'] as const) {
    test(`in the ${scheme} theme`, async ({ page }) => {
      await page.emulateMedia({ colorScheme: scheme });
      await open(page, '/', { stored: [[12, 40]] });
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await expect(page.getByRole('region', { name: 'The same policy, before and after' })).toBeVisible();
      expect(await serious(page), 'home').toEqual([]);

      await page.getByRole('link', { name: 'Train', exact: true }).click();
      await page.getByText('All settings').click();
      await page.getByText('The curves as a table').click();
      expect(await serious(page), 'train, recorded').toEqual([]);
      await page.getByRole('button', { name: 'Train', exact: true }).click();
      await expect(main(page).getByText(/^Step [1-9]\d* of 40$/)).toBeVisible();
      await page.getByRole('button', { name: 'Pause' }).first().click();
      expect(await serious(page), 'train, paused').toEqual([]);

      await page.getByRole('link', { name: /Open the groups/ }).click();
      await expect(page.getByRole('grid')).toBeVisible();
      await page.getByText('This rollout as a table').click();
      await page.getByText('The rewards as a table').click();
      for (const key of ['0', '1', '3', '4', '5', '7']) {
        await page.keyboard.press(key);
        expect(await serious(page), `group, signal ${key}`).toEqual([]);
      }
    });
  }
});

test('@page a wide-screen projector shows button, progress and reward without scrolling', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 720 });
  await open(page, '/train');
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(main(page).getByRole('progressbar')).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('button', { name: 'Pause' }).last()).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole('slider', { name: 'Reward' })).toBeInViewport({ ratio: 1 });
});

for (const path of ['/', '/train', '/group?step=2&signal=gradient']) {
  test(`@page a narrow phone shows ${path} without scrolling sideways`, async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    // As many questions as a real step has: their list is wider than the phone.
    await open(page, path, {}, recordedRun(undefined, 16));
    await expect(main(page)).toContainText(/\w{4}/);
    if (path.startsWith('/group')) {
      await expect(page.getByRole('list', { name: 'Questions of this step' }).getByRole('button')).toHaveCount(16);
    }
    const over = await main(page).evaluate((element) =>
      [element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...over)).toBeLessThanOrEqual(0);
  });
}

test('@page a link reproduces run, step, question, rollout, token and signal', async ({ page }) => {
  const { records } = recordedRun();
  const member = records[1]?.groups[2]?.members[4];
  if (member === undefined) throw new Error('no such rollout');
  const token = member.spans.find(({ kind }) => kind === 'think')?.start ?? 0;
  await open(page, `/group?run=recorded&step=2&question=3&rollout=5&token=${token}&signal=advantage`);
  await expect(page.getByRole('gridcell', { selected: true })).toHaveText('<think>');
  await expect(page.getByRole('radio', { name: /Advantage/ })).toBeChecked();
  await expect(page.getByText('Step 2 of 4')).toBeVisible();
  await expect(page.getByRole('region', { name: 'Rollout 5' })).toContainText(member.task.question);
});

test('@page a link reproduces the settings of a run, and changes go into the address', async ({ page }) => {
  await open(page, '/train?preset=selective&seed=7&grpo.beta=0.05');
  await expect(page.getByRole('banner')).toContainText('seed 7');
  await page.getByText('All settings').click();
  await expect(page.getByLabel('Pull to the start, β')).toHaveValue('0.05');
  await expect(page.getByLabel('Cost of a call')).toHaveValue('0.2');
  await page.getByLabel('Pull to the start, β').fill('0');
  await expect(page).toHaveURL(/#\/train\?preset=selective&seed=7$/);
  await expect(page.getByRole('radio', { name: /Selective use/ })).toBeChecked();
});

test('@page the keyboard walks tokens, parts and rollouts, and chooses the signal', async ({ page }) => {
  const { records } = recordedRun();
  const member = records[3]?.groups[0]?.members[0];
  if (member === undefined) throw new Error('no such rollout');
  await open(page, '/group');
  const first = member.owner.indexOf(1);
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowRight');
  const sentence = page.getByRole('region', { name: 'Token' });
  await expect(sentence).toContainText(`Rollout 1, token ${first}, “<think>”, think, in the loss`);
  await page.keyboard.press('ArrowRight');
  await expect(sentence).toContainText(`token ${first + 1},`);
  await page.keyboard.press('ArrowDown');
  await expect(sentence).toContainText(`Rollout 2, token ${first + 1},`);
  await page.keyboard.press('Home');
  await expect(sentence).toContainText('token 0, “<bos>”, question, context only');
  await page.keyboard.press('PageDown');
  await expect(sentence).toContainText(`token ${first},`);
  await page.keyboard.press('4');
  await expect(page.getByRole('radio', { name: /Ratio/ })).toBeChecked();
  await expect(page).toHaveURL(/signal=ratio/);
});

test('@page the glyph and the edge of a part have the colour of its role', async ({ page }) => {
  await open(page, '/group?step=2');
  await expect(page.getByRole('grid')).toBeVisible();
  const colours = await page.locator('[data-kind]').evaluateAll((spans) => spans.map((span) => {
    const glyph = span.querySelector('[aria-hidden]');
    return [span.getAttribute('data-kind') ?? '', getComputedStyle(span).borderInlineStartColor, glyph === null ? '' : getComputedStyle(glyph).color] as const;
  }));
  const edges = new Map(colours.map(([kind, edge]) => [kind, edge]));
  expect(edges.size).toBeGreaterThanOrEqual(5);
  for (const [kind, edge, glyph] of colours) expect([edge, glyph], kind).toEqual([edges.get(kind), edges.get(kind)]);
  edges.delete('stray');
  expect(new Set(edges.values()).size).toBe(edges.size);
});

test('@page the mask counts of a rollout are those of the batch', async ({ page }) => {
  const { records } = recordedRun();
  const record = records[0];
  const question = record?.groups.findIndex(({ members }) => members.some(({ calls }) => calls.length > 0)) ?? -1;
  const rollout = record?.groups[question]?.members.findIndex(({ calls }) => calls.length > 0) ?? -1;
  const member = record?.groups[question]?.members[rollout];
  if (member === undefined) throw new Error('no rollout with a call');
  await open(page, `/group?step=1&question=${question + 1}&rollout=${rollout + 1}`);
  const trained = member.weights.reduce((n, w) => n + (w > 0 ? 1 : 0), 0);
  const written = member.owner.reduce((n, o) => n + (o === 0 ? 0 : 1), 0);
  const output = member.owner.reduce((n, o) => n + (o === 2 ? 1 : 0), 0);
  const detail = page.getByRole('region', { name: `Rollout ${rollout + 1}` });
  await expect(detail).toContainText(`in loss ${trained} of ${written}`);
  await expect(detail).toContainText(`output 0/${output}`);
});

test('@page a group of equal rewards is explained', async ({ page }) => {
  const { records } = recordedRun();
  const question = records[3]?.groups.findIndex(({ equal }) => equal) ?? -1;
  expect(question).toBeGreaterThanOrEqual(0);
  await open(page, `/group?step=4&question=${question + 1}`);
  await expect(page.getByText(/every advantage is 0 and this group pushes nothing/)).toBeVisible();
});

test('@page text from outside stays text', async ({ page }) => {
  const hostile = '<img src=x onerror="window.hacked = true">';
  const recorded = recordedRun((record) => ({
    ...record,
    groups: record.groups.map((group) => ({
      ...group,
      task: { ...group.task, question: hostile },
      members: group.members.map((member) => ({
        ...member,
        task: { ...member.task, question: hostile, answer: hostile },
        calls: member.calls.map((call) => ({ ...call, code: hostile, output: hostile })),
      })),
    })),
  }));
  await open(page, '/group', {}, recorded);
  await expect(page.getByRole('button', { name: /<img/ }).first()).toBeVisible();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
});

test('@page recorded numbers say that they are recorded, until there are own ones', async ({ page }) => {
  await open(page, '/train');
  await expect(page.getByText('Recorded run.')).toBeVisible();
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page.getByText('Recorded run.')).toBeHidden();
});

test('@page the page is whole without a recorded run', async ({ page }) => {
  await open(page, '/group', {}, 'none');
  await expect(page.getByRole('heading', { name: 'No rollouts yet' })).toBeVisible();
  await page.getByRole('button', { name: 'Go to Train' }).click();
  await expect(page.getByText('Curves appear with the first step.').first()).toBeVisible();
});

test('@page arrow keys on a curve choose a step, and Enter opens its groups', async ({ page }) => {
  await open(page, '/train');
  const curve = page.getByRole('slider', { name: 'Reward' });
  await curve.focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowRight');
  await expect(curve).toHaveAttribute('aria-valuetext', /^Step 2: /);
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#\/group\?run=recorded&step=2/);
});

test('@page progress and a way to pause are there in every view', async ({ page }) => {
  await open(page, '/', { pace: 200 });
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page).toHaveURL(/#\/train/);
  for (const name of ['Home', 'Group']) {
    await page.getByRole('link', { name, exact: true }).click();
    await expect(page.getByRole('banner').getByText(/Step \d+ of 40/)).toBeVisible();
    await expect(page.getByRole('banner').getByText(/ left$/)).toBeVisible();
  }
  await page.getByRole('banner').getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByRole('banner').getByText('paused')).toBeVisible();
});

test('@page a run that fails says so where it is, and what to do', async ({ page }) => {
  await open(page, '/train', { failsAt: 3 });
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  const alert = page.getByRole('region', { name: 'Run', exact: true }).getByRole('alert');
  await expect(alert).toContainText('press Reset');
  await expect(alert).toContainText('the device ran out of memory');
});

const REASONS: readonly (readonly [NonNullable<FakeOptions['reason']>, RegExp])[] = [
  ['insecure-context', /https/],
  ['no-webgpu', /has no WebGPU/],
  ['no-adapter', /no graphics adapter/],
  ['adapter-error', /refused/],
  ['software-adapter', /emulated/],
  ['self-test-failed', /wrong numbers/],
  ['device-lost', /was lost/],
];

for (const [reason, words] of REASONS) {
  test(`@page the reason ${reason} has words of its own`, async ({ page }) => {
    await open(page, '/', { reason });
    await expect(page.getByRole('region', { name: 'This machine' })).toContainText(words);
  });
}

test('@page a worker that dies, or is of another build, is said', async ({ page }) => {
  await open(page, '/', { dies: true });
  await expect(page.getByRole('alert')).toContainText('could not be started');
  await expect(page.getByRole('button', { name: 'Train', exact: true })).toBeDisabled();
});

test('@page a worker of another build is said', async ({ page }) => {
  await open(page, '/', { version: 99 });
  await expect(page.getByRole('alert')).toContainText('different versions');
});

test('@page the theme is chosen, and remembered', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'light' });
  await open(page, '/');
  const html = page.locator('html');
  await expect(html).toHaveAttribute('data-theme', 'light');
  await page.getByRole('radio', { name: 'Dark' }).click();
  await expect(html).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(html).toHaveAttribute('data-theme', 'dark');
});

test('@page a setting that does not fit is said, and not used', async ({ page }) => {
  await open(page, '/train');
  await page.getByText('All settings').click();
  await page.getByLabel('Temperature').fill('0');
  await expect(page.getByText(/A number from 0.1 to 3/)).toBeVisible();
  await page.getByLabel('Temperature').fill('0.7');
  await expect(page.getByText(/A number from 0.1 to 3/)).toBeHidden();
  await expect(page.getByRole('radio', { name: /The paper’s rule/ })).not.toBeChecked();
});

test('@page stored runs can be opened, resumed and deleted', async ({ page }) => {
  await open(page, '/train', { stored: [[12, 40], [40, 40]], pace: 400 });
  await page.getByRole('button', { name: /Open run: .* seed 2/ }).click();
  await expect(main(page).getByText('Step 12 of 40', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Resume', exact: true }).first().click();
  await expect(main(page).getByText(/^Step (1[3-9]|[2-4]\d) of 40$/)).toBeVisible();
  await page.getByRole('button', { name: /Delete run: .* seed 3/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('button', { name: /Delete run: .* seed 3/ })).toHaveCount(0);
});
