/**
 * One update under the microscope, by keyboard, on the real lab and the recorded run: the numbers are those of the step
 * that was made, and whoever walks through them finds the same again.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import { encodeStep } from '../src/formats/rollouts.ts';
import type { StepRecord, TrainedTrajectory } from '../src/grpo/record.ts';
import { Tokenizer } from '../src/policy/tokenizer.ts';
import { spansOf } from '../src/rollout/grammar.ts';
import { tagsOf } from '../src/rollout/trajectory.ts';
import { syntheticStep } from '../src/ui/testing/synthetic.ts';
import { PRESET_SETTINGS } from '../src/ui/views/train/presets.ts';

/** Putting an engine at the weights of a step, on two busy cores. */
const LONG = 120_000;
test.describe.configure({ timeout: 420_000 });

interface Line {
  readonly group: number;
  readonly rollout: number;
  readonly tokens: readonly number[];
  readonly owner: readonly number[];
  readonly log_probs: readonly (number | null)[];
  readonly weights: readonly number[];
  readonly advantage: number;
  readonly update: { readonly log_probs: readonly (number | null)[] };
}

/** The recorded step as it lies on disk. */
const lines = readFileSync(new URL('../public/recorded/step_00001.jsonl', import.meta.url), 'utf8').trim().split('\n').map((line) => JSON.parse(line) as Line);

/** Question and rollout, from 1, of a rollout with a call in a group of different rewards. */
const called = ((): Line => {
  const found = lines.find(({ owner, advantage }) => owner.includes(2) && Math.abs(advantage) > 0.3);
  if (found === undefined) throw new Error('no rollout of the recorded step called Python');
  return found;
})();
const place = `run=recorded&step=1&question=${called.group + 1}&rollout=${called.rollout + 1}`;

const panes = (page: Page): Locator => page.getByRole('table', { name: 'Formula, code and numbers, one operation a line' });
const card = (page: Page): Locator => page.getByRole('region', { name: 'The operation' });
const tokens = (page: Page): Locator => page.getByRole('grid', { name: /Tokens of the rollout/ });
const computed = async (page: Page): Promise<void> => {
  await expect(page.getByText(/Computed again by the CPU engine.*Checked: the log-probs of [\d,]+ sampled tokens agree/)).toBeVisible({ timeout: LONG });
};

/** Opens a `details` by keyboard, and gives the rows of its table by column name; numbers in full. */
async function table(page: Page, name: string): Promise<Record<string, string>[]> {
  await page.getByText(name, { exact: true }).first().focus();
  await page.keyboard.press('Enter');
  const rows = page.getByRole('region', { name, exact: true }).getByRole('row');
  await expect(rows).toHaveCount(called.tokens.length + 1);
  const cells = await rows.evaluateAll((all) => all.map((row) =>
    [...(row as HTMLTableRowElement).cells].map((cell) => cell.querySelector('data')?.value ?? cell.innerText)));
  const [head = [], ...body] = cells;
  return body.map((row) => Object.fromEntries(row.map((cell, i) => [head[i] ?? '', cell])));
}

test('@step-through a group leads to its update, whose operations are walked forwards and back to the same numbers', async ({ page }) => {
  await page.goto(`/#/group?${place}`);
  const link = page.getByRole('main').getByRole('link', { name: /update/i }).first();
  await expect(link).toBeVisible();
  await link.focus();
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#\/update\?/);
  await computed(page);

  const seen: string[] = [];
  const look = async (): Promise<string> => `${await card(page).innerText()}\n${await panes(page).innerText()}`;
  const names = ['Old log-prob', 'New log-prob', 'Ratio', 'Clip', 'Advantage', 'KL and loss', 'Mask and mean', 'Sum', 'Gradient', 'Adam'];
  for (const name of names) {
    if (name !== names[0]) await page.keyboard.press('k');
    await expect(card(page).getByRole('heading')).toContainText(name);
    if (name === 'Adam') await expect(page.getByRole('heading', { name: 'What moved, tensor by tensor' })).toBeVisible({ timeout: LONG });
    else seen.push(await look());
  }
  await expect(page).toHaveURL(/op=adam/);
  for (const [i, name] of [...names.slice(0, -1).entries()].reverse()) {
    await page.keyboard.press('j');
    await expect(card(page).getByRole('heading')).toContainText(name);
    // The row of Adam is known by now.
    const without = (text: string): string => text.split('\n10\n')[0] ?? '';
    expect(without(await look()), name).toBe(without(seen[i] ?? ''));
  }
  await expect(page).toHaveURL(/op=old/);
});

