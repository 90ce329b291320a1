import { defineConfig } from 'vitest/config';
import { softwareVulkan } from './scripts/browser.mjs';

// Inherited by the test processes: the dynamic linker reads these when a process starts, so they cannot be set later.
Object.assign(process.env, softwareVulkan());

export default defineConfig({
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'bench/**/*.test.ts', 'scripts/**/*.test.mjs'],
    pool: 'forks',
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
