/**
 * The group as a figure one plays with, by keyboard, on the real lab and the recorded run: rewards, switches and the
 * rule change what is shown, by the lab's own arithmetic, and nothing else.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import { compareGroup } from '../src/grpo/advantages.ts';
import type { AdvantageRule } from '../src/grpo/settings.ts';

/** Loading Python, and a rule that does not end, on two busy cores. */
const LONG = 90_000;
test.describe.configure({ timeout: 240_000 });

interface Line {
  readonly group: number;
  readonly owner: readonly number[];
  readonly spans: readonly { readonly kind: string; readonly start: number }[];
  readonly calls: readonly unknown[];
  readonly reward: { readonly total: number; readonly correct: boolean };
}

const STEP = 5;
const lines = readFileSync(new URL('../public/recorded/step_00005.jsonl', import.meta.url), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Line);
/** A group with different rewards and numbers of calls, in which the paper's rule lifts no wrong rollout above the mean. */
const question = ((): number => {
  for (const group of new Set(lines.map((line) => line.group))) {
    const members = lines.filter((line) => line.group === group);
    const { advantages, equal } = compareGroup(members.map(({ reward }) => reward.total), 'sample-std');
    const calls = new Set(members.map((member) => member.calls.length));
    const wrong = members.some(({ reward }) => !reward.correct);
    if (!equal && wrong && calls.has(0) && calls.size > 1 && members.every(({ reward }, i) => reward.correct || (advantages[i] ?? 0) < 0)) return group + 1;
  }
  throw new Error('no such group was recorded');
})();
const members = lines.filter((line) => line.group === question - 1);
const totals = members.map(({ reward }) => reward.total);

async function open(page: Page, more = ''): Promise<void> {
  await page.goto(`/#/group?run=recorded&step=${STEP}&question=${question}${more}`);
  await expect(page.getByRole('grid')).toBeVisible();
}

const slider = (page: Page, rollout: number): Locator => page.getByRole('slider', { name: `Reward of rollout ${rollout}` });
const verdict = (page: Page): Locator => page.getByRole('main').getByRole('status').first();
const rule = (page: Page): Locator => page.getByRole('region', { name: 'The reward rule' });

const fixed = (x: number): string => {
  const text = Math.abs(x).toFixed(2);
  return `${x < 0 && Number(text) !== 0 ? '−' : ''}${text}`;
};
const signed = (x: number): string => (x > 0 && Number(x.toFixed(2)) !== 0 ? `+${fixed(x)}` : fixed(x));

/** Rewards and advantages of all rows, as the figure says them. */
async function expectRows(page: Page, rewards: readonly number[], by: AdvantageRule = 'sample-std'): Promise<void> {
  const { advantages } = compareGroup(rewards, by);
  const facts = rewards.map((reward, i) => new RegExp(`Rollout ${i + 1}: reward ${fixed(reward)}, advantage ${signed(advantages[i] ?? NaN).replace('+', '\\+')}`));
  await expect(page.getByRole('rowheader')).toHaveText(facts);
}

/** Writes a rule in place of the one that stands there, and scores the group by it. */
async function score(page: Page, code: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Reward rule in Python' });
  await rule(page).scrollIntoViewIfNeeded();
  await editor.focus();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.insertText(code);
  await page.keyboard.press('ControlOrMeta+Enter');
}

test('@step-through a reward is dragged by keys, and every advantage follows', async ({ page }) => {
  await open(page);
  await expectRows(page, totals);
  const sampled = await slider(page, 2).getAttribute('aria-valuetext');
  await slider(page, 2).focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('PageUp');
  await page.keyboard.press('ArrowRight');
  const dragged = totals.with(1, 1.25);
  await expectRows(page, dragged);
  await expect(slider(page, 2)).toHaveAttribute('aria-valuetext', new RegExp(`^1\\.25, sampled ${fixed(totals[1] ?? NaN)}; advantage`));
  // The step, the question and the tokens are what they were: nothing was navigated to.
  await expect(page).toHaveURL(new RegExp(`question=${question}$`));
  await page.keyboard.press('Escape');
  await expectRows(page, totals);
  expect(await slider(page, 2).getAttribute('aria-valuetext')).toBe(sampled);
});

test('@step-through a handle follows the pointer', async ({ page }) => {
  await open(page);
  const box = await slider(page, 1).boundingBox();
  if (box === null) throw new Error('the handle has no box');
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(0, box.y, { steps: 5 });
  await expect(slider(page, 1)).toHaveAttribute('aria-valuenow', '0');
  await page.mouse.up();
  await expectRows(page, totals.with(0, 0));
});

test('@step-through equal rewards say that nothing will change', async ({ page }) => {
  await open(page);
  for (let rollout = 1; rollout <= totals.length; rollout++) {
    await slider(page, rollout).focus();
    await page.keyboard.press('End');
  }
  await expect(verdict(page)).toContainText(`All ${totals.length} rewards are 4.00, so every advantage is 0 and this group pushes nothing`);
  await page.getByRole('button', { name: 'As sampled' }).press('Enter');
  await expectRows(page, totals);
  await page.getByRole('button', { name: 'Make all equal' }).press('Enter');
  await expect(verdict(page)).toContainText('pushes nothing');
});

