/**
 * The lesson as it is promised: all eight stages in each language by keyboard alone with the network cut, every grade
 * equal to the number that the engine gave, from any link, on paper, on a phone, and on a slow machine without WebGPU.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { findChromium } from '../scripts/browser.mjs';
import { OPTIONS, STAGES, type StageId } from '../src/lesson/stages.ts';
import { lesson as en } from '../src/ui/text/en/lesson.ts';
import { lesson as hans } from '../src/ui/text/zh-hans/lesson.ts';
import { lesson as hant } from '../src/ui/text/zh-hant/lesson.ts';
import { serious } from './harness/axe.ts';
import { flakyServer } from './harness/flaky-server.ts';

test.describe.configure({ timeout: 420_000 });

/** Python, an engine and a short run on two busy cores. */
const LONG = 150_000;

const CATALOGUES = { en, 'zh-Hans': hans, 'zh-Hant': hant } as const;
type Language = keyof typeof CATALOGUES;
const NAMES: Readonly<Record<Language, string>> = { en: 'English', 'zh-Hans': '简体中文', 'zh-Hant': '繁體中文' };

/** A message without parameters. */
function say(language: Language, key: string): string {
  const message: unknown = (CATALOGUES[language] as Readonly<Record<string, unknown>>)[key];
  if (typeof message !== 'string') throw new Error(`${key} is no plain message`);
  return message;
}

const recorded = (name: string): string => readFileSync(new URL(`../public/recorded/${name}`, import.meta.url), 'utf8');
interface Evaluated {
  readonly suite: string;
  readonly condition: string;
  readonly probe: boolean;
  readonly tiers: readonly { readonly calls: number }[];
  readonly workflow?: { readonly correctCalls: number; readonly calls: number; readonly completed: number };
}
const evaluations = (JSON.parse(recorded('evaluation.json')) as { readonly evaluations: readonly Evaluated[] }).evaluations.filter(({ probe }) => !probe);
const evaluated = (suite: string, condition: string): Evaluated => {
  const found = evaluations.find((each) => each.suite === suite && each.condition === condition);
  if (found === undefined) throw new Error(`no evaluation of ${suite}, ${condition}`);
  return found;
};

const result = (page: Page): Locator => page.locator('[data-grade]');
const found = (page: Page): Locator => page.getByTestId('found');
const heading = (page: Page): Locator => page.getByRole('heading', { level: 1 });

async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let i = 0; i < 120; i++) {
    await page.keyboard.press('Tab');
    if (await target.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`the keyboard does not reach ${String(target)}`);
}

