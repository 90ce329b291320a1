/**
 * The main job, on the real lab: a stranger presses Train, watches the reward climb, and opens a group to see that
 * what the environment wrote was read and not trained on.
 */
import { expect, test, type Locator, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';

/** Training in a page on two busy cores takes its time. */
const LONG = 240_000;
test.describe.configure({ timeout: 420_000 });

async function chooseEngine(page: Page, name: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Which engine to use' }).click();
  await page.getByRole('option', { name, exact: true }).click();
}

const runRegion = (page: Page): Locator => page.getByRole('region', { name: 'Run', exact: true });
const view = (page: Page, name: string): Locator => page.getByRole('navigation').getByRole('link', { name, exact: true });

/** Mean rewards by step, from the table that stands for the curves. */
async function rewards(page: Page): Promise<number[]> {
  const table = page.getByRole('region', { name: 'The curves as a table' }).getByRole('row');
  const cells = await table.locator('td:first-of-type').allInnerTexts();
  return cells.map(Number);
}

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Waits until the reward of the last steps lies clearly above that of the first. */
async function watchItClimb(page: Page, by: number): Promise<void> {
  await page.getByText('The curves as a table').click();
  await expect
    .poll(async () => {
      const all = await rewards(page);
      return all.length < 8 ? 0 : mean(all.slice(-4)) - mean(all.slice(0, 4));
    }, { timeout: LONG, intervals: [500] })
    .toBeGreaterThan(by);
}

/** Pauses, and waits until the step in progress is made. */
async function pause(page: Page): Promise<void> {
  await runRegion(page).getByRole('button', { name: 'Pause' }).click();
  await expect(runRegion(page).getByRole('button', { name: 'Resume' })).toBeVisible({ timeout: LONG });
}

/** In the group view: chooses a question with different rewards, and a rollout of it that called Python. */
async function chooseCallingRollout(page: Page): Promise<void> {
  const questions = page.getByRole('list', { name: 'Questions of this step' }).getByRole('button');
  await expect(questions.first()).toBeVisible();
  for (const question of await questions.filter({ hasNotText: 'all rewards equal' }).all()) {
    await question.click();
    for (const rollout of await page.getByRole('rowheader', { name: /Rollout/ }).all()) {
      await rollout.click();
      const detail = page.getByRole('region', { name: /^Rollout \d+$/ });
      const advances = !(await rollout.innerText()).includes('advantage 0.00');
      if (advances && (await detail.getByText(/output 0\/\d+/).count()) > 0) return;
    }
  }
  throw new Error('no rollout of this step called Python in a mixed group');
}

/** Every token that the environment wrote is context only and has a gradient of exactly 0; the policy's have one. */
async function checkMask(page: Page): Promise<void> {
  await page.getByText('This rollout as a table').click();
  const table = page.getByRole('region', { name: 'This rollout as a table' }).getByRole('table');
  await expect(table).toBeVisible();
  const [head = [], ...rows] = await table.getByRole('row').evaluateAll((all) =>
    all.map((row) => [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText)));
  const column = (row: readonly string[], name: string): string | undefined => row[head.indexOf(name)];
  const observed = rows.filter((row) => column(row, 'written by') === 'environment');
  const written = rows.filter((row) => column(row, 'written by') === 'policy');
  expect(observed.length).toBeGreaterThan(0);
  for (const row of observed) {
    expect([column(row, 'part'), column(row, 'in the loss'), column(row, 'weight'), column(row, 'gradient norm')]).toEqual(['output', 'no', '0', '0']);
  }
  expect(written.every((row) => column(row, 'in the loss') === 'yes')).toBe(true);
  expect(written.some((row) => column(row, 'gradient norm') !== '0')).toBe(true);

  // The same, said of one token by the keyboard's sentence.
  await page.getByRole('grid').focus();
  await page.keyboard.press('Home');
  const token = page.getByRole('region', { name: 'Token', exact: true });
  for (let part = 0; part < 12 && !(await token.innerText()).includes('written by the environment'); part++) await page.keyboard.press('PageDown');
  await expect(token).toContainText('output, context only: written by the environment');
  await expect(token).toContainText(/gradient norm\s*0 exactly/);
}

test('@main-job a stranger presses Train, sees the reward climb, and opens a group (CPU engine)', async ({ page }) => {
  await page.goto('/');
  await page.getByRole('main').getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page.getByRole('banner')).toContainText('CPU');
  await expect(runRegion(page).getByText(/^Step [1-9]\d* of 40$/)).toBeVisible({ timeout: LONG });
  await watchItClimb(page, 0.3);
  await expect(runRegion(page).getByText(/ left$/)).toBeVisible();
  await pause(page);
  expect(await serious(page)).toEqual([]);

  // The first step: half of its groups are mixed.
  await page.getByRole('slider', { name: 'Reward' }).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/step=1/);
  await chooseCallingRollout(page);
  await checkMask(page);
  expect(await serious(page)).toEqual([]);
  await page.getByRole('radio', { name: 'Dark' }).click();
  expect(await serious(page)).toEqual([]);
});

