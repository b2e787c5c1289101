/**
 * Files and objects that shrink or grow after they were listed and before they are copied. Each affects only
 * itself.
 */
import { readFileSync, truncateSync, utimesSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CopyRequest } from '../../engine/api/jobs/trees.ts';
import { eventsOf, type TestContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';
import { type FakeS3, startFakeS3 } from '../servers/fake-s3.ts';

freshStorePerTest();

const MIB = 1024 * 1024;
const LARGE_BYTES = 20 * MIB;
let other: FakeS3;
beforeEach(async () => {
  other = await startFakeS3();
});
afterEach(() => other?.[Symbol.asyncDispose]());

const at = (path: string, { bucket, endpoint }: FakeS3 = store) => ({
  place: `s3://${bucket}/${path}`,
  connection: { endpoint },
});
const copy = (request: CopyRequest, context: TestContext = contextIn()) => copyTree(context, request);
const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

/** Runs `act` once, when the store gets the first request for the key. */
const onceAskedAbout = (key: string, act: () => void) => {
  let isDone = false;
  store.fault = (request) => {
    if (isDone || request.key !== key) return undefined;
    isDone = true;
    act();
    return undefined;
  };
};

describe.each([
  ['cut to nothing', ''],
  ['cut short', 'short'],
])('A file or object that is %s after it was listed', (_how, content) => {
  it('is uploaded with its new content', async () => {
    sandbox.write('from/a', 'a');
    const large = sandbox.write('from/large', Buffer.alloc(LARGE_BYTES, 'l'));
    onceAskedAbout('to/large', () => sandbox.write('from/large', content));
    expect(await copy({ source: { place: 'from' }, destination: at('to') })).toMatchObject({
      copiedFiles: 2,
      failed: 0,
    });
    expect(text(store.objects.get('to/large'))).toBe(readFileSync(large, 'utf8'));
  });

  it.each(['a folder', 'another store'])('is copied to %s with its new content', async (to) => {
    store.objects.set('from/a', Buffer.from('a'));
    store.objects.set('from/large', Buffer.alloc(LARGE_BYTES, 'l'));
    onceAskedAbout('from/large', () => store.objects.set('from/large', Buffer.from(content)));
    const destination = to === 'a folder' ? { place: 'to' } : at('to', other);
    expect(await copy({ source: at('from'), destination })).toMatchObject({ copiedFiles: 2, failed: 0 });
    const arrived =
      to === 'a folder' ? readFileSync(sandbox.path('to/large')) : other.objects.get('to/large');
    expect(text(arrived)).toBe(content);
  });
});

describe('A small file', () => {
  it('that grew large fails alone and is not read whole into memory', async () => {
    sandbox.write('from/a', 'a');
    const log = sandbox.write('from/log', 'log');
    // A sparse file: only its size matters.
    onceAskedAbout('to/log', () => truncateSync(log, 3 * 1024 * MIB));
    const context = contextIn();
    expect(await copy({ source: { place: 'from' }, destination: at('to') }, context)).toMatchObject({
      copiedFiles: 1,
      failed: 1,
    });
    expect(eventsOf(context, 'fileFailed')).toMatchObject([
      { path: 'log', error: { code: 'io', data: { reason: 'changedWhileRead' } } },
    ]);
  });

  it("is compared with an object's MD5 piece by piece, whatever its size", async () => {
    const bytes = Buffer.alloc(LARGE_BYTES, 'l');
    utimesSync(sandbox.write('from/large', bytes), 1_600_000_000, 1_600_000_000);
    store.objects.set('to/large', bytes);
    const request = { source: { place: 'from' }, destination: at('to'), compare: 'checksum' } as const;
    expect(await copy(request)).toMatchObject({ unchangedFiles: 1, copiedFiles: 0 });
    store.objects.set('to/large', Buffer.alloc(LARGE_BYTES, 'm'));
    expect(await copy({ ...request, dryRun: true })).toMatchObject({ copiedFiles: 1 });
  });
});
