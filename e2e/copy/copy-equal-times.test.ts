/**
 * A file whose content is equal on both sides always gets its source's time, and its content is never sent
 * again. This holds for every size, between any two kinds of places, and whatever the cache remembers.
 */
import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { CopyRequest } from '../../engine/api/jobs/trees.ts';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';
import { type S3Server, startVersitygw } from '../servers/versitygw.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = runBudget({
  short: [0, 1, 256 * KIB, MIB + 1],
  long: [0, 1, 255 * KIB, 256 * KIB, MIB, MIB + 1, 65 * MIB],
});
const [OLD_S, NEW_S] = [1_500_000_000.25, 1_600_000_000.5];

let server: S3Server;
let peer: PeerServer;
let sandbox: Sandbox;
let places = 0;
beforeAll(async () => {
  server = await startVersitygw();
  sandbox = createSandbox();
  sandbox.path('offered', 'x');
  peer = await serveForTest(sandbox.path('offered'));
  for (const size of SIZES) sandbox.write(`content/${size}`, randomBytes(size));
});
afterAll(async () => {
  await peer?.close();
  await server?.stop();
  sandbox?.[Symbol.dispose]();
});
afterEach(() => rmSync(sandbox.path('cache'), { recursive: true, force: true }));

const newContext = () =>
  testContext(sandbox.folder, {
    environment: { ...server.environment, DRAY_CACHE: sandbox.path('cache'), DRAY_TOKEN: TEST_TOKEN },
  });
const copy = (source: string, destination: string, more: Partial<CopyRequest> = {}) =>
  copyTree(newContext(), { source: { place: source }, destination: { place: destination }, ...more });

type Kind = 'folder' | 'store' | 'peer';
const PLACE_OF: Record<Kind, (name: string) => string> = {
  folder: (name) => name,
  store: (name) => `s3://${server.bucket}/${name}`,
  peer: (name) => `dray://127.0.0.1:${peer.address.port}/${name}?tls=off`,
};
const DIRECTIONS: readonly (readonly [from: Kind, to: Kind])[] = [
  ['folder', 'store'],
  ['store', 'folder'],
  ['store', 'store'],
  ['folder', 'folder'],
  ['folder', 'peer'],
  ['peer', 'folder'],
  ['peer', 'store'],
];

/** Copies one file of each size, all with one time, to a new place. */
async function fill(kind: Kind, seconds: number, place = newPlace(kind)): Promise<string> {
  setTimes('content', seconds);
  await copy('content', place);
  return place;
}

function newPlace(kind: Kind): string {
  places += 1;
  return PLACE_OF[kind](`place-${places}`);
}

function setTimes(folder: string, seconds: number): void {
  for (const size of SIZES) utimesSync(sandbox.path(`${folder}/${size}`), seconds, seconds);
}

/** Reads each file's time by a copy to a new folder with an empty cache. */
async function timesAt(place: string): Promise<readonly number[]> {
  rmSync(sandbox.path('cache'), { recursive: true, force: true });
  const folder = newPlace('folder');
  await copy(place, folder);
  const times = SIZES.map((size) => lstatSync(sandbox.path(`${folder}/${size}`)).mtimeMs / 1000);
  rmSync(sandbox.path(folder), { recursive: true });
  return times;
}

/** Changes the time of every file and no content, without Dray's cache noticing. */
async function retime(kind: Kind, place: string, seconds: number): Promise<void> {
  if (kind === 'folder') setTimes(place, seconds);
  else if (kind === 'peer') setTimes(`offered${new URL(place).pathname}`, seconds);
  else {
    // A listing shows only the second of the upload, so the change must fall into another second. The etags
    // stay.
    await endOfSecond();
    for (const size of SIZES)
      rmSync(join(server.dataFolder, server.bucket, place.split('/').at(-1)!, String(size)));
    await fill('store', seconds, place);
  }
}

/**
 * Uses this machine's clock, which is the server's too: the server caches its `Date` header for up to a
 * second.
 */
async function endOfSecond(): Promise<void> {
  const second = () => Math.floor(Date.now() / 1000);
  const first = second();
  await expect.poll(second, { interval: 50 }).toBeGreaterThan(first);
}

/** Each kind of place is a source and a destination once. */
const TRIED = runBudget({
  short: DIRECTIONS.filter(([from, to]) => from !== to && `${from}${to}` !== 'peerfolder'),
  long: DIRECTIONS,
});

describe.each(TRIED)('A copy from a %s to a %s', (from, to) => {
  /** The first run sets all times and sends no content; the second has nothing to do. */
  const expectTouched = async (source: string, destination: string) => {
    expect(await copy(source, destination)).toMatchObject({
      ...{ copiedFiles: 0, sentBytes: 0, receivedBytes: 0, failed: 0, touchedFiles: SIZES.length },
    });
    expect(await copy(source, destination)).toMatchObject({ touchedFiles: 0, unchangedFiles: SIZES.length });
    expect(await timesAt(destination)).toEqual(SIZES.map(() => NEW_S));
  };

  it('sets the time of equal content when the cache is empty', async () => {
    const destination = await fill(to, OLD_S);
    const source = await fill(from, NEW_S);
    await expectTouched(source, destination);
  });

  it('sets the time of equal content when the cache holds an older state of the source', async () => {
    const source = await fill(from, OLD_S);
    const destination = newPlace(to);
    await copy(source, destination);
    await retime(from, source, NEW_S);
    await expectTouched(source, destination);
  });

  // An object that a run wrote is remembered without the second of its upload, so a store does not show that
  // another program gave it another time under the same etag (`seenAs`).
  if (to !== 'store')
    it('sets the time of equal content when the cache holds another state of the destination', async () => {
      const source = await fill(from, NEW_S);
      const destination = newPlace(to);
      await copy(source, destination);
      await retime(to, destination, OLD_S);
      await expectTouched(source, destination);
    });

  it.each([{ compare: 'checksum' }, { immutable: true }] as const)(
    'sets the time of equal content after a run with %j, which sets none',
    async (mode) => {
      const destination = await fill(to, OLD_S);
      const source = await fill(from, NEW_S);
      const first = await copy(source, destination, mode);
      expect(first).toMatchObject({ copiedFiles: 0, touchedFiles: 0, failed: 0 });
      await expectTouched(source, destination);
    },
  );
});
