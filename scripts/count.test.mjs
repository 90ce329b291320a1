import { expect, test } from 'vitest';
import { countPlaywright, countVitest, summary, total } from './count.mjs';

const vitest = (counts, files = []) => ({
  numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: files, ...counts,
});
const playwright = (stats) => ({ stats: { expected: 0, unexpected: 0, flaky: 0, skipped: 0, ...stats } });

test('counts are taken over from the reports', () => {
  expect(countVitest(vitest({ numPassedTests: 5, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 }), 1)).toEqual({
    passed: 5, failed: 1, skipped: 3,
  });
  expect(countPlaywright(playwright({ expected: 4, unexpected: 1, flaky: 1, skipped: 2 }), 1)).toEqual({
    passed: 4, failed: 2, skipped: 2,
  });
});

test('a file that could not be loaded or set up is a failure', () => {
  const files = [
    { status: 'failed', assertionResults: [] },
    { status: 'failed', assertionResults: [{ status: 'skipped' }] },
    { status: 'failed', assertionResults: [{ status: 'failed' }] },
    { status: 'passed', assertionResults: [{ status: 'passed' }] },
  ];
  const counts = { numPassedTests: 1, numFailedTests: 1, numPendingTests: 1 };
  expect(countVitest(vitest(counts, files), 1)).toEqual({ passed: 1, failed: 3, skipped: 1 });
});

test('a runner that failed without a failed test, or ran none, has failed', () => {
  expect(countVitest(vitest({ numPassedTests: 3 }), 1).failed).toBe(1);
  expect(countPlaywright(playwright({}), 0).failed).toBe(1);
  expect(countVitest(vitest({ numPassedTests: 3 }), 0).failed).toBe(0);
});

test('the sum is one line, with skipped tests only where there are some', () => {
  const counts = [{ passed: 3, failed: 1, skipped: 0 }, { passed: 2, failed: 0, skipped: 0 }];
  expect(summary(total(counts))).toBe('5 passed, 1 failed');
  expect(summary(total([...counts, { passed: 0, failed: 0, skipped: 2 }]))).toBe('5 passed, 1 failed, 2 skipped');
});