test('@step-through the numbers of an update are those of an independent computation from the stored log-probs', async ({ page }) => {
  await page.goto(`/#/update?${place}`);
  await computed(page);
  const rows = await table(page, 'These arrays as a table');
  const trained = called.owner.filter((owner) => owner === 1).length;
  let compared = 0;
  for (const [t, row] of rows.entries()) {
    const number = (name: string): number => Number(row[name]);
    if (called.owner[t] !== 1) {
      expect([row['in the loss: 1 or 0'], row['Share in the loss'], row['Share times loss'], row['dLoss/dlogp']], `token ${t}`).toEqual(['0', '0', '0', '0']);
      continue;
    }
    compared++;
    const [old, now] = [called.log_probs[t] ?? NaN, called.update.log_probs[t] ?? NaN];
    const ratio = Math.exp(now - old);
    const gain = Math.min(ratio * called.advantage, Math.min(1.2, Math.max(0.8, ratio)) * called.advantage);
    const weight = 1 / (lines.length * trained);
    expect(number('Old log-prob, nats')).toBe(Math.fround(old));
    // float32 leaves about 1e-7 of a number; log-probs are differences of numbers of a few tens, on another count of threads.
    const near = (name: string, value: number, within: number): void => {
      expect(Math.abs(number(name) - value), `token ${t}, ${name}`).toBeLessThanOrEqual(within);
    };
    near('New log-prob, nats', now, 2e-5);
    near('Ratio, log axis', ratio, 2e-5);
    near('Gain', gain, 3e-5);
    near('Loss', -gain, 3e-5);
    near('Share in the loss', weight, 1e-7 * weight);
    near('Share times loss', -weight * gain, 3e-5 * weight);
    near('dLoss/dlogp', -weight * called.advantage * ratio, 3e-5 * weight);
  }
  expect(compared).toBe(trained);
});

test('@step-through the mask takes the gradient of each observation token to exactly 0, and no token moves', async ({ page }) => {
  await page.goto(`/#/update?${place}`);
  await expect(tokens(page)).toBeVisible();
  await page.keyboard.press('m');
  await expect(page.getByRole('radio', { name: 'Mask on', exact: true })).toBeChecked({ timeout: LONG });
  const places = (): Promise<readonly string[]> => tokens(page).locator('[data-token]').evaluateAll((all) =>
    all.map((token) => {
      const { x, y, width, height } = token.getBoundingClientRect();
      return [x, y, width, height].join(' ');
    }));
  const before = await places();
  expect(before).toHaveLength(called.tokens.length);
  await page.keyboard.press('m');
  await expect(page.getByRole('radio', { name: 'Mask off', exact: true })).toBeChecked();
  await expect(page.getByText(/are trained as if the policy had written them/)).toBeVisible();
  expect(await places()).toEqual(before);

  const rows = await table(page, 'Both gradients as a table');
  const observed = rows.filter((_, t) => called.owner[t] === 2);
  expect(observed.length).toBeGreaterThan(0);
  for (const row of observed) {
    expect([row['written by'], row['gradient, mask on'], row['dLoss/dlogp, mask on']]).toEqual(['environment', '0', '0']);
    expect(Math.abs(Number(row['gradient, mask off']))).toBeGreaterThan(0);
    expect(Math.abs(Number(row['dLoss/dlogp, mask off']))).toBeGreaterThan(0);
    expect(Number(row.difference)).toBe(Number(row['gradient, mask off']));
  }
});

