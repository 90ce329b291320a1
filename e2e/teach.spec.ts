/** A teacher prepares a class, presents it, sends a link that hides controls, and prints the sheets. */
import { readFile } from 'node:fs/promises';
import { expect, test, type Page } from '@playwright/test';
import { compareGroup } from '../src/grpo/advantages.ts';
import { serious } from './harness/axe.ts';

async function open(page: Page, path: string): Promise<void> {
  await page.goto(`/#${path}`);
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeAttached();
}

const section = (page: Page, title: string): ReturnType<Page['getByRole']> => page.getByRole('listitem').filter({ has: page.getByRole('heading', { level: 3, name: title }) });

/** Whether anything on the page is wider than the page. */
const overflow = (page: Page): Promise<number> => page.evaluate(() => {
  const main = document.querySelector('main');
  return Math.max(document.documentElement.scrollWidth - innerWidth, (main?.scrollWidth ?? 0) - (main?.clientWidth ?? 0));
});

test('@lesson a teacher plans 45 minutes, changes a note, and presents by keyboard', async ({ page }) => {
  await open(page, '/teach');
  await page.getByRole('radio', { name: '20 min' }).click();
  await expect(section(page, 'Longer workflows')).toContainText('left out');
  await page.getByRole('radio', { name: '45 min' }).click();
  await expect(section(page, 'The loop')).toContainText('minute 36 to 42');
  await page.getByRole('textbox', { name: 'Minutes in all' }).fill('90');
  await expect(section(page, 'The loop')).toContainText('minute 72 to 84');
  await page.getByRole('radio', { name: '45 min' }).click();

  await page.getByRole('button', { name: 'Edit: notes for Masking' }).click();
  await page.getByRole('textbox', { name: 'notes for Masking' }).fill('Bring the two coloured pens.');
  await page.getByRole('button', { name: 'Done: notes for Masking' }).click();
  await page.reload();
  await expect(section(page, 'Masking')).toContainText('Bring the two coloured pens.');
  await expect(section(page, 'Masking')).toContainText('your words');

  await page.getByRole('link', { name: 'Present', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'The gap' })).toBeVisible();
  for (let i = 0; i < 4; i += 1) await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('heading', { level: 1, name: 'Masking' })).toBeVisible();
  // The notes hold the answers: the class does not see them before the teacher asks for them.
  await expect(page.getByRole('region', { name: 'Notes' })).toBeHidden();
  await page.keyboard.press('s');
  await expect(page.getByText('Bring the two coloured pens.')).toBeVisible();
  // Typing in a note is no turning of pages.
  await page.getByRole('button', { name: 'Edit: notes for Masking' }).click();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('s');
  await expect(page.getByRole('heading', { level: 1, name: 'Masking' })).toBeVisible();
  await page.getByRole('button', { name: 'Done: notes for Masking' }).click();
  await page.keyboard.press('s');
  await expect(page.getByRole('region', { name: 'Notes' })).toBeHidden();
  await page.keyboard.press('s');
  await page.keyboard.press('PageUp');
  await expect(page.getByRole('heading', { level: 1, name: 'Comparing' })).toBeVisible();
  await page.getByRole('button', { name: 'Start the clock' }).click();
  await expect(page.getByRole('status').filter({ hasText: '15 minutes ahead' })).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('heading', { level: 1, name: 'Teach' })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Pause the clock' })).toBeVisible();

  await page.getByRole('button', { name: 'Back to the original: notes for Masking' }).click();
  await expect(section(page, 'Masking')).toContainText('the output is in the context, yet not in the loss');
});

test('@lesson the lesson can be presented with the notes below', async ({ page }) => {
  await open(page, '/lesson?stage=3&present=1');
  const notes = page.getByRole('complementary', { name: 'Notes' });
  await expect(notes).toBeVisible();
  await expect(notes).not.toContainText('Let the class score');
  await page.keyboard.press('s');
  await expect(notes).toContainText('Let the class score three attempts by hand');
  await expect(page.getByRole('navigation', { name: 'Views' })).toBeHidden();
  await page.keyboard.press('PageDown');
  await expect(page.getByRole('heading', { level: 1, name: 'Comparing' })).toBeVisible();
  await expect(notes).toContainText('Six pupils stand up');
  await page.keyboard.press('Escape');
  await expect(notes).toBeHidden();
  await expect(page.getByRole('navigation', { name: 'Views' })).toBeVisible();
  await expect(page.getByRole('heading', { level: 1, name: 'Comparing' })).toBeVisible();
});

