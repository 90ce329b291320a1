/** The tools by hand, on the real lab: Python under a rollout's limits, and a trip walked to its end with the keyboard alone. */
import { expect, test, type Locator, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import { EXAMPLE_TRIP, workflowOf } from '../src/tasks/workflow.ts';

// Python has to load first, which takes a small or busy machine long.
test.describe.configure({ timeout: 360_000 });

const main = (page: Page): Locator => page.getByRole('main');
const observed = (page: Page, text: string): Locator => main(page).getByRole('img', { name: text });

/** Moves the focus with Tab alone, forwards or backwards. */
async function tabTo(page: Page, target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  for (let i = 0; i < 60; i++) {
    if (await target.evaluate((element) => element === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`not reached by ${key}: ${String(target)}`);
}

async function openPython(page: Page): Promise<void> {
  await page.goto('/#/tools');
  await expect(main(page).getByText(/^CPython 3/)).toBeVisible({ timeout: 180_000 });
}

test('@evaluation a trip is walked to its end by keyboard, past a flight that is sold out', async ({ page }) => {
  const workflow = workflowOf({ question: EXAMPLE_TRIP });
  if (workflow.domain !== 'travel') throw new Error('a trip');
  const gone = workflow.database.flights.find(({ soldOut }) => soldOut)?.id ?? '';
  const { flight, hotel } = workflow.goal;
  await page.goto('/#/tools?part=travel');
  await expect(main(page).getByRole('heading', { name: 'The request' })).toBeVisible();
  const functions = (name: string): Locator => page.getByRole('radio', { name, exact: true });
  const state = (name: string): Locator => page.getByRole('region', { name: 'The state' }).getByRole('row', { name });
  const choose = async (name: string): Promise<void> => {
    await tabTo(page, page.getByRole('radio', { name: /^(search|book|rent|cancel)/, checked: true }), 'Shift+Tab');
    while (!(await functions(name).evaluate((element) => element === document.activeElement))) await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
  };

  await tabTo(page, functions('search_flights'));
  await page.keyboard.press('Tab');
  await page.keyboard.type('Beijing');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Shanghai');
  await page.keyboard.press('Tab');
  await page.keyboard.type('5');
  await page.keyboard.press('Tab');
  await page.keyboard.type('price');
  await expect(page.getByLabel('The call, as text')).toHaveValue('search_flights(from=Beijing, to=Shanghai, day=5, by=price)');
  await tabTo(page, page.getByRole('button', { name: 'Call', exact: true }));
  await page.keyboard.press('Enter');
  await expect(observed(page, `<tool_result>flights`)).toBeVisible();

  await choose('book_flight');
  await page.keyboard.press('Tab');
  await page.keyboard.type(gone);
  await page.keyboard.press('Enter');
  await expect(observed(page, `<tool_result>error: ${gone} is sold out</tool_result>`)).toBeVisible();
  await expect(page.getByText('No seat is left, which only booking could tell.')).toBeVisible();
  await expect(state('flight')).toHaveText(/–$/);

  // The ids of the list are suggested.
  await tabTo(page, page.getByRole('button', { name: String(flight), exact: true }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('button', { name: 'Call', exact: true }));
  await page.keyboard.press('Enter');
  await expect(state('flight')).toContainText(`changed in this call: ${flight}`);
  await expect(state('left of the budget')).toContainText('5,000 yuan');

  // A way is shown call by call, and not made.
  await page.keyboard.press('w');
  await expect(page.getByLabel('The call, as text')).toHaveValue('search_hotels(city=Shanghai, by=stars)');
  await tabTo(page, page.getByLabel('The call, as text'), 'Shift+Tab');
  await page.keyboard.press('Enter');
  await expect(observed(page, '<tool_result>hotels')).toBeVisible();

  for (const code of [`book_hotel(id=${hotel}, nights=3)`, 'rent_car(city=Shanghai, day=5, days=3)']) {
    await expect(page.getByText('Done: the state is as the request wants it')).toBeHidden();
    await page.keyboard.press('ControlOrMeta+A');
    await page.keyboard.type(code);
    await page.keyboard.press('Enter');
  }
  await expect(page.getByText('Done: the state is as the request wants it, and every needed call was made.')).toBeVisible();
  await expect(page.getByRole('row', { name: 'state 4 of 4' })).toContainText('0.500');
  await expect(page.getByRole('row', { name: 'functions 5 of 5' })).toContainText('0.500');

  // The address holds the walk.
  await page.reload();
  await expect(state('hotel')).toContainText(String(hotel));
  await expect(main(page).getByText('Call 6', { exact: true })).toBeVisible();
  await tabTo(page, page.getByRole('button', { name: 'Undo the last call' }));
  await page.keyboard.press('Enter');
  await expect(main(page).getByText('Call 6', { exact: true })).toBeHidden();
  await expect(state('days of the car')).toHaveText(/–$/);
});

test('@evaluation Python by hand shows the observation, and each limit where it acts', async ({ page }) => {
  await openPython(page);
  await tabTo(page, page.getByLabel('Code of the call'));
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type('print(6 * 7)');
  await page.keyboard.press('ControlOrMeta+Enter');
  await expect(observed(page, '4 tokens that the environment wrote, context only: <output>42</output>')).toBeVisible();
  const fact = (name: string): Locator => page.getByRole('table', { name: 'What the runtime says' }).getByRole('row', { name, exact: false });
  await expect(fact('outcome')).toHaveText(/ran\s*ran$/);

  const run = (name: string): Promise<void> => page.getByRole('button', { name: `Run the example: ${name}` }).click();
  await run('Long output');
  await expect(page.getByText('Cut at 40 characters: the policy never sees the other 21.')).toBeVisible();
  await expect(page.getByRole('region', { name: 'In full' })).toHaveText(String(2n ** 200n));

  await run('A name kept?');
  await expect(observed(page, "<output>NameError: name 'x' is not defined</output>")).toBeVisible();
  await expect(page.getByRole('row', { name: 'x = 1' })).toContainText('no output: use print()');

  await run('A tag printed');
  await expect(observed(page, '30 tokens that the environment wrote')).toBeVisible();
  await expect(page.getByText('A tag in the output stays text')).toBeVisible();

  await run('Endless loop');
  await expect(observed(page, '<output>TimeoutError: stopped after 2 s</output>')).toBeVisible();
  await expect(fact('failed how')).toContainText('out of time');
  await page.getByRole('button', { name: 'Stop' }).click();
  await expect(page.getByText('The call by hand: you stopped it.')).toBeVisible();

  // A sum of fractions: an integral takes a busy machine longer than a rollout allows.
  await page.getByLabel('Code of the call').fill('from sympy import Rational\nprint(Rational(1, 2) + Rational(1, 3))');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await expect(observed(page, '<output>5/6</output>')).toBeVisible({ timeout: 60_000 });
});

test('@evaluation the functions are taken away as JSON schema', async ({ page }) => {
  await page.goto('/#/tools?part=retail');
  await page.getByText('Show the JSON schema').click();
  const text = await page.getByRole('region', { name: 'Show the JSON schema' }).textContent();
  const schemas = JSON.parse(text ?? '') as { function: { name: string; parameters: { required: string[] } } }[];
  expect(schemas.map((schema) => [schema.function.name, schema.function.parameters.required])).toEqual([
    ['find_order', ['customer']], ['check_policy', ['order']], ['refund', ['order']], ['exchange', ['order', 'colour']],
  ]);
});

const WALKED = '/#/tools?part=travel&call=search_flights(from%3DBeijing%2C+to%3DShanghai%2C+day%3D5%2C+by%3Dprice)&call=book_flight(id%3DF6)&call=book_flight(id%3DF1)';
const HOSTILE = `/#/tools?part=retail&seed=3&call=${encodeURIComponent('<img src=x onerror="window.hacked = true">')}`;

for (const scheme of ['light', 'dark'] as const) {
  test(`@evaluation the tools pass axe in the ${scheme} theme`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await openPython(page);
    await page.getByRole('button', { name: 'Run the example: Exception' }).click();
    await expect(page.getByRole('region', { name: 'In full' })).toContainText('ZeroDivisionError');
    await page.getByText('Token by token, as a table').click();
    expect(await serious(page), 'python').toEqual([]);
    await page.goto(WALKED);
    await page.getByRole('button', { name: 'Am I there?' }).click();
    await page.getByText('The calls as a table').click();
    await page.getByRole('radio', { name: 'book_hotel' }).click();
    await expect(page.getByRole('row', { name: 'state 1 of 4' })).toBeVisible();
    expect(await serious(page), 'travel').toEqual([]);
    await page.goto(HOSTILE);
    await page.getByText('Show the JSON schema').click();
    expect(await serious(page), 'retail').toEqual([]);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });
}

test('@evaluation a narrow phone shows the tools without scrolling sideways', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
  await openPython(page);
  await page.getByRole('button', { name: 'Run the example: Long output' }).click();
  await expect(page.getByText('Cut at 40 characters: the policy')).toBeInViewport();
  const over = (): Promise<number> => main(page).evaluate((element) =>
    Math.max(...[element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)));
  expect(await over()).toBeLessThanOrEqual(0);
  for (const address of [WALKED, HOSTILE]) {
    await page.goto(address);
    await page.getByRole('button', { name: 'Am I there?' }).click();
    await page.getByText('The calls as a table').click();
    await page.getByText('Show the JSON schema').click();
    expect(await over()).toBeLessThanOrEqual(0);
  }
});
