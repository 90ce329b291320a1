/** The reference: everything on one page that can be linked into, searched, read in three languages and printed. */
import { expect, test, type Page } from '@playwright/test';
import { serious } from './harness/axe.ts';

const SECTIONS = ['glossary', 'formulas', 'keys', 'colours', 'provenance', 'simplifications', 'elsewhere'];

async function open(page: Page, language: string, search = ''): Promise<void> {
  await page.addInitScript((code) => { localStorage.setItem('atelier.language', code); }, language);
  await page.goto(`/#/reference${search}`);
  await expect(page.getByRole('main').locator('math').first()).toBeVisible();
}

for (const language of ['en', 'zh-Hans', 'zh-Hant'] as const) {
  test(`@lesson the reference passes axe and fits a phone, ${language}`, async ({ page }) => {
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await open(page, language);
      expect(await serious(page), scheme).toEqual([]);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    const over = await page.getByRole('main').evaluate((element) =>
      [element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...over)).toBeLessThanOrEqual(0);
  });
}

test('@lesson a section has an address, and the contents lead to each', async ({ page }) => {
  await open(page, 'en', '?section=keys');
  await expect(page.getByRole('heading', { name: 'Keys', exact: true })).toBeInViewport();
  for (const section of SECTIONS) {
    await page.getByRole('navigation', { name: 'Contents' }).getByRole('link').nth(SECTIONS.indexOf(section)).click();
    await expect(page).toHaveURL(new RegExp(`#/reference\\?section=${section}$`));
    await expect(page.locator(`#reference-${section} h2`)).toBeInViewport();
  }
});

test('@lesson the glossary is searched in both languages, and the search is in the address', async ({ page }) => {
  await open(page, 'zh-Hans');
  const glossary = page.getByRole('region', { name: '术语表' });
  await expect(glossary.getByRole('term').first()).toBeVisible();
  const all = await glossary.getByRole('term').count();
  await page.getByRole('searchbox').fill('rollout');
  await expect(glossary.getByRole('term').filter({ hasText: '轨迹' }).filter({ hasText: 'rollout' })).toBeVisible();
  expect(await glossary.getByRole('term').count()).toBeLessThan(all);
  await expect(page).toHaveURL(/find=rollout/);
  await page.reload();
  await expect(page.getByRole('searchbox')).toHaveValue('rollout');
});

test('@lesson formulas lead to the operation that shows them live', async ({ page }) => {
  await open(page, 'en', '?section=formulas');
  await page.getByRole('article').filter({ hasText: 'Probability ratio' }).getByRole('link').click();
  await expect(page).toHaveURL(/#\/update\?op=ratio/);
  await expect(page.getByRole('main')).toContainText('ρ');
});

test('@lesson all of it is printed', async ({ page }) => {
  await open(page, 'en');
  await page.emulateMedia({ media: 'print' });
  await expect(page.getByRole('banner')).toBeHidden();
  expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(3000);
});
