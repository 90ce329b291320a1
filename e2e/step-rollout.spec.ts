/**
 * A rollout stepped through, searched, copied and branched, by keyboard. First on the real lab and the recorded run;
 * then odd content on the scripted lab.
 */
import { readFileSync } from 'node:fs';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import type { StepRecord, TrainedTrajectory } from '../src/grpo/record.ts';
import { Tokenizer } from '../src/policy/tokenizer.ts';
import { spansOf } from '../src/rollout/grammar.ts';
import { ENVIRONMENT, POLICY, PROMPT, tagsOf } from '../src/rollout/trajectory.ts';
import { syntheticStep } from '../src/ui/testing/synthetic.ts';
import { scriptedLab, serveRecorded, SETTINGS } from './harness/scripted.ts';

/** An engine of its own, and Python, on two busy cores. */
const LONG = 120_000;
test.describe.configure({ timeout: 300_000 });

const strip = (page: Page): Locator => page.getByRole('grid', { name: 'Tokens of the rollout' });
const sentence = (page: Page): Locator => page.getByTestId('sentence');
const draw = (page: Page): Locator => page.getByRole('region', { name: 'The draw' });
const standsIn = (page: Page): Locator => page.getByRole('list', { name: 'The rollout turn by turn' }).locator('button[aria-current]');
const branches = (page: Page): Locator => page.getByRole('region', { name: 'Branches with their rewards' }).getByRole('row');

/** Opens a `details` by keyboard and gives the rows of its table by column name. */
async function table(page: Page, name: string): Promise<Record<string, string>[]> {
  await page.getByText(name, { exact: true }).focus();
  await page.keyboard.press('Enter');
  const region = page.getByRole('region', { name, exact: true });
  await expect(region.getByRole('table')).toBeVisible();
  const [head = [], ...rows] = await region.getByRole('row').evaluateAll((all) =>
    all.map((row) => [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText)));
  return rows.map((row) => Object.fromEntries(head.map((column, i) => [column, row[i] ?? ''])));
}