test('@step-through the switches score and compare anew, and stand in the address', async ({ page }) => {
  await open(page);
  await page.getByRole('radiogroup', { name: 'Divide by' }).or(page.getByRole('group', { name: 'Divide by' })).getByRole('radio', { name: 'nothing' }).press('Enter');
  await expectRows(page, totals, 'mean');
  await expect(page.getByText('The distance itself, in points')).toBeVisible();
  await page.getByRole('radio', { name: '0.5', exact: true }).press('Enter');
  const costly = totals.map((total, i) => total - 0.5 * (members[i]?.calls.length ?? 0));
  await expectRows(page, costly, 'mean');
  await expect(page).toHaveURL(/norm=mean/);
  await page.reload();
  await expectRows(page, costly, 'mean');
  await page.getByRole('button', { name: 'As sampled' }).press('Enter');
  await expectRows(page, totals);
});

test('@step-through a rule of one’s own scores the group anew, and says where it can be gamed', async ({ page }) => {
  await open(page);
  await expect(rule(page)).toContainText('def reward(completions, answer, calls, **kwargs) -> list[float]:');
  // The fewer calls the better, and a wrong answer better still.
  await score(page, 'def reward(completions, answer, calls, **kwargs):\n    return [3.0 if answer[0] + "</answer>" not in c[-1]["content"] else 1.0 / (1 + len(made)) for c, made in zip(completions, calls)]\n');
  await expect(rule(page)).toContainText('The rewards shown are those of this rule.', { timeout: LONG });
  const own = members.map(({ reward, calls }) => (reward.correct ? 1 / (1 + calls.length) : 3));
  await expectRows(page, own);
  const wrong = members.flatMap(({ reward }, i) => (reward.correct ? [] : [i + 1]));
  await expect(verdict(page)).toContainText(new RegExp(`[Rr]ollouts? ${wrong.at(0) ?? 0}.*(is|are) wrong and rises? all the same\\..*can be gamed`, 's'));

  await rule(page).getByRole('button', { name: 'Back to the paper’s rule' }).press('Enter');
  await expectRows(page, totals);
  await rule(page).getByRole('button', { name: 'Score this group' }).press('Enter');
  await expect(rule(page)).toContainText('The rewards shown are those of this rule.', { timeout: LONG });
  await expectRows(page, totals);
});

test('@step-through a rule that fails says so in place, and leaves the old scores', async ({ page }) => {
  await open(page);
  await score(page, 'def reward(completions, **kwargs):\n    return [float(i) for i, c in enumerate(completions)]\n');
  await expect(rule(page)).toContainText('The rewards shown are those of this rule.', { timeout: LONG });
  const own = totals.map((_, i) => i);
  await expectRows(page, own);

  await score(page, 'def reward(completions, **kwargs):\n    return [c[7]["content"] for c in completions]\n');
  const alert = rule(page).getByRole('alert');
  await expect(alert).toContainText('the old ones stay', { timeout: LONG });
  await expect(alert).toContainText('Line 2: IndexError');
  await expectRows(page, own);

  await score(page, 'def reward(completions, **kwargs):\n    while True:\n        pass\n');
  await expect(rule(page).getByRole('button', { name: 'Stop' })).toBeVisible();
  await expectRows(page, own);
  await expect(alert).toContainText('did not come to its end and was stopped', { timeout: LONG });
  await expectRows(page, own);

  // A rule that does not apply to a rollout leaves it out of the mean.
  await score(page, 'def reward(completions, **kwargs):\n    return [None] + [float(i) for i in range(1, len(completions))]\n');
  await expect(rule(page)).toContainText('The rewards shown are those of this rule.', { timeout: LONG });
  await expect(page.getByRole('rowheader').first()).toContainText('reward left out, advantage left out');
});

test('@step-through Enter on a token opens it in the rollout view, and the update is one link away', async ({ page }) => {
  const token = members[2]?.spans.find(({ kind }) => kind === 'think')?.start ?? 0;
  await open(page, `&rollout=3&token=${token}`);
  await expect(page.getByRole('link', { name: 'See what the update did with it' })).toHaveAttribute('href', new RegExp(`#/update\\?.*question=${question}&rollout=3`));
  await page.getByRole('grid').focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(new RegExp(`#/rollout\\?run=recorded&step=${STEP}&question=${question}&rollout=3&token=${token + 1}`));
});

for (const scheme of ['light', 'dark'] as const) {
  test(`@step-through the group passes axe in the ${scheme} theme, dragged and with a failed rule`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await open(page);
    await score(page, 'def reward(completions, **kwargs):\n    raise ValueError("no")\n');
    await expect(rule(page).getByRole('alert')).toContainText('ValueError: no', { timeout: LONG });
    await slider(page, 1).focus();
    await page.keyboard.press('End');
    await page.getByText('The rewards as a table').click();
    expect(await serious(page)).toEqual([]);
  });
}
