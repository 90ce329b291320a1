/**
 * Finds a Chromium for the tests, and with it the software Vulkan driver (SwiftShader) that lets the WGSL
 * kernels run in Node on a machine without a GPU.
 */
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** Where Playwright keeps its downloads, and where the program lies in one of them. */
const PLAYWRIGHT = {
  linux: { root: ['.cache', 'ms-playwright'], inside: ['chrome-linux64/chrome', 'chrome-linux/chrome'] },
  darwin: {
    root: ['Library', 'Caches', 'ms-playwright'],
    inside: ['chrome-mac-arm64', 'chrome-mac-x64'].map(
      (folder) => `${folder}/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing`,
    ),
  },
  win32: { root: ['AppData', 'Local', 'ms-playwright'], inside: ['chrome-win64/chrome.exe', 'chrome-win/chrome.exe'] },
};

/** Browsers that Playwright downloaded, newest first. */
function playwrightBrowsers() {
  const { root: below, inside } = PLAYWRIGHT[process.platform] ?? PLAYWRIGHT.linux;
  const root = process.env.PLAYWRIGHT_BROWSERS_PATH ?? join(homedir(), ...below);
  if (!existsSync(root)) return [];
  return readdirSync(root)
    .filter((name) => /^chromium-\d+$/.test(name))
    .sort((a, b) => Number(b.slice(9)) - Number(a.slice(9)))
    .flatMap((name) => inside.map((path) => join(root, name, path)));
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
  const candidates = [...(named ? [named] : []), ...SYSTEM.slice(0, 1), ...playwrightBrowsers(), ...SYSTEM.slice(1)];
  return candidates.find((path) => existsSync(path));
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

/** A driver of a real GPU; Mesa's lavapipe runs on the processor and is often too old for Dawn. */
function hasGpuDriver() {
  return ['/usr/share/vulkan/icd.d', '/etc/vulkan/icd.d', join(homedir(), '.local/share/vulkan/icd.d')]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder))
    .some((name) => name.endsWith('.json') && !name.startsWith('lvp'));
}

/**
 * The environment for WebGPU in Node outside of the tests: a GPU where there is one, else SwiftShader.
 * @returns {Record<string, string>}
 */
export function vulkanForNode() {
  const decided = process.env.VK_ICD_FILENAMES ?? process.env.VK_DRIVER_FILES;
  return process.platform !== 'linux' || decided !== undefined || hasGpuDriver() ? {} : softwareVulkan();
}