test('@lesson notes go out as a file and come back; a broken file changes nothing', async ({ page }) => {
  await open(page, '/teach');
  await page.getByRole('button', { name: 'Edit: notes for The gap' }).click();
  await page.getByRole('textbox', { name: 'notes for The gap' }).fill('First line.\n## not a section');
  await page.getByRole('textbox', { name: 'Minutes', exact: true }).first().fill('7');
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save as a file' }).click()]);
  const file = await readFile(await download.path(), 'utf8');
  expect(file).toContain('## gap, 7 minutes\nFirst line.\n\\## not a section\n');

  const give = (text: string): Promise<void> => page.getByLabel('Open a file').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
  await give('Atelier teaching notes 1\n\n## gasp, 4 minutes\nx\n');
  await expect(page.getByRole('alert')).toContainText('Line 3 names no section of the lesson.');
  await expect(section(page, 'The gap')).toContainText('First line.');
  await page.getByRole('button', { name: 'All notes back to the original' }).click();
  await expect(section(page, 'The gap')).not.toContainText('First line.');
  await give(file);
  await expect(page.getByRole('status').filter({ hasText: 'Read: 9 sections.' })).toBeVisible();
  await expect(section(page, 'The gap')).toContainText('## not a section');
  await expect(section(page, 'The gap')).toContainText('minute 0 to 7');
});

