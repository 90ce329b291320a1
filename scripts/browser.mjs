/**
 * Finds a Chromium for the tests, and with it the software Vulkan driver (SwiftShader) that lets the WGSL
 * kernels run in Node on a machine without a GPU.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Browsers that Playwright downloaded, newest first. */
function playwrightBrowsers() {
  const root = process.env.PLAYWRIGHT_BROWSERS_PATH ?? join(homedir(), '.cache', 'ms-playwright');
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)))
    .flatMap((name) => [join(root, name, 'chrome-linux64', 'chrome'), join(root, name, 'chrome-linux', 'chrome')]);
}

const SYSTEM = [
  // Debian's /usr/bin/chromium is a shell script around this binary.
  '/usr/lib/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** @returns {string | undefined} the path of a Chromium, or undefined where there is none. */
export function findChromium() {
  const named = process.env.ATELIER_CHROMIUM;
  return [...(named ? [named] : []), ...SYSTEM.slice(0, 1), ...playwrightBrowsers(), ...SYSTEM.slice(1)].find((path) => existsSync(path));
}

/**
 * The environment under which Dawn (the npm package `webgpu`) finds SwiftShader beside the browser.
 * Empty where it lies elsewhere; Dawn then uses whatever Vulkan driver the machine has.
 * @returns {Record<string, string>}
 */
export function softwareVulkan() {
  const chromium = findChromium();
  if (chromium === undefined) return {};
  const folder = dirname(chromium);
  const icd = join(folder, 'vk_swiftshader_icd.json');
  if (!existsSync(icd)) return {};
  return {
    VK_ICD_FILENAMES: icd,
    LD_LIBRARY_PATH: [folder, process.env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter),
  };
}
