/**
 * A listener may take events more slowly than the job emits them: a pipe into a pager, a distant terminal.
 */
import { describe, expect, it } from 'vitest';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { listTree } from '../history/list-tree.ts';
import { listPlace } from '../one-place/list-place.ts';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { checkTrees } from '../trees/check/check-trees.ts';
import { copyTree } from '../trees/copy-tree.ts';
import { status } from '../working-copy/status.ts';
import { createSandbox, type Sandbox, testContext } from './job.fixture.ts';

const FILES = 4_000;
const HELD_MAX = 100;
/** A copy between two sides emits batches of up to this many items. */
const BATCH_MAX = 1_000;
/** How many items a copy decides about at once. */
const UNDER_WAY_MAX = 1_024;

/** Reports itself full from `HELD_MAX` events on, and takes them on a later turn of the event loop. */
function slowListener() {
  const reported = { events: 0, waiting: 0, waitingMax: 0 };
  const take = async () => {
    await new Promise((done) => setImmediate(done));
    reported.waiting = 0;
  };
  const more: Partial<JobContext> = {
    emit: ({ type }) => {
      if (type !== 'change' && type !== 'entry' && type !== 'compared') return;
      reported.events += 1;
      reported.waiting += 1;
      reported.waitingMax = Math.max(reported.waitingMax, reported.waiting);
    },
    drained: () => (reported.waiting >= HELD_MAX ? take() : undefined),
  };
  return { reported, more };
}

function createFiles(sandbox: Sandbox): void {
  for (let index = 0; index < FILES; index += 1)
    sandbox.write(`tree/${index % 4}/${String(index).padStart(5, '0')}`, `content of ${index % 7}`);
}

async function runSlowly(sandbox: Sandbox, folder: string, job: (context: JobContext) => Promise<unknown>) {
  const { more, reported } = slowListener();
  await job(testContext(sandbox.path(folder), more));
  return reported;
}

describe('A job that emits an event for each of many files', () => {
  it('waits for a slow listener: plain trees', async () => {
    using sandbox = createSandbox();
    createFiles(sandbox);
    sandbox.write('empty/only', 'there');
    const jobs: readonly ((context: JobContext) => Promise<unknown>)[] = [
      (context) => listPlace(context, { place: 'tree', recursive: true }),
      (context) =>
        copyTree(context, { source: { place: 'tree' }, destination: { place: 'new' }, dryRun: true }),
      (context) =>
        checkTrees(context, { source: { place: 'tree' }, destination: { place: 'empty' }, oneWay: true }),
    ];
    for (const job of jobs) {
      const { events, waitingMax } = await runSlowly(sandbox, '.', job);
      expect(events).toBeGreaterThanOrEqual(FILES);
      expect(waitingMax).toBeLessThanOrEqual(HELD_MAX + BATCH_MAX + UNDER_WAY_MAX);
    }
  });

  it('waits for a slow listener: versions', async () => {
    using sandbox = createSandbox();
    createFiles(sandbox);
    await initWorkspace(testContext(sandbox.path('tree')), {
      remoteUrl: `file://${sandbox.path('repository')}`,
    });
    const jobs: ((context: JobContext) => Promise<unknown>)[] = [
      (context) => status(context, {}),
      (context) => push(context, { dryRun: true }),
      async (context) => {
        await push(testContext(context.directory), { message: 'all' });
        return listTree(context, { recursive: true });
      },
    ];
    for (const job of jobs) {
      const { events, waitingMax } = await runSlowly(sandbox, 'tree', job);
      expect(events).toBe(FILES);
      expect(waitingMax).toBe(HELD_MAX);
    }
  });
});