/** Numbers that the found text must hold, and the option that they bear out, each from another source than the page's own grading. */
async function oracle(page: Page, stage: StageId): Promise<{ readonly numbers: readonly string[]; readonly right: string }> {
  switch (stage) {
    case 'gap': {
      // Simpson's rule, against what SymPy says exactly.
      const f = (x: number): number => x * x * Math.exp(x);
      const n = 1000;
      const area = Array.from({ length: n + 1 }, (_, i) => (i === 0 || i === n ? 1 : i % 2 === 1 ? 4 : 2) * f(i / n)).reduce((a, b) => a + b, 0) / (3 * n);
      expect(Math.abs(area - (Math.E - 2))).toBeLessThan(1e-9);
      await expect(page.getByRole('main').getByRole('img', { name: /-2 \+ E/ })).toBeVisible();
      return { numbers: ['-2 + E'], right: 'exact' };
    }
    case 'interleaving': {
      // Characters of the five outputs, and two tags each.
      const outputs = ['0.697184', '0.718281', "NameError: name 'integrate' is not defined", '-2 + E', 'True'];
      return { numbers: [String(outputs.reduce((sum, output) => sum + output.length + 2, 0))], right: 'context' };
    }
    case 'scoring':
      // Answer 2, relaxed and strict format 0.5 each, no call that ran.
      return { numbers: [(2 + 0.5 + 0.5 + 0).toFixed(2)], right: 'less' };
    case 'comparing': {
      const group = recorded('step_00010.jsonl').trim().split('\n').map((line) => JSON.parse(line) as { group: number; reward: { total: number }; advantage: number }).filter((line) => line.group === 14);
      expect(new Set(group.map(({ reward }) => reward.total)).size).toBe(1);
      const most = Math.max(...group.map(({ advantage }) => Math.abs(advantage)));
      return { numbers: [(group[0]?.reward.total ?? NaN).toFixed(2), most.toFixed(2)], right: most === 0 ? 'no-push' : 'same-push' };
    }
    case 'masking': {
      // The engine's gradients, token by token, as the figure's table gives them.
      const details = page.getByRole('main').locator('section[data-open] details').last();
      await details.locator('summary').click();
      await expect(details.getByRole('table')).toBeVisible();
      const rows = await details.locator('tbody tr').evaluateAll((lines) => lines.map((line) => ({
        cells: [...line.querySelectorAll('td')].map((cell) => cell.textContent),
        values: [...line.querySelectorAll('data')].map((data) => Number(data.value)),
      })));
      // Columns: shares in the loss with the mask and without, then the gradients with it and without.
      const share = (column: number): number => {
        const sizes = rows.map(({ cells, values }) => ({ own: !cells.some((cell) => ['output', '输出', '輸出'].includes(cell)), size: Math.abs(values[column] ?? NaN) })).filter(({ size }) => Number.isFinite(size));
        return sizes.reduce((sum, { own, size }) => sum + (own ? size : 0), 0) / sizes.reduce((sum, { size }) => sum + size, 0);
      };
      const [masked, unmasked] = [share(2), share(3)];
      expect(rows.length).toBeGreaterThan(60);
      return { numbers: [masked, unmasked].map((x) => `${(100 * x).toFixed(1)}%`), right: masked > unmasked ? 'masked' : masked < unmasked ? 'unmasked' : 'either' };
    }
    case 'strategy': {
      const [before, after] = [evaluated('arithmetic', 'prompted'), evaluated('arithmetic', 'trained')];
      const rose = before.tiers.filter(({ calls }, i) => (after.tiers[i]?.calls ?? NaN) > calls).length;
      // Calls of the paper's 7B model, prompted and trained: MATH-500, AIME, AMC, Olympiad.
      const paper = [[4.3, 3], [0.3, 3], [1.1, 3.2], [3.2, 2.9]].filter(([a = 0, b = 0]) => b > a).length;
      return { numbers: [String(paper), String(4 - paper), String(rose)], right: paper === 4 ? 'everywhere' : paper === 0 ? 'nowhere' : 'some' };
    }
    case 'workflows': {
      const each = ({ workflow }: Evaluated): number => (workflow?.calls ?? NaN) / (workflow?.completed ?? NaN);
      const [before, after] = [each(evaluated('workflow', 'prompted')), each(evaluated('workflow', 'trained'))];
      return { numbers: ['236', '159', before.toFixed(2), after.toFixed(2)], right: after < before ? 'fewer-steps' : 'more-steps' };
    }
    case 'loop': {
      const said = await page.getByRole('main').getByText(/\d\.\d\d → \d\.\d\d/).first().textContent();
      const [, first = '', last = ''] = /(\d\.\d\d) → (\d\.\d\d)/.exec(said ?? '') ?? [];
      const change = Number(last) - Number(first);
      return { numbers: [first, last, '480'], right: change > 0.25 ? 'rises' : change < -0.25 ? 'falls' : 'stays' };
    }
  }
}

/** One stage by keyboard: predicts, lets it run, and holds the grade to an answer of the test's own. */
async function takeStage(page: Page, language: Language, stage: StageId, choice: number): Promise<boolean> {
  await expect(heading(page)).toHaveText(say(language, `lesson.${stage}.title`));
  const options: readonly string[] = OPTIONS[stage];
  const option = options[choice] ?? '';
  await expect(page.getByText(say(language, 'lesson.first'))).toBeVisible();
  await tabTo(page, page.getByRole('main').getByRole('radio').first());
  if (choice === 0) await page.keyboard.press('Space');
  for (let i = 0; i < choice; i++) await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('radio', { name: say(language, `lesson.option.${option}`) })).toBeChecked();
  await tabTo(page, page.getByRole('button', { name: say(language, 'lesson.run') }));
  await page.keyboard.press('Enter');
  await expect(result(page)).toContainText(say(language, `lesson.option.${option}`));
  if (stage === 'interleaving') {
    const all = page.getByRole('button', { name: say(language, 'lesson.stepAll') });
    await expect(all).toBeEnabled({ timeout: LONG });
    await tabTo(page, all);
    await page.keyboard.press('Enter');
  }
  await expect(found(page)).toBeVisible({ timeout: LONG });
  const { numbers, right } = await oracle(page, stage);
  for (const text of numbers) await expect(found(page)).toContainText(text);
  const isRight = right === option;
  await expect(result(page)).toHaveAttribute('data-grade', isRight ? 'right' : 'wrong');
  if (isRight) await expect(result(page)).not.toContainText(say(language, `lesson.rejoinder.${option}`));
  else await expect(result(page)).toContainText(say(language, `lesson.rejoinder.${option}`));
  expect(page.url()).toContain(`stage=${STAGES.indexOf(stage) + 1}&said=${option}`);
  return isRight;
}

