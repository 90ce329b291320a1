/** The whole loop on workflows: groups of eight, rewards in the parts of their own rule, every view of a step. */
import { expect, test } from '@playwright/test';
import { serious } from './harness/axe.ts';

/** Training in a page on two busy cores takes its time. */
const LONG = 240_000;
test.describe.configure({ timeout: 420_000 });

test('@evaluation workflows are trained in the page, and each view opens the step', async ({ page }) => {
  await page.goto('/#/train');
  await page.getByRole('radio', { name: /^Workflows/ }).click();
  await expect(page).toHaveURL(/preset=workflow/);
  await page.getByText('All settings').click();
  await expect(page.getByRole('textbox', { name: 'Rollouts a question, G' })).toHaveValue('8');
  await expect(page.getByText('What the part for calls is worth')).toBeHidden();
  await page.goto('/#/train?preset=workflow&steps=1&grpo.questions=3');
  await page.getByRole('main').getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Run', exact: true }).getByText(/^Finished: /)).toBeVisible({ timeout: LONG });
  await expect(page.getByText('mean of all rollouts, at most 1.2')).toBeVisible();

  await page.getByRole('link', { name: /Open the groups of step/ }).click();
  await expect(page.getByRole('rowheader', { name: /^Rollout 8:/ })).toBeVisible();
  await page.getByText('The rewards as a table').click();
  await expect(page.getByRole('columnheader', { name: 'state', exact: true })).toBeVisible();
  const table = page.getByRole('region', { name: 'The rewards as a table' });
  // State, functions, tags, order and the cost add up to the reward.
  for (const cells of await Promise.all((await table.locator('tbody tr').all()).map((line) => line.locator('td').allInnerTexts()))) {
    const [state = NaN, functions = NaN, tags = NaN, order = NaN, cost = NaN, total = NaN] = cells.map((cell) => Number(cell.replace('−', '-')));
    expect(state + functions + tags + order + cost).toBeCloseTo(total, 2);
  }

  // The paper's rule in Python gives the same but for the cost of calls.
  await page.getByRole('button', { name: 'Score this group' }).click();
  await expect(page.getByText('The rewards shown are those of this rule.')).toBeVisible({ timeout: LONG });
  expect(await serious(page)).toEqual([]);

  const step = page.url().replace(/^.*#\/group/, '');
  await page.goto(`/#/rollout${step}`);
  await expect(page.getByText(/log-probs differ from the stored ones by/)).toBeVisible({ timeout: LONG });
  await page.goto(`/#/update${step}`);
  await expect(page.getByRole('table').getByText('Old log-prob')).toBeVisible({ timeout: LONG });
});
