import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BlobHash } from '../../model/entry.ts';
import type { FileOutcome } from './small-files.ts';
import type { PackedFile } from './tree-writer-types.ts';
import { packResult, packTask, unpackResult, unpackTask } from './writer-message.ts';
import type { FilesTask } from './writer-task.ts';

const size = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
const blob = fc.constantFrom('ab'.repeat(32), 'cd'.repeat(32)).map((hash) => hash as BlobHash);
const file: fc.Arbitrary<PackedFile> = fc.record(
  {
    path: fc.string({ minLength: 1 }),
    sizeBytes: size,
    offset: size,
    // Also beyond 64 bits: the peer protocol accepts 20 digits.
    mtimeNs: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
    executable: fc.boolean(),
    mode: fc.integer({ min: 0, max: 0o7777 }),
    blob,
  },
  { requiredKeys: ['path', 'sizeBytes', 'offset', 'mtimeNs', 'executable'] },
);
const outcome: fc.Arbitrary<FileOutcome> = fc.oneof(
  fc.record({
    stat: fc.record({ mtimeMs: fc.double(), ctimeMs: fc.double(), inode: size, sizeBytes: size }),
  }),
  fc.record({ folderInTheWay: fc.string() }),
  fc.constant({ error: { code: 'io', message: 'No.', retry: 'no', data: { path: 'a' } } } as const),
);

describe('messages to a thread that writes', () => {
  it('carry the files of a task unchanged', () => {
    fc.assert(
      fc.property(fc.array(file, { minLength: 1 }), (items) => {
        const task: FilesTask = { kind: 'files', bytes: new Uint8Array(3), bytesStart: 7, items };
        expect(unpackTask(structuredClone(packTask(task)))).toEqual(task);
      }),
    );
  });

  it('carry the outcomes of the files', () => {
    fc.assert(
      fc.property(fc.array(outcome), (outcomes) => {
        const task: FilesTask = { kind: 'files', bytes: new Uint8Array(), bytesStart: 0, items: [] };
        expect(unpackResult(structuredClone(packResult(task, outcomes)))).toEqual(outcomes);
      }),
    );
  });

  it('do not change other tasks and results', () => {
    const task = { kind: 'place', temporary: 't', path: 'p' } as const;
    expect(unpackTask(packTask(task))).toBe(task);
    const placed = { folderInTheWay: 't' };
    expect(unpackResult(packResult(task, placed))).toBe(placed);
    expect(unpackResult(packResult({ kind: 'digest', stream: 1 }, 'abc'))).toBe('abc');
    expect(unpackResult(packResult({ kind: 'seal', fd: 1, path: 'p', mtimeNs: 0n }, null))).toBeNull();
  });
});
