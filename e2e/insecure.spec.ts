/** A page from a teacher's laptop over plain http: no WebGPU, no shared memory, and still a lab. */
import { expect, test } from '@playwright/test';

test.describe.configure({ timeout: 300_000 });

test('@main-job a page that is not a secure context says so, and trains on the CPU engine', async ({ page, baseURL }) => {
  const address = new URL(baseURL ?? '');
  address.hostname = 'classroom.test';
  await page.goto(address.href);
  expect(await page.evaluate(() => [isSecureContext, crossOriginIsolated, 'gpu' in navigator])).toEqual([false, false, false]);
  await expect(page.getByRole('banner')).toContainText('page not secure', { timeout: 60_000 });
  await expect(page.getByText('This page did not come over https or from localhost')).toBeVisible();

  await page.goto(`${address.href}#/train`);
  await page.getByRole('radio', { name: /^Quick/ }).click();
  await page.getByRole('button', { name: 'Train', exact: true }).click();
  await expect(page.getByRole('region', { name: 'Run', exact: true }).getByText(/^Step [2-9] of 40$/)).toBeVisible({ timeout: 200_000 });
});
