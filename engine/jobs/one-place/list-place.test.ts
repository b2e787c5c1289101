import { symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSandbox, eventsOf, type Sandbox, testContext } from '../session/job.fixture.ts';
import { listPlace } from './list-place.ts';
import { readPlace } from './read-place.ts';

function createTree(): Sandbox {
  const sandbox = createSandbox();
  for (const path of ['tree/a', 'tree/b-', 'tree/b/c', 'tree/b/d/e', 'tree/.dray/state'])
    sandbox.write(path, 'content');
  symlinkSync('a', sandbox.path('tree/link'));
  return sandbox;
}

async function list(sandbox: Sandbox, place: string, more = {}) {
  const context = testContext(sandbox.folder);
  const summary = await listPlace(context, { place, ...more });
  const entries = eventsOf(context, 'entry').map(({ kind, path }) => `${kind} ${path}`);
  return { context, summary, entries };
}

describe('Listing a local place', () => {
  it("shows one level in order: files, folders and links, and never Dray's own files", async () => {
    using sandbox = createTree();
    const { entries, summary } = await list(sandbox, 'tree');
    expect(entries).toEqual(['file a', 'file b-', 'folder b/', 'link link']);
    expect(summary).toMatchObject({ entries: 4, bytes: 14, failed: 0 });
  });

  it('shows everything below, through the filter', async () => {
    using sandbox = createTree();
    const recursive = true;
    expect((await list(sandbox, 'tree', { recursive })).entries.sort()).toEqual([
      'file a',
      'file b-',
      'file b/c',
      'file b/d/e',
      'link link',
    ]);
    const filter = { rules: [{ action: 'exclude', pattern: '/b/**' }] };
    expect((await list(sandbox, 'tree', { recursive, filter })).entries.sort()).toEqual([
      'file a',
      'file b-',
      'link link',
    ]);
    expect((await list(sandbox, 'tree', { filter })).entries).toEqual(['file a', 'file b-', 'link link']);
  });

  it('shows a file under its name, and the target of a link that was named', async () => {
    using sandbox = createTree();
    expect((await list(sandbox, 'tree/b/c')).entries).toEqual(['file c']);
    expect((await list(sandbox, 'tree/link')).entries).toEqual(['file link']);
  });

  it('fails when the place does not exist', async () => {
    using sandbox = createTree();
    for (const place of ['absent', 'tree/a/b'])
      await expect(list(sandbox, place)).rejects.toMatchObject({ code: 'notFound' });
    symlinkSync('nowhere', sandbox.path('dangling'));
    await expect(list(sandbox, 'dangling')).rejects.toMatchObject({ code: 'usage' });
  });

  // Other systems do not allow such a name.
  it.skipIf(process.platform !== 'linux')(
    'names what it cannot read and continues (Linux only)',
    async () => {
      using sandbox = createTree();
      writeFileSync(Buffer.concat([Buffer.from(sandbox.path('tree/')), Buffer.from([0xff])]), '');
      const { context, entries, summary } = await list(sandbox, 'tree');
      expect(entries).toHaveLength(4);
      expect(summary.failed).toBe(1);
      expect(eventsOf(context, 'fileFailed').map(({ path }) => path)).toEqual(['\\xff']);
    },
  );
});

describe('Reading a local place', () => {
  const read = async (sandbox: Sandbox, place: string, more = {}) => {
    const chunks: Buffer[] = [];
    await readPlace(
      testContext(sandbox.folder),
      { place, ...more },
      async (chunk) => void chunks.push(Buffer.from(chunk)),
    );
    return Buffer.concat(chunks).toString();
  };

  it('writes a file, or a part of it, also through a link', async () => {
    using sandbox = createTree();
    expect(await read(sandbox, 'tree/a')).toBe('content');
    expect(await read(sandbox, 'tree/link', { offsetBytes: 3 })).toBe('tent');
    expect(await read(sandbox, 'tree/a', { offsetBytes: 3, lengthBytes: 2 })).toBe('te');
    expect(await read(sandbox, 'tree/a', { offsetBytes: 30 })).toBe('');
  });

  it('waits until each chunk is taken', async () => {
    using sandbox = createSandbox();
    sandbox.write('large', Buffer.alloc(3 * 1024 * 1024 + 1, 'x'));
    let taking = 0;
    let total = 0;
    await readPlace(testContext(sandbox.folder), { place: 'large' }, async ({ length }) => {
      taking += 1;
      expect(taking).toBe(1);
      await new Promise(setImmediate);
      total += length;
      taking -= 1;
    });
    expect(total).toBe(3 * 1024 * 1024 + 1);
  });

  it('refuses anything but a file', async () => {
    using sandbox = createTree();
    await expect(read(sandbox, 'tree')).rejects.toMatchObject({ code: 'usage' });
    await expect(read(sandbox, 'tree/')).rejects.toMatchObject({ code: 'usage' });
    await expect(read(sandbox, '-')).rejects.toMatchObject({ code: 'usage' });
    await expect(read(sandbox, 'absent')).rejects.toMatchObject({ code: 'notFound' });
  });
});