test('@main-job a run is paused, resumed, and after a reload resumed from the browser’s store', async ({ page }) => {
  await page.goto('/#/train');
  await page.getByRole('radio', { name: /^Quick/ }).click();
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(runRegion(page).getByText(/^Step ([3-9]|[1-3]\d) of 40$/)).toBeVisible({ timeout: LONG });
  await pause(page);
  const at = await runRegion(page).getByText(/^Step \d+ of 40$/).innerText();
  await runRegion(page).getByRole('button', { name: 'Resume' }).click();
  await expect(runRegion(page).getByText(at, { exact: true })).toBeHidden({ timeout: LONG });
  await pause(page);

  const before = await runRegion(page).getByText(/^Step \d+ of 40$/).innerText();
  const steps = Number(/\d+/.exec(before)?.[0]);
  await page.reload();
  await page.getByRole('button', { name: 'Resume the last run' }).click();
  await expect(runRegion(page).getByText(new RegExp(`^Step (?!${steps} )\\d+ of 40$`))).toBeVisible({ timeout: LONG });
  await pause(page);
  // The curves hold the steps from before the reload and those after it, each once.
  await page.getByText('The curves as a table').click();
  const now = Number(/\d+/.exec(await runRegion(page).getByText(/^Step \d+ of 40$/).innerText())?.[0]);
  expect(now).toBeGreaterThan(steps);
  expect(await rewards(page)).toHaveLength(now);
});

test('@main-job the same on the WGSL engine, over a software adapter', async ({ page }) => {
  await page.goto('/');
  await chooseEngine(page, 'WGSL on the GPU');
  await expect(page.getByRole('region', { name: 'This machine' })).toContainText('WGSL engine', { timeout: LONG });
  await view(page, 'Train').click();
  await page.getByRole('radio', { name: /^Quick/ }).click();
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page.getByRole('banner')).toContainText('GPU');
  await expect(runRegion(page).getByText(/^Step [1-9]\d* of 40$/)).toBeVisible({ timeout: LONG });
  await watchItClimb(page, 0.2);
  await pause(page);

  await page.getByRole('slider', { name: 'Reward' }).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('Enter');
  await expect(page.getByText(/Measured here: seed 1, WGSL engine/)).toBeVisible();
  await chooseCallingRollout(page);
  await checkMask(page);
});

test('@main-job a run that is open in one tab is not trained in another', async ({ page, context }) => {
  await page.goto('/#/train');
  await page.getByRole('radio', { name: /^Quick/ }).click();
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(runRegion(page).getByText(/^Step [1-9]\d* of 40$/)).toBeVisible({ timeout: LONG });
  await pause(page);

  const other = await context.newPage();
  await other.goto('/#/train');
  await other.getByRole('button', { name: 'Resume the last run' }).click();
  await expect(other.getByText('This run is open in another tab.')).toBeVisible({ timeout: LONG });
  await expect(other.getByRole('button', { name: 'Train', exact: true })).toBeEnabled();

  // The first tab goes, and with it its claim, as soon as the browser has ended its worker.
  await page.close();
  await expect(async () => {
    await other.getByRole('button', { name: 'Resume the last run' }).click({ timeout: 1000 });
    await expect(runRegion(other).getByText(/^Step [1-9]\d* of 40$/)).toBeVisible({ timeout: 10_000 });
  }).toPass({ timeout: 60_000 });
});
