import { describe, expect, it } from 'vitest';
import { readTestCounts } from './test-counts.ts';

const report = { numPassedTests: 7, numFailedTests: 1, numPendingTests: 2, numTodoTests: 1 };

describe('readTestCounts', () => {
  it('counts todo tests as skipped', () => {
    expect(readTestCounts({ ...report, testResults: [] })).toEqual({ passed: 7, failed: 1, skipped: 3 });
  });

  it('counts a file that fails to load as a failure', () => {
    const testResults = [
      { status: 'failed', assertionResults: [] },
      { status: 'failed', assertionResults: [{}] },
      { status: 'passed', assertionResults: [] },
    ];
    expect(readTestCounts({ ...report, testResults }).failed).toBe(2);
  });
});