test.describe('on the real lab', () => {
  interface Line {
    readonly group: number;
    readonly rollout: number;
    readonly tokens: readonly number[];
    readonly owner: readonly number[];
    readonly log_probs: readonly (number | null)[];
    readonly calls: readonly { readonly ok: boolean }[];
    readonly spans: readonly { readonly kind: string; readonly start: number; readonly end: number }[];
  }
  /** A rollout that called Python once, with success, as it lies on disk. */
  const line = ((): Line => {
    const lines = readFileSync(new URL('../public/recorded/step_00005.jsonl', import.meta.url), 'utf8').trim().split('\n').map((text) => JSON.parse(text) as Line);
    const found = lines.find(({ calls, rollout }) => rollout > 0 && calls.length === 1 && calls[0]?.ok === true);
    if (found === undefined) throw new Error('no rollout of the recorded step called Python once');
    return found;
  })();
  const call = line.spans.find(({ kind }) => kind === 'call');
  const place = `run=recorded&step=5&question=${line.group + 1}`;

  test('@step-through a rollout is opened from its group, stepped to its call and its output, and branched from an edited call', async ({ page }) => {
    await page.goto(`/#/group?${place}`);
    await page.getByRole('grid').focus();
    await page.keyboard.press('ArrowRight');
    for (let i = 0; i < line.rollout; i++) await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expect(page).toHaveURL(new RegExp(`#/rollout\\?.*rollout=${line.rollout + 1}`));

    // The engine that draws the bars has the weights that sampled.
    await expect(draw(page)).toContainText(/Checked on [\d,]+ tokens: log-probs differ from the stored ones by [\d.e−]+ at most\. CPU engine/, { timeout: LONG });

    // By turn to the call, by token through it.
    await page.keyboard.press('u');
    await expect(page.getByRole('radio', { name: 'Turn' })).toBeChecked();
    for (let i = 0; i < 4 && !(await standsIn(page).innerText()).includes('call 1'); i++) await page.keyboard.press('k');
    await expect(standsIn(page)).toContainText('call 1');
    await expect(sentence(page)).toContainText(`token ${call?.start ?? NaN}, “<python>”, call. The policy drew it`);
    await page.keyboard.press('u');
    for (let i = 0; i < 2; i++) await page.keyboard.press('u');
    await expect(page.getByRole('radio', { name: 'Token' })).toBeChecked();
    await page.keyboard.press('.');
    const at = (call?.start ?? 0) + 1;
    await expect(page).toHaveURL(new RegExp(`token=${at}(&|$)`));

    // The bars are a distribution, and hold what was drawn at the probability that was stored.
    const shares = (await draw(page).getByRole('listitem').allInnerTexts()).flatMap((text) => [...text.matchAll(/([\d.]+)\s%/g)].map(([, share]) => Number(share)));
    const stored = Math.exp(line.log_probs[at] ?? NaN);
    expect(shares.some((share) => Math.abs(share - 100 * stored) <= 0.06 + (stored < 0.0005 || stored > 0.9995 ? 0.1 : 0))).toBe(true);
    const drawn = (await table(page, 'The draws as a table')).filter((row) => row['written by'] === 'policy');
    expect(drawn).toHaveLength(line.owner.filter((owner) => owner === POLICY).length);
    for (const row of drawn) {
      const number = (name: string): number => Number((row[name] ?? '').replace('−', '-'));
      expect(Math.abs(number('log-prob') - number('log-prob when drawn'))).toBeLessThanOrEqual(0.0011);
    }
    await page.keyboard.press('Enter');

    // The observation was not drawn, and it says so.
    for (let i = 0; i < 40 && !(await standsIn(page).innerText()).includes('output'); i++) await page.keyboard.press('k');
    await expect(sentence(page)).toContainText('“<output>”, output. Not drawn: the environment wrote it.');

    // Back to the call: other code, real Python, and the policy runs on.
    await page.keyboard.press('j');
    await expect(standsIn(page)).toContainText('call 1');
    await page.keyboard.press('e');
    await expect(page.getByRole('textbox', { name: 'Code of the call' })).toBeFocused();
    await page.keyboard.press('Control+a');
    await page.keyboard.type('print(40+2)');
    await page.keyboard.press('Control+Enter');
    await expect(page).toHaveURL(/branch=1/);
    await expect(branches(page).filter({ hasText: `Branch 1: another call at token ${at}, by the policy that wrote it` })).toContainText(/ended|stopped/, { timeout: LONG });
    await expect(strip(page)).toContainText('print(40+2)</python>');
    await expect(strip(page)).toContainText('<output>42</output>');
    await expect(page.getByRole('grid', { name: 'Tokens of what the branch leaves' })).toBeVisible();
    await expect(sentence(page)).toContainText('Not drawn: you put it in');
    // The shared beginning is that of the rollout.
    await expect(strip(page).locator('[data-shared]')).toHaveCount(at);
    expect(await serious(page)).toEqual([]);

    // A call that fails, branched from the branch: what Python said is there.
    await page.keyboard.press('e');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('1/0');
    await page.keyboard.press('Control+Enter');
    await expect(branches(page).filter({ hasText: 'Branch 2' })).toContainText('Python: ZeroDivisionError: division by zero', { timeout: LONG });
    await expect(branches(page)).toHaveCount(4);
    await page.getByRole('radio', { name: 'Dark' }).click();
    expect(await serious(page)).toEqual([]);
  });

  test('@step-through another token, or other random numbers, make a branch; it can be taken away', async ({ page }) => {
    await page.goto(`/#/rollout?${place}&rollout=${line.rollout + 1}&token=${line.owner.indexOf(POLICY)}`);
    const instead = draw(page).getByRole('button', { name: /take it instead, and run on$/ }).first();
    await expect(instead).toBeVisible({ timeout: LONG });
    await instead.focus();
    await page.keyboard.press('Enter');
    await expect(branches(page).filter({ hasText: /Branch 1: “.*” at token/ })).toContainText(/ended|stopped/, { timeout: LONG });
    await page.keyboard.press('r');
    await expect(branches(page).filter({ hasText: 'Branch 2: drawn again from token' })).toContainText(/ended|stopped/, { timeout: LONG });
    await page.getByRole('button', { name: 'Take branch 1 away' }).focus();
    await page.keyboard.press('Enter');
    // Branch 2 left branch 1: it goes with it.
    await expect(branches(page)).toHaveCount(0);
    await expect(page.getByRole('heading', { name: `Rollout ${line.rollout + 1}: reward` })).toBeVisible();
  });
});

