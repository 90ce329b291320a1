/** What training changed, on the real lab: conditions evaluated, one question answered twice, curves side by side, the mask. */
import { expect, test, type Locator } from '@playwright/test';
import { serious } from './harness/axe.ts';

/** Evaluating and training in a page on two busy cores takes its time. */
const LONG = 300_000;
test.describe.configure({ timeout: 600_000 });

/** The cells of a row of a table. */
async function row(table: Locator, name: RegExp): Promise<string[]> {
  return table.getByRole('row', { name }).locator('td').allInnerTexts();
}

test('@evaluation three conditions are evaluated by one press; stopped in between, what was finished stays', async ({ page }) => {
  await page.goto('/#/compare');
  const all = page.getByRole('region', { name: 'All tiers together' });
  await expect(page.getByText('It came with the page:')).toBeVisible();
  expect((await row(all, /^Accuracy/)).every((cell) => /^\d\.\d\d$/.test(cell))).toBe(true);

  await page.getByRole('button', { name: 'Evaluate' }).press('Enter');
  await expect(page.getByText('Nothing evaluated with these settings yet.')).toBeVisible();
  await expect(page.getByText(/^2 of 3: .*(left|pace)/)).toBeVisible({ timeout: LONG });
  await page.getByRole('button', { name: 'Stop' }).press('Enter');
  await expect(page.getByText('Stopped. What was finished stays.')).toBeVisible();
  const stopped = await row(all, /^Accuracy/);
  expect(stopped.map((cell) => cell === '–')).toEqual([false, true, true]);

  await page.getByRole('button', { name: 'Go on' }).press('Enter');
  await expect(page.getByText('Finished. The same settings give the same figures again.')).toBeVisible({ timeout: LONG });
  await expect(page.getByText(/32 questions a tier, seed 1, sampled at temperature 1, CPU engine/)).toBeVisible();
  const finished = await row(all, /^Accuracy/);
  expect(finished[0]).toBe(stopped[0]);
  const [base = NaN, prompted = NaN, trained = NaN] = finished.map(Number);
  expect(base).toBeLessThan(prompted);
  expect(prompted).toBeLessThan(trained);
  expect(await row(all, /^Calls a rollout/)).toContain('0.00');
});

test('@evaluation one question is answered by two policies, and each reads what the other wrote', async ({ page }) => {
  await page.goto('/#/compare?part=question');
  await page.getByRole('button', { name: 'Answer with both' }).press('Enter');
  await expect(page.getByText(/^Log-prob of all that was written here/)).toHaveCount(2, { timeout: LONG });
  const fork = Number(/part at token (\d+)/.exec(await page.getByText(/^They part at token/).innerText())?.[1]);
  await page.getByRole('grid').focus();
  await page.keyboard.press('d');
  const sentence = page.getByRole('main').getByText(/^Text [AB], token/);
  await expect(sentence).toHaveText(new RegExp(`^Text A, token ${fork}, .*written by the policy: log-prob −?[\\d.]+ under A, −?[\\d.]+ under B`));
  await page.keyboard.press('ArrowRight');
  await expect(sentence).toContainText(`Text A, token ${fork + 1},`);
  await page.keyboard.press('ArrowDown');
  await expect(sentence).toContainText(`Text B, token ${fork + 1},`);
  await expect(page).toHaveURL(new RegExp(`text=b.*token=${fork + 1}`));
  expect(await serious(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await serious(page)).toEqual([]);

  // A policy against itself: the same words, and no difference anywhere.
  await page.goto('/#/compare?part=question&a=model:arithmetic-base&b=model:arithmetic-base&go=1');
  await expect(page.getByText('Both wrote the same, token by token.')).toBeVisible({ timeout: LONG });
  await expect(page.getByText(/^Log-prob of all that was written here/)).toHaveCount(2, { timeout: LONG });
  await page.getByText('Both texts as tables').click();
  const differences = await page.getByRole('region', { name: 'A: Warm start' }).locator('tbody td:last-child').allInnerTexts();
  expect(differences.length).toBeGreaterThan(10);
  // The first token has no log-prob.
  expect(differences.slice(1).every((cell) => cell === '0.000')).toBe(true);
});

test('@evaluation the curves of runs that differ in the seed alone are one line with its spread', async ({ page }) => {
  for (const seed of [1, 2]) {
    await page.goto(`/#/train?preset=quick&steps=3&seed=${seed}`);
    await expect(page.getByRole('banner')).toContainText(`seed ${seed}`);
    await page.getByRole('main').getByRole('button', { name: 'Train', exact: true }).click();
    await expect(page.getByRole('region', { name: 'Run', exact: true }).getByText(/^Finished: .* in 3 steps/)).toBeVisible({ timeout: LONG });
    await page.getByRole('button', { name: 'Reset' }).click();
    await expect(page.getByText(/^Finished: .* in 3 steps/)).toBeHidden();
  }
  await page.goto('/#/compare?part=curves');
  await expect(page.getByRole('checkbox')).toHaveCount(3);
  for (const box of await page.getByRole('checkbox').all()) await box.check();
  await expect(page.getByText(/seeds 1, 2.*mean of 2/)).toBeVisible();
  await page.getByText('The curves as a table').click();
  const table = page.getByRole('region', { name: 'The curves as a table' });
  const cells = await table.locator('tbody tr td:nth-of-type(1)').allInnerTexts();
  const parsed = cells.slice(0, 3).map((cell) => /^([\d.]+) \(([\d.]+)–([\d.]+)\)$/.exec(cell)?.slice(1).map(Number));
  for (const [mean = NaN, low = NaN, high = NaN] of parsed.map((numbers) => numbers ?? [])) {
    expect(low).toBeLessThanOrEqual(mean);
    expect(mean).toBeLessThanOrEqual(high);
  }
  // The recorded run goes on where the two have ended.
  expect(cells[3]).toBe('–');
  await page.getByRole('combobox', { name: 'Metric' }).click();
  await page.getByRole('option', { name: 'Strict format' }).click();
  await expect(page).toHaveURL(/metric=format/);
  await expect(page.getByRole('slider', { name: 'Strict format' })).toBeVisible();
  expect(await serious(page)).toEqual([]);
});

test('@evaluation the masking experiment starts with one press, tells how far it is, and can be stopped', async ({ page }) => {
  await page.goto('/#/compare?part=masking&seeds=1');
  await expect(page.getByText(/With short outputs/)).toBeVisible();
  await page.getByRole('button', { name: 'Run the experiment' }).press('Enter');
  await expect(page.getByText(/^Run 1 of 4: chatty tool, mask on, seed 1\./)).toBeVisible({ timeout: LONG });
  await expect(page.getByRole('banner').getByText(/^Step [1-9]\d* of 60$/)).toBeVisible({ timeout: LONG });
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText(/^One press trains 4 runs of 60 steps/)).toBeVisible({ timeout: LONG });
});

