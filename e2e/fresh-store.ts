/** An empty store and an empty sandbox for each test. */
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

/**
 * Gives each test of the file that calls this a new `store` and a new `sandbox`. Tests must read both while
 * they run. It is a function because test files share a process, where a module runs once.
 */
export function freshStorePerTest(): void {
  beforeEach(async () => {
    store = await startFakeS3();
    sandbox = createSandbox();
  });
  afterEach(async () => {
    await store?.[Symbol.asyncDispose]();
    sandbox?.[Symbol.dispose]();
  });
}

/** A context that reaches the store, with the sandbox's own cache. */
export function contextIn(folder = sandbox.folder, more: Readonly<Record<string, string>> = {}): TestContext {
  const own = { DRAY_AUTHOR: 'tester', DRAY_CACHE: sandbox.path('cache') };
  return testContext(folder, { environment: { ...store.environment, ...own, ...more } });
}