test('@lesson a link hides mask and reward settings, from view to view, until all is shown', async ({ page, context }) => {
  await open(page, '/teach');
  const builder = page.getByRole('region', { name: 'A link for the class' });
  await builder.getByRole('textbox', { name: 'Seed' }).fill('7');
  await builder.getByRole('checkbox', { name: 'Mask tool output' }).check();
  await builder.getByRole('checkbox', { name: 'Reward settings' }).check();
  await builder.getByRole('checkbox', { name: 'Engine' }).check();
  await expect(builder.getByRole('textbox', { name: 'Link' })).toHaveValue(/#\/train\?seed=7&hide=reward,engine,mask$/);
  const [pupil] = await Promise.all([context.waitForEvent('page'), builder.getByRole('link', { name: 'Open as a pupil' }).click()]);

  await expect(pupil.getByRole('note')).toContainText('This link hides: Reward settings, Engine, Mask tool output.');
  await expect(pupil.getByText('seed 7')).toBeVisible();
  await expect(pupil.getByRole('link', { name: 'GPU' }).or(pupil.getByRole('link', { name: 'CPU' }))).toHaveCount(0);
  // A preset that would change a hidden setting is not offered either.
  await expect(pupil.getByRole('radio', { name: 'Quick' })).toBeVisible();
  await expect(pupil.getByRole('radio', { name: 'Mask off' })).toHaveCount(0);
  await pupil.getByText('All settings').click();
  await expect(pupil.getByRole('textbox', { name: 'Steps' })).toBeVisible();
  await expect(pupil.getByRole('switch', { name: 'Mask tool output' })).toHaveCount(0);
  await expect(pupil.getByRole('group', { name: 'Reward' })).toHaveCount(0);

  await pupil.getByRole('link', { name: 'Group', exact: true }).click();
  await expect(pupil.getByRole('radiogroup', { name: 'Divide by' })).toBeVisible();
  await expect(pupil.getByRole('radiogroup', { name: 'No call is worth' })).toHaveCount(0);
  await expect(pupil.getByRole('region', { name: 'The reward rule' })).toHaveCount(0);
  await pupil.getByRole('link', { name: 'Update', exact: true }).click();
  await expect(pupil.getByRole('radio', { name: /Algorithms side by side/ })).toBeVisible();
  await expect(pupil.getByRole('radio', { name: /Mask on and off/ })).toHaveCount(0);
  await pupil.keyboard.press('m');
  await expect(pupil).not.toHaveURL(/[?&]mask=/);

  await pupil.getByRole('button', { name: 'Show all' }).click();
  await expect(pupil.getByRole('note').filter({ hasText: 'This link hides' })).toHaveCount(0);
  await expect(pupil.getByRole('radio', { name: /Mask on and off/ })).toBeVisible();
  await expect(pupil).not.toHaveURL(/hide=/);
});

test('@lesson a link can hide the rail and its entries', async ({ page }) => {
  await open(page, '/train?hide=rail,theme');
  await expect(page.getByRole('note')).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Views' })).toHaveCount(0);
  await open(page, '/group?run=recorded&step=1&hide=rail.train,signals,nonsense');
  await expect(page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Group' })).toBeVisible();
  await expect(page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Train' })).toHaveCount(0);
  await expect(page.getByRole('radiogroup', { name: 'Divide by' })).toBeVisible();
  await expect(page.getByRole('radiogroup', { name: 'Colour shows' })).toHaveCount(0);
});

test('@lesson worksheet and key are printed on paper alone; the key’s numbers are computed', async ({ page }) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  await open(page, '/teach?sheet=worksheet');
  await page.emulateMedia({ media: 'print' });
  // Black on white, in the dark theme too.
  expect(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--page').trim())).toBe('#ffffff');
  await expect(page.getByRole('heading', { name: 'Worksheet: learning to use a tool' })).toBeVisible();
  await expect(page.getByRole('banner')).toBeHidden();
  await expect(page.getByRole('navigation', { name: 'Views' })).toBeHidden();
  const row = page.getByRole('row').filter({ hasText: 'Wrong, a useless call ran' });
  await expect(row.getByRole('cell')).toHaveText(['', '1.00', '', '', '']);

  await page.emulateMedia({ media: 'screen' });
  await page.getByRole('link', { name: 'Answer key' }).click();
  await page.emulateMedia({ media: 'print' });
  const { advantages } = compareGroup([4, 3, 2.25, 2, 0.25, 0], 'sample-std');
  const signed = advantages.map((a) => `${a > 0 ? '+' : '−'}${Math.abs(a).toFixed(4)}`);
  expect(signed[0]).toBe('+1.3401');
  for (const [i, name] of ['Right, all calls ran', 'Right, every call failed', 'Right, without a call', 'Wrong, a useless call ran', 'Wrong, without a call', 'Nothing at all'].entries()) {
    await expect(page.getByRole('row').filter({ hasText: name }).getByRole('cell').last()).toHaveText(signed[i] ?? '');
  }
  await expect(page.getByText('Mean 1.9167, standard deviation (n − 1) 1.5546.')).toBeVisible();
  await expect(page.getByRole('listitem').filter({ hasText: 'An exact expression' }).first()).toContainText('☒');
  const pdf = await page.pdf({ preferCSSPageSize: true });
  const [, width, height] = /\/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf.toString('latin1')) ?? [];
  // A4 is 595 by 842 points.
  expect([Math.round(Number(width)), Math.round(Number(height))]).toEqual([595, 842]);
});

for (const [scheme, languages] of [['light', ['en', 'zh-Hant']], ['dark', ['en', 'zh-Hans']]] as const) {
  test(`@lesson the Teach page passes axe and fits 360 px, ${scheme}, in English and Chinese`, async ({ page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 360, height: 800 });
    for (const language of languages) {
      await page.addInitScript((code) => {
        localStorage.setItem('atelier.language', code);
      }, language);
      for (const path of ['/teach', '/teach?present=1&stage=4', '/teach?sheet=key', '/lesson?stage=3&present=1', '/train?hide=mask,settings']) {
        await page.goto('about:blank');
        await open(page, path);
        await expect(page.locator('html')).toHaveAttribute('lang', language);
        expect(await serious(page), `${path} in ${language}`).toEqual([]);
        expect(await overflow(page), `${path} in ${language}`).toBeLessThanOrEqual(0);
      }
    }
  });
}
