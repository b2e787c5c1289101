/**
 * Gives each test of a file that imports this an empty store and an empty sandbox. Tests must read `store`
 * and `sandbox` while they run, since each test has its own.
 */
import { afterEach, beforeEach } from 'vitest';
import {
  createSandbox,
  type Sandbox,
  type TestContext,
  testContext,
} from '../engine/jobs/session/job.fixture.ts';
import { type FakeS3, startFakeS3 } from './servers/fake-s3.ts';

export let store: FakeS3;
export let sandbox: Sandbox;
beforeEach(async () => {
  store = await startFakeS3();
  sandbox = createSandbox();
});
afterEach(async () => {
  await store?.[Symbol.asyncDispose]();
  sandbox?.[Symbol.dispose]();
});

/** A context that reaches the store, with the sandbox's own cache. */
export function contextIn(folder = sandbox.folder, more: Readonly<Record<string, string>> = {}): TestContext {
  const own = { DRAY_AUTHOR: 'tester', DRAY_CACHE: sandbox.path('cache') };
  return testContext(folder, { environment: { ...store.environment, ...own, ...more } });
}