/** Whether anything is wider than the page, and controls that lie on one another. */
async function collisions(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const main = document.querySelector('main');
    const bad: string[] = [];
    if (main !== null && main.scrollWidth > main.clientWidth) bad.push(`main is ${main.scrollWidth} wide of ${main.clientWidth}`);
    const boxes = [...document.querySelectorAll<HTMLElement>('main article :is(h1, h2, h3, button, a, label, summary, legend)')]
      .filter((element) => element.checkVisibility() && element.closest('[role=grid], ol, .hidden') === null)
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width > 1 && box.height > 1);
    for (const [i, a] of boxes.entries()) {
      for (const b of boxes.slice(i + 1)) {
        if (a.element.contains(b.element) || b.element.contains(a.element)) continue;
        const [x, y] = [Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left), Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top)];
        if (x > 2 && y > 2) bad.push(`${a.element.textContent} on ${b.element.textContent}`);
      }
    }
    return bad;
  });
}

test('@lesson all eight stages in three languages, by keyboard, with the network cut', async ({ page, baseURL }) => {
  const server = await flakyServer(baseURL ?? '');
  await page.goto(server.address);
  const machine = page.getByRole('region', { name: 'This machine' });
  await machine.getByRole('button', { name: /^Download for offline/ }).click();
  await expect(machine.getByText(/^Complete: \d+ files, .* verified$/)).toBeVisible({ timeout: LONG });
  await server.stop();
  await page.context().setOffline(true);
  await page.goto('about:blank');
  await page.goto(`${server.address}#/lesson`);

  const grades: boolean[] = [];
  for (const [choice, language] of (Object.keys(CATALOGUES) as Language[]).entries()) {
    await page.emulateMedia({ colorScheme: language === 'zh-Hans' ? 'dark' : 'light' });
    if (choice > 0) {
      // Radix keeps the list closed until a key opens it.
      await page.getByRole('banner').getByRole('combobox').focus();
      await page.keyboard.press('Enter');
      await page.getByRole('option', { name: NAMES[language] }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await expect(page.locator('html')).toHaveAttribute('lang', language);
      await tabTo(page, page.getByRole('button', { name: say(language, 'lesson.forget') }));
      await page.keyboard.press('Enter');
    }
    for (const [i, stage] of STAGES.entries()) {
      grades.push(await takeStage(page, language, stage, choice));
      // The third language has the figures of the second.
      if (language !== 'zh-Hant' || i % 3 === 0) expect(await serious(page), `${language}, ${stage}`).toEqual([]);
      const next = STAGES[i + 1];
      if (next === undefined) break;
      await tabTo(page, result(page).getByRole('link').first());
      await page.keyboard.press('Enter');
      await expect(heading(page)).toBeFocused();
    }
    await expect(page.getByRole('link', { name: new RegExp(say(language, 'lesson.checks.look')) })).toHaveCount(12);
  }
  // Right and wrong answers, of every stage both.
  expect(grades.filter(Boolean)).toHaveLength(8);
  expect(STAGES.every((_, i) => [0, 8, 16].filter((from) => grades[from + i]).length === 1)).toBe(true);

  // Back in a new page: where one was, with what one had said.
  await page.goto('about:blank');
  await page.goto(`${server.address}#/lesson`);
  await expect(heading(page)).toHaveText(say('zh-Hant', 'lesson.loop.title'));
  await expect(result(page)).toContainText(say('zh-Hant', 'lesson.option.falls'));
  await expect(result(page)).toHaveAttribute('data-grade', 'wrong');
});

test('@lesson a link opens a stage with its prediction and its state, and prints as a text to read', async ({ page }) => {
  await page.goto('/#/lesson?stage=3&said=less&attempt=dummy');
  await expect(heading(page)).toHaveText('Scoring');
  await expect(result(page)).toHaveAttribute('data-grade', 'right');
  await expect(page.getByRole('radio', { name: /Wrong, a useless call ran/ })).toBeChecked();
  await expect(page.getByText('Reward 2.000 of 4')).toBeVisible();
  await page.reload();
  await expect(page.getByText('Reward 2.000 of 4')).toBeVisible();
  await expect(page.getByRole('link', { name: /Scoring\s?, done, as predicted/ })).toHaveAttribute('aria-current', 'step');

  // The group of equal rewards, and the mixed one with a reward dragged: the lab's own figure.
  await page.goto('/#/lesson?stage=4&said=full-push&group=mixed');
  await expect(page.getByRole('rowheader')).toHaveText([/Rollout 1: reward 4\.00, advantage \+0\.99/, /0\.25/, /4\.00/, /0\.25/, /3\.50/, /0\.25/]);
  await page.getByRole('button', { name: 'Make all equal' }).click();
  await expect(page.getByRole('rowheader').first()).toHaveText(/advantage 0\.00/);

  // A booking up to the call that fails by no fault of its own.
  await page.goto('/#/lesson?stage=7&said=fewer-steps&calls=2');
  await expect(page.getByRole('main')).toContainText('SoldOut');

  // Who wrote each token, and which outputs are Python's.
  await page.goto('/#/lesson?stage=2&said=context&trace=apples');
  await expect(page.getByRole('heading', { name: 'Who wrote it?' })).toBeVisible({ timeout: LONG });
  const questions = page.getByRole('heading', { name: 'Who wrote it?' }).locator('xpath=..').getByRole('listitem');
  for (const [i, question] of (await questions.all()).entries()) {
    const environment = i === 2 || i === 5;
    await question.getByRole('radio', { name: environment ? 'Environment' : 'Policy' }).click();
    await expect(question.getByRole('status')).toContainText('Yes');
  }
  await page.getByRole('radio', { name: '0.5454545454545454 and 0.45454545454545453' }).check();
  await expect(page.getByText(/No\. These are the fractions, rounded once/)).toBeVisible();
  await page.getByRole('radio', { name: '0.5454545454545453 and 0.4545454545454544' }).check();
  await expect(page.getByText(/Yes\. Each product rounds a little/)).toBeVisible();

  await page.emulateMedia({ media: 'print' });
  const reading = page.getByTestId('reading');
  await expect(reading.getByRole('heading', { level: 2 })).toHaveCount(10);
  await expect(reading).toContainText('It printed -2 + E');
  await expect(reading).toContainText(say('en', 'lesson.check.selective.answer'));
  await expect(reading).toContainText(say('en', 'lesson.rejoinder.full-push'));
  await expect(page.getByRole('button')).toHaveCount(0);
  await expect(page.getByRole('link')).toHaveCount(0);
});

test('@lesson nothing overlaps on a phone, before and after the prediction', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  for (const [i, stage] of STAGES.entries()) {
    await page.goto(`/#/lesson?stage=${i + 1}`);
    await expect(heading(page)).toHaveText(say('en', `lesson.${stage}.title`));
    expect(await collisions(page), stage).toEqual([]);
    // Those that need neither engine nor a run of their own.
    if (stage === 'masking' || stage === 'loop') continue;
    await page.goto(`/#/lesson?stage=${i + 1}&said=${OPTIONS[stage][0]}`);
    if (stage !== 'interleaving') await expect(found(page)).toBeVisible({ timeout: LONG });
    else await expect(page.getByRole('button', { name: 'Show all' })).toBeEnabled({ timeout: LONG });
    expect(await collisions(page), stage).toEqual([]);
  }
});

