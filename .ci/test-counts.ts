/** The part of vitest's JSON report that is read here. */
export interface TestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly numTodoTests: number;
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[];
}

export interface TestCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** A file that could not be loaded has no tests in the report: it counts as one that failed. */
export function readTestCounts(report: TestReport): TestCounts {
  const unloaded = report.testResults.filter(({ status, assertionResults }) => {
    return status === 'failed' && assertionResults.length === 0;
  });
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + unloaded.length,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