test('@evaluation every part passes axe, light and dark, and fits a narrow phone', async ({ page }) => {
  const parts = ['Conditions', 'One question', 'Curves', 'Masking', 'The paper'];
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto('/#/compare');
    for (const part of parts) {
      await page.getByRole('radio', { name: part, exact: true }).click();
      await expect(page.getByRole('radio', { name: part, exact: true })).toBeChecked();
      expect(await serious(page), `${part}, ${scheme}`).toEqual([]);
    }
  }
  await page.setViewportSize({ width: 360, height: 800 });
  for (const part of parts) {
    await page.getByRole('radio', { name: part, exact: true }).click();
    await expect(page.getByRole('radio', { name: part, exact: true })).toBeChecked();
    for (const details of await page.locator('main details').all()) await details.locator('summary').click();
    const over = await page.getByRole('main').evaluate((element) => [element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...over), part).toBeLessThanOrEqual(0);
  }
});

test('@evaluation workflows are compared by completed tasks, beside the paper’s counts of calls, and evaluated here', async ({ page }) => {
  await page.goto('/#/compare?suite=workflow');
  const all = page.getByRole('region', { name: 'All tiers together' });
  const completed = async (): Promise<number[]> => (await row(all, /^Completed tasks/)).map(Number);
  await expect(page.getByText('It came with the page: 128 questions a tier')).toBeVisible();
  const [base = NaN, prompted = NaN, trained = NaN] = await completed();
  expect(base).toBeLessThan(prompted);
  expect(prompted).toBeLessThan(0.5);
  expect(trained).toBeGreaterThan(0.85);
  expect((await row(all, /^Reward of 1\.2/)).map(Number).every((reward) => reward <= 1.2)).toBe(true);
  const ours = page.getByRole('region', { name: 'This lab' });
  expect(await row(page.getByRole('region', { name: 'The paper: τ-bench, 7B' }), /^correct tool calls/)).toEqual(['517', '676', '+159', 'paper']);
  const needed = await row(ours, /^needed calls made/);
  expect(needed.at(-1)).toBe('measured, recorded');
  expect(await serious(page)).toEqual([]);

  await page.getByRole('button', { name: 'Evaluate' }).press('Enter');
  await expect(page.getByText('Finished. The same settings give the same figures again.')).toBeVisible({ timeout: LONG });
  const here = await completed();
  expect(here[0]).toBeLessThan(here[1] ?? NaN);
  expect(here[1]).toBeLessThan(here[2] ?? NaN);
  expect((await row(ours, /^needed calls made/)).at(-1)).toBe('measured here');
  for (const name of [/^all calls per completed task/, /^calls of a completed task/]) {
    const [before = NaN, after = NaN] = (await row(ours, name)).map(Number);
    expect(after).toBeLessThan(before);
  }
});
