import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../base/clock.ts';
import { openIndex } from '../index/open-index.ts';
import { EMPTY_BLOB, type FileEntry } from '../model/entry.ts';
import { noteWritten } from './download-files.ts';
import { createSandbox, type Sandbox, testContext } from './job-fixture.ts';
import type { Session } from './session.ts';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox[Symbol.dispose]());

const NOW_MS = 1_750_000_001_500;

describe('the row of a file that was just written', () => {
  it.each([
    ['long ago', NOW_MS - 60_000.25, 7],
    ['just now', NOW_MS - 10.25, -1],
    ['in this second, where the file system may count no finer', NOW_MS - 500, -1],
    ['in a second that is over', NOW_MS - 2_500, 7],
  ])(
    'proves nothing to the next scan where a later edit could leave its time as it is (%s)',
    (_, mtimeMs, inode) => {
      const { index } = openIndex(sandbox.path('index.db'));
      const clock = { ...systemClock, nowMs: () => NOW_MS };
      const session = { index, clock, context: testContext(sandbox.folder) } as unknown as Session;
      const entry: FileEntry = {
        kind: 'file',
        path: 'a',
        sizeBytes: 0,
        mtimeNs: BigInt(Math.round(mtimeMs)) * 1_000_000n,
        executable: false,
        blob: EMPTY_BLOB,
        location: { in: 'nowhere' },
      };
      noteWritten(session, undefined, entry, { sizeBytes: 0, mtimeMs, ctimeMs: NOW_MS, inode: 7 });
      expect(index.files.knownStat('a')?.[6]).toBe(inode);
      index.close();
    },
  );
});
