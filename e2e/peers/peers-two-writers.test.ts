/**
 * Two clients write one file of a peer at the same time. The file ends as the whole content of one of them,
 * and nothing is left over.
 */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBudget } from '../../engine/base/run-budget.fixture.ts';
import { deltaFile } from '../../engine/jobs/delta/delta-file.ts';
import { createSandbox, type Sandbox, testContext } from '../../engine/jobs/session/job.fixture.ts';
import { copyTree } from '../../engine/jobs/trees/copy-tree.ts';
import { noise, plainPlace, serveForTest, TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';
import type { PeerServer } from '../../engine/peer/serve-folder.ts';

const MIB = 1024 * 1024;
const ROUNDS = runBudget({ short: 2, long: 20 });
/** Long enough for a busy machine. */
const TIMEOUT_MS = 240_000;

let sandbox: Sandbox;
let server: PeerServer;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  server = await serveForTest(sandbox.path('offered'));
});
afterEach(async () => {
  await server?.close();
  sandbox?.[Symbol.dispose]();
});

const context = (who: string) =>
  testContext(sandbox.folder, {
    environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_CACHE: sandbox.path(`cache-${who}`) },
  });
const place = (path: string) => ({ place: plainPlace(server.address.port, path) });

const copyBy = (more: { readonly delta?: false }) => (who: string) =>
  copyTree(context(who), {
    ...more,
    source: { place: sandbox.path(who) },
    destination: place('to'),
    compare: 'checksum',
  });
const copy = copyBy({});
const copyWhole = copyBy({ delta: false });
const delta = (isInPlace: boolean) => (who: string) =>
  deltaFile(context(who), {
    source: { place: sandbox.path(`${who}/file`) },
    destination: place('to/file'),
    blockBytes: 16 * 1024,
    isInPlace,
  });

const WAYS = [
  { name: 'small, in batches', sizeBytes: 20_000, one: copy, two: copy },
  { name: 'large, in ranges', sizeBytes: 12 * MIB, one: copyWhole, two: copyWhole },
  { name: 'large, as changed blocks', sizeBytes: 2 * MIB, one: copy, two: copy },
  { name: 'as deltas beside the old one', sizeBytes: 6 * MIB, one: delta(false), two: delta(false) },
  { name: 'as deltas in place', sizeBytes: 6 * MIB, one: delta(true), two: delta(true) },
  { name: 'as a copy and a delta', sizeBytes: 4 * MIB, one: copy, two: delta(false) },
] as const;

describe.each(WAYS)('Two clients that write one file at once ($name)', ({ one, sizeBytes, two }) => {
  it(
    `leave the whole content of one of them, ${ROUNDS} times`,
    async () => {
      sandbox.write('start/file', noise(sizeBytes, 99));
      await copy('start');
      for (let round = 0; round < ROUNDS; round += 1) {
        // Each content differs from the stored one in blocks of its own and in common blocks.
        const contents = ['one', 'two'].map((who, at) => {
          const bytes = noise(sizeBytes, 99);
          noise(Math.floor(sizeBytes / 2), 2 * round + at).copy(bytes, at * Math.floor(sizeBytes / 4));
          sandbox.write(`${who}/file`, bytes);
          return bytes;
        });
        const ends = await Promise.allSettled([one('one'), two('two')]);
        expect(ends.some(({ status }) => status === 'fulfilled')).toBe(true);
        const end = readFileSync(sandbox.path('offered/to/file'));
        expect(contents.some((bytes) => bytes.equals(end))).toBe(true);
      }
      // A server that closes removes the folder of unfinished files if it is empty.
      await server.close();
      expect(readdirSync(sandbox.path('offered'))).toEqual(['to']);
    },
    TIMEOUT_MS,
  );
});