test('@step-through a term is lit in formula, code and numbers, and leads to its operation', async ({ page }) => {
  await page.goto(`/#/update?${place}&op=clip`);
  const now = panes(page).locator('[data-now] [data-term]').first();
  await now.focus();
  await expect(now).toHaveAttribute('data-term', 'inside');
  const lit = (): Promise<(string | undefined)[]> => panes(page).locator('[data-lit]').evaluateAll((all) =>
    [...new Set(all.map((term) => `${term.closest<HTMLElement>('[data-pane]')?.dataset.pane ?? ''} ${(term as HTMLElement).dataset.term ?? ''}`))].sort());
  expect(await lit()).toEqual(['code inside', 'formula inside', 'numbers inside']);
  await page.keyboard.press('ArrowRight');
  expect(await lit()).toEqual(['code ratio', 'formula ratio', 'numbers ratio']);
  await page.keyboard.press('Enter');
  await expect(card(page).getByRole('heading')).toContainText('Ratio');
});

test('@step-through an example says that it is one, and leads to such a token', async ({ page }) => {
  await page.goto(`/#/update?${place}&case=up-clipped&op=gradient`);
  await expect(page.getByText('An example with made-up numbers, not data.')).toBeVisible();
  await expect(card(page)).toContainText('The clip acts');
  await expect(page.getByText('This step holds no such token.')).toBeVisible();
  await page.goto(`/#/update?${place}&case=masked&op=gradient`);
  const jump = page.getByRole('button', { name: /Go to one in this step/ });
  await jump.focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('An example with made-up numbers, not data.')).toBeHidden();
  await expect(card(page)).toContainText('This token is context only');
});

for (const scheme of ['light', 'dark'] as const) {
  test(`@step-through axe finds nothing serious in the update view, ${scheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.goto(`/#/update?${place}&op=advantage`);
    await computed(page);
    await page.getByText('These arrays as a table').click();
    expect(await serious(page), 'walk').toEqual([]);
    await page.keyboard.press('k');
    await page.keyboard.press('k');
    expect(await serious(page), 'weight').toEqual([]);
    await page.goto(`/#/update?${place}&op=adam`);
    await expect(page.getByRole('heading', { name: 'What moved, tensor by tensor' })).toBeVisible({ timeout: LONG });
    expect(await serious(page), 'adam').toEqual([]);
    await page.keyboard.press('m');
    await expect(page.getByText(/The two gradients of the whole batch differ/)).toBeVisible({ timeout: LONG });
    expect(await serious(page), 'mask').toEqual([]);
    await page.keyboard.press('v');
    await expect(page.getByText(/^Length: a token of the shortest/)).toBeVisible({ timeout: LONG });
    expect(await serious(page), 'variants').toEqual([]);
  });
}

test('@step-through a narrow phone shows the update without scrolling sideways', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  for (const [more, words] of [['op=adam', 'What moved, tensor by tensor'], ['mask=off', 'The whole batch, 96 rollouts'], ['variant=grpo,dapo', 'The rollouts of this group under both']] as const) {
    await page.goto(`/#/update?${place}&${more}`);
    await expect(page.getByText(words).first()).toBeVisible({ timeout: LONG });
    const over = await page.getByRole('main').evaluate((element) =>
      [element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...over), more).toBeLessThanOrEqual(0);
  }
});

/** A rollout of these pieces, each written by the policy or by the environment behind a question. */
function odd(like: TrainedTrajectory, pieces: readonly (readonly [text: string, owner: 1 | 2])[]): TrainedTrajectory {
  const tokenizer = new Tokenizer();
  const parts = [[`<bos>${like.task.question}`, 0] as const, ...pieces].map(([text, owner]) => ({ ids: tokenizer.encode(text), owner }));
  const tokens = Uint32Array.from(parts.flatMap(({ ids }) => [...ids]));
  const owner = Uint8Array.from(parts.flatMap(({ ids, owner: who }) => Array.from(ids, () => who)));
  const trained = (value: number, otherwise: number): Float32Array => Float32Array.from(owner, (who) => (who === 1 ? value : otherwise));
  return {
    ...like, tokens, owner, calls: [], stop: 'length', advantage: 1, logProbs: trained(-0.5, NaN), weights: trained(0.001, 0),
    spans: spansOf(tokens, owner, tagsOf(tokenizer)),
    update: {
      logProbs: trained(-0.5, NaN), entropy: trained(0.1, NaN), ratio: trained(1, NaN), kl: trained(NaN, NaN), clipped: new Uint8Array(tokens.length),
      dLogProb: trained(-0.001, 0), gradient: trained(0.0004, 0),
    },
  };
}

