/**
 * Counts of tests, read from the JSON reports of the runners. A runner that went wrong in a way that its report
 * does not count (a file that could not be loaded, an error outside of any test) counts as a failure.
 *
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 */

/** @type {Counts} */
export const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/**
 * @param {unknown} report of `vitest --reporter=json`
 * @param {number} exitCode
 * @returns {Counts}
 */
export function countVitest(report, exitCode) {
  const unloaded = report.testResults.filter(
    // A file that cannot be loaded, or whose set-up fails, has no failed test.
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return settled(
    {
      passed: report.numPassedTests,
      failed: report.numFailedTests + unloaded.length,
      skipped: report.numPendingTests + report.numTodoTests,
    },
    exitCode,
  );
}

/**
 * A flaky test, one that passed only when tried again, has failed.
 * @param {unknown} report of `playwright test --reporter=json`
 * @param {number} exitCode
 * @returns {Counts}
 */
export function countPlaywright({ stats }, exitCode) {
  return settled(
    { passed: stats.expected, failed: stats.unexpected + stats.flaky, skipped: stats.skipped },
    exitCode,
  );
}

/** A runner that failed, or ran no test, has not passed, whatever it counted. */
function settled(counts, exitCode) {
  const wrong = exitCode !== 0 || counts.passed + counts.failed === 0;
  return wrong && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
}

/** @param {readonly Counts[]} counts */
export function total(counts) {
  return counts.reduce(
    (a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }),
    NOTHING,
  );
}

/** @param {Counts} counts */
export function summary({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
