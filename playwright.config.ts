import { defineConfig } from '@playwright/test';
import { findChromium } from './scripts/browser.mjs';

// The workers load this file again and inherit the environment: all agree on the port, and two runs at once do not meet.
process.env.ATELIER_PORT ??= String(20_000 + (process.pid % 10_000));
const port = process.env.ATELIER_PORT;

const executablePath = findChromium();
const isRoot = process.getuid?.() === 0;

export default defineConfig({
  testDir: 'e2e',
  outputDir: 'test-results',
  // Pages train in these tests: two at once would only wait for each other.
  workers: 1,
  retries: 0,
  forbidOnly: process.env.CI !== undefined,
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: 'list',
  use: {
    baseURL: `http://localhost:${port}/`,
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    // Without the filmstrip, which would cost a page that trains its time.
    trace: { mode: 'retain-on-failure', screenshots: false },
    screenshot: 'only-on-failure',
    launchOptions: {
      ...(executablePath === undefined ? {} : { executablePath }),
      args: [
        // A name that is not localhost: a page from there is not a secure context, like one from a teacher's laptop.
        '--host-resolver-rules=MAP classroom.test 127.0.0.1',
        // Headless Chromium has no WebGPU adapter by itself; SwiftShader computes on the processor.
        '--enable-unsafe-webgpu',
        '--use-webgpu-adapter=swiftshader',
        ...(isRoot ? ['--no-sandbox'] : []),
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
        '--no-first-run',
      ],
    },
  },
  webServer: {
    command: `node scripts/setup.mjs --browser && node scripts/start.mjs --port ${port}`,
    url: `http://localhost:${port}/`,
    reuseExistingServer: false,
    stdout: 'pipe',
    // Set-up and build are part of the start.
    timeout: 600_000,
    gracefulShutdown: { signal: 'SIGTERM', timeout: 2000 },
  },
});