test('@lesson with slow timers and no WebGPU it completes on the CPU engine', async ({ playwright, baseURL }) => {
  const executablePath = findChromium();
  const browser = await playwright.chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: process.getuid?.() === 0 ? ['--no-sandbox'] : [],
  });
  const page = await browser.newPage({ ...(baseURL === undefined ? {} : { baseURL }), locale: 'en-GB' });
  // Ten times as slow, and no WebGPU to be seen, in the page and in its workers.
  const slow = 'delete Object.getPrototypeOf(navigator).gpu; { const real = globalThis.setTimeout; globalThis.setTimeout = (f, ms = 0, ...rest) => real(f, 10 * ms, ...rest); }\n';
  await page.addInitScript(slow);
  await page.route(/assets\/worker[^/]*\.js/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: slow + (await response.text()) });
  });
  for (const [i, stage] of STAGES.entries()) {
    await page.goto(`/#/lesson?stage=${i + 1}`);
    await page.getByRole('main').getByRole('radio').nth(1).check();
    await page.getByRole('button', { name: say('en', 'lesson.run') }).click();
    if (stage === 'interleaving') {
      await expect(page.getByRole('button', { name: 'Show all' })).toBeEnabled({ timeout: LONG });
      await page.getByRole('button', { name: 'Show all' }).click();
    }
    await expect(found(page)).toBeVisible({ timeout: LONG });
  }
  await expect(page.getByRole('banner')).toContainText('no WebGPU');
  await expect(found(page)).toContainText('480 rollouts');
  await expect(found(page)).toContainText('CPU engine');
  await browser.close();
});
