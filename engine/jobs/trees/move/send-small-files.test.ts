import { describe, expect, it } from 'vitest';
import { DrayError, toErrorRecord } from '../../../api/error.ts';
import { TaskSet } from '../../../base/task-set.ts';
import type { TreeItem } from '../../../model/tree-item.ts';
import type { FileCalls, FileToWrite } from '../../../remotes/file-calls.ts';
import type { TreeRun } from '../copy-run.ts';
import type { RemoteSide, TreeSide } from '../sides.ts';
import { createSendBatches } from './send-small-files.ts';

type Written = Awaited<ReturnType<FileCalls['write']>>;

function open(write: (keys: readonly string[]) => Written | Promise<Written>) {
  const requests: (readonly string[])[] = [];
  const files = {
    filesMax: 1_000,
    bytesMax: 1_000_000,
    write: async (batch: readonly FileToWrite[]) => {
      requests.push(batch.map(({ key }) => key));
      return write(batch.map(({ key }) => key));
    },
  } as unknown as FileCalls;
  const run = {
    destination: { limit: { run: (work: () => unknown) => work() }, pathOf: (path: string) => path },
    tasks: new TaskSet(new AbortController().signal),
  } as unknown as TreeRun<TreeSide, RemoteSide>;
  const batches = createSendBatches(run, {
    files,
    read: ({ path }) => {
      if (path === 'unreadable') throw new DrayError('io', 'unreadable cannot be read.');
      return { bytes: new TextEncoder().encode(path), mtimeNs: 0n };
    },
  });
  const send = (path: string) => batches.send({ path, sizeBytes: path.length, token: '' } as TreeItem);
  return { batches, requests, send };
}

const outcomes = async (sent: readonly Promise<unknown>[]) =>
  (await Promise.allSettled(sent)).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value : (outcome.reason as DrayError).code,
  );

describe('small files sent to a peer', () => {
  it('share a request, and one that cannot be read or written fails alone', async () => {
    const refusal = { error: toErrorRecord(new DrayError('accessDenied', 'refused')) };
    const { batches, requests, send } = open((keys) =>
      keys.map((key) => (key === 'refused' ? refusal : { etag: `etag of ${key}` })),
    );
    const sent = ['a', 'unreadable', 'refused', 'b'].map(send);
    batches.flush();
    expect(await outcomes(sent)).toMatchObject([
      { destinationToken: 'etag of a', sentBytes: 1 },
      'io',
      'accessDenied',
      { destinationToken: 'etag of b', sentBytes: 1 },
    ]);
    expect(requests).toEqual([['a', 'refused', 'b']]);
  });

  it('all fail when their request does, except those that had failed before', async () => {
    const { batches, send } = open(() => Promise.reject(new DrayError('unreachable', 'Nobody answers.')));
    const sent = ['a', 'unreadable', 'b'].map(send);
    batches.flush();
    expect(await outcomes(sent)).toEqual(['unreachable', 'io', 'unreachable']);
  });

  it('are sent without a flush when no other file comes for a moment', async () => {
    const { requests, send } = open((keys) => keys.map(() => ({ etag: 'etag' })));
    await send('a');
    expect(requests).toEqual([['a']]);
  });
});