test('@step-through long, empty, unclosed and hostile rollouts are shown as they are, and a lab that cannot answer says so in place', async ({ page }) => {
  const settings = { ...PRESET_SETTINGS.paper, steps: 1, grpo: { ...PRESET_SETTINGS.paper.grpo, questions: 1 } };
  const made = syntheticStep({ step: 1, seed: 5, grpo: settings.grpo, progress: 0.3 });
  const like = made.groups[0]?.members[0];
  if (like === undefined) throw new Error('the synthetic step is empty');
  const hostile = '<img src=x onerror="window.hacked = true"><script>window.hacked = true</script>';
  const calls = Array.from({ length: 200 }, (_, i) => [[`<python>print(${i})</python>`, 1], [`<output>${i}</output>`, 2]] as const).flat();
  const members = [odd(like, calls), odd(like, []), odd(like, [['<think>a</think><python>print(1', 1]]), odd(like, [['<think>', 1], [hostile, 1], ['</think>', 1]])];
  const record: StepRecord = { ...made, groups: made.groups.map((group) => ({ ...group, equal: false, members })) };
  await page.route('**/recorded/*', (route) => route.fulfill({
    body: route.request().url().endsWith('.jsonl') ? encodeStep(record, new Tokenizer()) : JSON.stringify({
      run: { id: 'recorded', started: 0, settings, step: 1, state: 'finished', engine: { kind: 'cpu', adapter: 'CPU', software: false } },
      steps: [{ step: 1, metrics: made.metrics, warnings: [] }], recorded: [1],
    }),
  }));
  await page.setViewportSize({ width: 360, height: 800 });
  await page.goto('/#/update?run=recorded&step=1');
  const [long, empty, unclosed] = members;
  await expect(tokens(page)).toBeVisible();
  await tokens(page).focus();
  await page.keyboard.press('End');
  await expect(page.getByRole('gridcell', { selected: true })).toHaveAttribute('data-token', String((long?.tokens.length ?? 0) - 1));
  await expect(page.getByRole('gridcell', { selected: true })).toBeInViewport();
  // Its rows are longer than the engine's positions.
  await expect(page.getByText(/Shown as the engine stored it.*could not answer/)).toBeVisible({ timeout: LONG });
  await expect(page.getByRole('button', { name: 'Ask again' })).toBeVisible();
  const sideways = (): Promise<number> => page.getByRole('main').evaluate((element) => element.scrollWidth - element.clientWidth);
  expect(await sideways()).toBeLessThanOrEqual(0);

  await page.getByRole('radio', { name: /^Rollout 2/ }).click();
  await expect(tokens(page).locator('[data-token]')).toHaveCount(empty?.tokens.length ?? 0);
  await expect(page.getByRole('region', { name: 'Token' })).toContainText('context only: it is the question');
  await page.getByRole('radio', { name: /^Rollout 3/ }).click();
  await expect(tokens(page).locator('[data-token]')).toHaveCount(unclosed?.tokens.length ?? 0);
  await expect(tokens(page)).toContainText('not closed');
  await page.getByRole('radio', { name: /^Rollout 4/ }).click();
  await expect(tokens(page)).toContainText('<img␣src=x␣onerror=');
  expect(await page.locator('main img, main script').count()).toBe(0);
  expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  expect(await sideways()).toBeLessThanOrEqual(0);
});