test.describe('on the scripted lab', () => {
  let source = '';
  test.beforeAll(async () => {
    source = await scriptedLab();
  });

  const tokenizer = new Tokenizer();
  const [first] = [syntheticStep({ step: 1, seed: 5, grpo: SETTINGS.grpo, progress: 1 })];
  const model = first.groups[0]?.members.find(({ calls }) => calls.length > 0);
  if (model === undefined) throw new Error('no rollout with a call');

  /** A rollout that was never updated with, from texts and who wrote them. */
  function told(parts: readonly (readonly [string, 0 | 1 | 2])[], more: Partial<TrainedTrajectory> = {}): TrainedTrajectory {
    const pieces = parts.map(([text, who]) => [tokenizer.encode(text), who] as const);
    const ids = pieces.flatMap(([some]) => [...some]);
    const owner = pieces.flatMap(([some, who]) => [...some].map(() => who));
    return {
      ...(model as TrainedTrajectory), calls: [], update: undefined, ...more,
      tokens: Uint32Array.from(ids), owner: Uint8Array.from(owner), spans: spansOf(ids, owner, tagsOf(tokenizer)),
      logProbs: Float32Array.from(owner, (who) => (who === POLICY ? -0.5 : NaN)), weights: Float32Array.from(owner, (who) => (who === POLICY ? 0.001 : 0)),
    };
  }

  async function open(page: Page, members: readonly TrainedTrajectory[], more = ''): Promise<void> {
    const record: StepRecord = { ...first, groups: first.groups.slice(0, 1).map((group) => ({ ...group, members })) };
    await page.addInitScript(source);
    await serveRecorded(page, [record]);
    await page.goto(`/#/rollout?run=recorded&step=1${more}`);
    await expect(strip(page)).toBeVisible();
  }

  const plain = told([['<bos>2+2', PROMPT], ['<think>easy: say it</think><python>print(2+2)</python>', POLICY], ['<output>4</output>', ENVIRONMENT], ['<answer>4</answer><eos>', POLICY]],
    { calls: [{ code: 'print(2+2)', ok: true, output: '4', truncated: false, seconds: 0.002 }] });

  test('@step-through the transport plays to the end, stops at the end and on whatever else the person does', async ({ page }) => {
    await open(page, [plain, plain]);
    const play = page.getByRole('region', { name: 'Step through' });
    await play.getByRole('combobox', { name: 'Speed' }).click();
    await page.getByRole('option', { name: '25 a second' }).click();
    await page.getByRole('main').focus();
    await page.keyboard.press(' ');
    await expect(play.getByRole('button', { name: 'Pause the steps' })).toBeVisible();
    // Another key stops it where it is.
    await page.keyboard.press('1');
    await expect(play.getByRole('button', { name: 'Play' })).toBeVisible();
    await page.keyboard.press(' ');
    await expect(play.getByRole('slider', { name: 'Place' })).toHaveAttribute('aria-valuenow', String(plain.tokens.length - 1));
    await expect(play.getByRole('button', { name: 'Play' })).toBeDisabled();
    await expect(play.getByRole('button', { name: 'Step on' })).toBeDisabled();
    // By rollouts it goes on to the next one, from its beginning.
    await page.keyboard.press('u');
    await page.keyboard.press('u');
    await expect(page.getByRole('radio', { name: 'Rollout' })).toBeChecked();
    await page.keyboard.press('k');
    await expect(page).toHaveURL(/rollout=2/);
    await expect(page).not.toHaveURL(/token=/);
  });

  test('@step-through ? lists the keys of the view', async ({ page }) => {
    await open(page, [plain]);
    await page.keyboard.press('?');
    const dialog = page.getByRole('dialog', { name: 'Keys of this view' });
    for (const words of ['Step back', 'Play, pause', 'Edit the call or the output here', 'Find in this rollout', 'Choose the colour of the tokens', '0 to 8']) await expect(dialog).toContainText(words);
    expect(await serious(page)).toEqual([]);
    // While it is open the keys of the view rest.
    await page.keyboard.press('k');
    await expect(page).not.toHaveURL(/token=/);
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
  });

  test('@step-through search goes across tokens, forwards and backwards', async ({ page }) => {
    await open(page, [plain]);
    await page.keyboard.press('/');
    await page.keyboard.type('2+2');
    const find = page.getByRole('search');
    await expect(find).toContainText('2 found');
    await page.keyboard.press('Enter');
    await expect(find).toContainText('1 of 2');
    await expect(strip(page).locator('[data-match]')).toHaveCount(6);
    await page.keyboard.press('Enter');
    await expect(find).toContainText('2 of 2');
    await strip(page).focus();
    await page.keyboard.press('N');
    await expect(find).toContainText('1 of 2');
    await expect(page).toHaveURL(/token=1&find=2/);
    await page.keyboard.press('/');
    await page.keyboard.type('nowhere');
    await expect(find).toContainText('not found');
  });

  test('@step-through any part is copied as text, ids or JSON; a refusal is said in place', async ({ page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(page, [plain], '&token=4');
    const copied = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await strip(page).focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press('Shift+ArrowRight');
    await page.getByRole('button', { name: 'Copy as Text' }).focus();
    await page.keyboard.press('Enter');
    await expect(page.getByText('Copied: 5 tokens, Text')).toBeVisible();
    expect(await copied()).toBe('<think>easy');
    await page.getByRole('button', { name: 'Copy as Ids' }).click();
    await expect(page.getByText('Copied: 5 tokens, Ids')).toBeVisible();
    expect(JSON.parse(await copied())).toEqual([...plain.tokens.slice(4, 9)]);
    await page.getByRole('combobox', { name: 'What to copy' }).click();
    await page.getByRole('option', { name: 'Copy all' }).click();
    await page.getByRole('button', { name: 'Copy as JSON' }).click();
    await expect(page.getByText(`Copied: ${plain.tokens.length} tokens, JSON`)).toBeVisible();
    const { tokens } = JSON.parse(await copied()) as { tokens: { owner: string }[] };
    expect(tokens.filter(({ owner }) => owner === 'environment')).toHaveLength(plain.owner.filter((who) => who === ENVIRONMENT).length);
    await page.getByRole('button', { name: 'Link to here' }).click();
    await expect(page.getByText('Copied: link')).toBeVisible();
    expect(await copied()).toBe(page.url());

    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new Error('no'));
    });
    await page.getByRole('button', { name: 'Copy as Text' }).click();
    await expect(page.getByRole('textbox', { name: 'To copy by hand' })).toHaveValue(tokenizer.decode(plain.tokens));
  });

  test('@step-through odd rollouts are readable, and nothing in them is interpreted', async ({ page }) => {
    const hostile = '<img src=x onerror="window.hacked = true"> \u202egnp.exe \u0301\u0000\u001b[31m مرحبا';
    const odd = [
      told([]),
      told([['<bos>1+1', PROMPT], ['<think>on and on', POLICY]], { stop: 'length' }),
      told([['<bos>1+1', PROMPT], ['<python>print(1+1)', POLICY]], { stop: 'length' }),
      told([['<bos>1+1', PROMPT], ['<output>2</output><answer><img src=x onerror="window.hacked=1"></answer><eos>', POLICY]]),
      told([['<bos>1+1', PROMPT], ['<python>x</python>', POLICY], ['<output>?</output>', ENVIRONMENT], ['<eos>', POLICY]],
        { calls: [{ code: hostile, ok: false, output: hostile, truncated: false, errorKind: 'exception', errorType: hostile, seconds: 2 }] }),
      told([['<bos>1+1', PROMPT], ...Array.from({ length: 200 }, (_, i) => [[`<python>print(${i})</python>`, POLICY], [`<output>${i}</output>`, ENVIRONMENT]] as const).flat(), ['<eos>', POLICY]],
        { calls: Array.from({ length: 200 }, (_, i) => ({ code: `print(${i})`, ok: true, output: String(i), truncated: false, seconds: 0 })) }),
    ];
    await open(page, odd);
    const choose = (n: number): Promise<void> => page.getByRole('list', { name: 'Rollouts of this question' }).getByRole('button').nth(n - 1).click();
    await expect(strip(page)).toContainText('This rollout has no tokens.');
    expect(await serious(page)).toEqual([]);
    for (const key of ['k', 'j', 'e', 'n', ' ']) await page.keyboard.press(key);

    await choose(2);
    await expect(strip(page)).toContainText('on␣and␣onnot closedstopped: too long');
    await choose(3);
    await expect(strip(page)).toContainText('<python>print(1+1)not closed');
    await choose(4);
    await expect(strip(page)).toContainText('</output>forged');
    await expect(strip(page)).toContainText('<img␣src=x␣onerror="window.hacked=1">');
    await choose(5);
    await expect(page.getByText('ran').or(page.getByText(/failed: <img src=x/)).first()).toBeVisible();
    await choose(6);
    await expect(page.getByRole('list', { name: 'The rollout turn by turn' }).getByRole('button')).toHaveCount(402);
    await page.getByRole('slider', { name: 'Place' }).focus();
    await page.keyboard.press('End');
    await expect(standsIn(page)).toBeInViewport();
    await expect(strip(page).getByRole('gridcell', { selected: true })).toBeInViewport();
    const turns = await table(page, 'The turns as a table');
    expect(turns).toHaveLength(402);
    expect(turns[400]).toMatchObject({ part: 'output', 'written by': 'environment', text: '199' });
    expect(await page.locator('main img').count()).toBe(0);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  test('@step-through a rollout of 10,000 tokens: every token has an address, and only what is near the screen is drawn', async ({ page }) => {
    const words = 'all of this is one long thought, ';
    const long = told([['<bos>1+1', PROMPT], [`<think>${words.repeat(400).slice(0, 9990)}`, POLICY]], { stop: 'length' });
    await open(page, [long], '&token=7777');
    const cell = strip(page).getByRole('gridcell', { selected: true });
    await expect(cell).toHaveText(tokenizer.token(long.tokens[7777] ?? 0).replace(' ', '␣'));
    await expect(cell).toBeInViewport();
    await expect(sentence(page)).toContainText('token 7,777,');
    expect(await strip(page).getByRole('gridcell').count()).toBeLessThan(6000);
    await strip(page).focus();
    await page.keyboard.press('Home');
    await expect(sentence(page)).toContainText('token 0, “<bos>”');
    await expect(cell).toBeInViewport();
    await page.keyboard.press('End');
    await expect(cell).toBeInViewport();
    await expect(page).toHaveURL(new RegExp(`token=${long.tokens.length - 1}$`));
  });

  test('@step-through a narrow phone shows a rollout without scrolling sideways', async ({ page }) => {
    await page.setViewportSize({ width: 360, height: 800 });
    await open(page, [plain, plain, plain], '&token=5&signal=logprob');
    const over = await page.getByRole('main').evaluate((element) => [element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...over)).toBeLessThanOrEqual(0);
  });
});
