/** Home: three doors, where the visitor was, and whether this machine is ready, on one screen. */
import { expect, test, type Page } from '@playwright/test';
import type { FakeOptions } from '../src/ui/testing/fake-lab.ts';
import { serious } from './harness/axe.ts';
import { scriptedLab } from './harness/scripted.ts';

let fakeSource = '';

test.beforeAll(async () => {
  fakeSource = await scriptedLab();
});

async function open(page: Page, language: string, options: FakeOptions = {}): Promise<void> {
  await page.addInitScript(`window.fakeLab = ${JSON.stringify({ pace: 40, ...options })}; ${fakeSource}; localStorage.setItem('atelier.language', '${language}');`);
  await page.goto('/');
  await expect(page.getByRole('heading', { level: 2 }).first()).toBeVisible();
}

for (const language of ['en', 'zh-Hans', 'zh-Hant'] as const) {
  test(`@lesson doors and readiness stand on one screen, pass axe and fit a phone, ${language}`, async ({ page }) => {
    await page.setViewportSize({ width: 1280, height: 720 });
    await open(page, language, { stored: [[12, 40]], reason: 'software-adapter' });
    const sections = page.getByRole('main').getByRole('region');
    for (let i = 0; i < 4; i++) await expect(sections.nth(i)).toBeInViewport({ ratio: 1 });
    for (const scheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      expect(await serious(page), scheme).toEqual([]);
    }
    await page.setViewportSize({ width: 360, height: 800 });
    const over = await page.getByRole('main').evaluate((element) =>
      [element, document.documentElement].map(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth));
    expect(Math.max(...over)).toBeLessThanOrEqual(0);
  });
}

test('@lesson each door leads where it says', async ({ page }) => {
  await open(page, 'en');
  for (const [door, path] of [['Lesson', '#/lesson'], ['Teach', '#/teach']] as const) {
    await expect(page.getByRole('region', { name: door, exact: true }).getByRole('link')).toHaveAttribute('href', path);
  }
  const lab = page.getByRole('region', { name: 'Lab', exact: true });
  await lab.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page).toHaveURL(/#\/train/);
  await expect(page.getByRole('main').getByText(/^Step [1-9]\d* of 40$/)).toBeVisible();
});

test('@lesson whoever comes back reads first where they were, and goes on from there', async ({ page }) => {
  await open(page, 'en', { stored: [[12, 40]], pace: 400 });
  await page.evaluate(() => { localStorage.setItem('atelier.lesson', 'masking'); });
  await page.reload();
  await expect(page.getByRole('region', { name: 'Lesson', exact: true })).toContainText('You were at stage 5 of 8');
  const lab = page.getByRole('region', { name: 'Lab', exact: true });
  await expect(lab).toContainText('Your run stopped at step 12 of 40');
  await lab.getByRole('button', { name: 'Resume it' }).click();
  await expect(page.getByRole('main').getByText(/^Step (1[3-9]|[2-4]\d) of 40$/)).toBeVisible();
  // And the estimate of the next visit is that of this one.
  await page.goto('/#/');
  await page.reload();
  await expect(page.getByRole('region', { name: 'This machine' })).toContainText(/s for one training step/);
});
