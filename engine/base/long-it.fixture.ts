import { it, type TestContext } from 'vitest';
import { runBudget } from './run-budget.fixture.ts';

type DefineTest = (
  name: string,
  test: (context: TestContext) => void | Promise<void>,
  timeoutMs?: number,
) => void;

/**
 * A test that only `npm run test:long` runs, because a shorter test of the same file covers the usual case:
 * one more direction, server, moment of a kill, or state of a screen. `npm test` does not know the test, so
 * it does not count it as skipped.
 */
export const longIt = runBudget<DefineTest>({ short: () => {}, long: it });
