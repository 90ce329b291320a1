/** The page speaks the browser's language, or the one that was chosen, in every view. */
import { expect, test, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';
import { scriptedLab } from './harness/scripted.ts';

let fakeSource = '';

test.beforeAll(async () => {
  fakeSource = await scriptedLab();
});

async function open(page: Page, address = '/'): Promise<void> {
  await page.addInitScript(`window.fakeLab = { pace: 40 }; ${fakeSource}`);
  await page.goto(address);
  await expect(page.getByRole('main').getByRole('heading').first()).toBeVisible();
}

const language = (page: Page): Promise<string | null> => page.locator('html').getAttribute('lang');

for (const [locale, lang, title] of [
  ['en-GB', 'en', 'Home – Atelier'],
  ['zh-CN', 'zh-Hans', '首页 – Atelier'],
  ['zh-TW', 'zh-Hant', '首頁 – Atelier'],
  ['zh-HK', 'zh-Hant', '首頁 – Atelier'],
  ['de-DE', 'en', 'Home – Atelier'],
] as const) {
  test(`@lesson a browser in ${locale} meets the page in ${lang}`, async ({ browser }) => {
    const page = await browser.newPage({ locale });
    await open(page);
    expect(await language(page)).toBe(lang);
    await expect(page).toHaveTitle(title);
    await page.close();
  });
}

test('@lesson the language is switched by keyboard, keeps the focus and outlives a reload', async ({ browser }) => {
  const page = await browser.newPage({ locale: 'zh-CN' });
  await open(page, '/#/train');
  await expect(page.getByRole('button', { name: '训练', exact: true })).toBeVisible();
  await page.getByRole('combobox', { name: '语言' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: '訓練', exact: true })).toBeVisible();
  await expect(page.getByRole('combobox', { name: '語言' })).toBeFocused();
  expect(await language(page)).toBe('zh-Hant');
  await expect(page).toHaveTitle('訓練 – Atelier');
  await page.reload();
  await expect(page.getByRole('button', { name: '訓練', exact: true })).toBeVisible();
  await page.getByRole('combobox', { name: '語言' }).click();
  await page.getByRole('option', { name: 'English' }).click();
  await expect(page.getByRole('button', { name: 'Train', exact: true })).toBeVisible();
  await page.close();
});

/** What a person would see or hear that has three Latin words and no Han, outside of code, tokens and names. */
async function english(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const isEnglish = (text: string): boolean => !/\p{Script=Han}/u.test(text) && (text.match(/[A-Za-z]{2,}/g)?.length ?? 0) >= 3;
    const found = new Set<string>();
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const element = node instanceof Element ? node : node.parentElement;
      if (element === null || !element.checkVisibility() || element.closest('code, pre, textarea, [lang="en"], [data-token], style, script') !== null) continue;
      const texts = node instanceof Element ? ['aria-label', 'aria-valuetext', 'title', 'placeholder', 'alt'].map((name) => node.getAttribute(name) ?? '') : [node.textContent ?? ''];
      for (const text of texts) if (isEnglish(text)) found.add(text.trim());
    }
    return [...found];
  });
}

/** What stays as it is in every language. */
const ALIKE = [
  // What a policy wrote.
  /<think>|<python>|tiny:|print\(/,
  // Names in the code of an update.
  /dLoss\/dlogp|logSoftmax/,
  // An adapter, as the engine names it.
  /^CPU \(WebAssembly\)/,
  // Names of algorithms, models and benchmarks.
  /^(?:GRPO|Qwen2\.5|DeepSeek|NuminaMath|ToRA)/,
];

for (const [lang, locale] of [['zh-Hans', 'zh-CN'], ['zh-Hant', 'zh-TW']] as const) {
  test(`@lesson no English sentence is left in ${lang}, and axe finds nothing`, async ({ browser }) => {
    const page = await browser.newPage({ locale });
    await open(page);
    for (const view of ['', 'train', 'group', 'rollout', 'update', 'compare', 'tools']) {
      await page.goto(`/#/${view}`);
      await expect(page.getByRole('navigation').locator('[aria-current="page"]')).toHaveAttribute('href', new RegExp(`^#/${view}`));
      await expect(page.getByRole('main')).toContainText(/\p{Script=Han}/u);
      expect((await english(page)).filter((text) => !ALIKE.some((name) => name.test(text))), view).toEqual([]);
      if (['', 'train', 'group'].includes(view)) expect(await serious(page), view).toEqual([]);
    }
    await page.close();
  });
}
