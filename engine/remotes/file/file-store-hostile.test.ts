/**
 * A `file:` repository in a folder that somebody else can write to: links, forged uploads, another user's
 * temporary folder.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../base/clock.ts';
import { countHeldBelow, createOutside, type Outside } from '../../base/held-folders.fixture.ts';
import { CAN_HOLD_FOLDERS } from '../../base/held-folders.ts';
import { openFileStore } from './file-store.ts';

const UPLOAD_ID = '01234567-89ab-cdef-0123-456789abcdef';
const bytes = (text: string) => new TextEncoder().encode(text);

let root: string;
let outside: Outside;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dray-shared-')));
  outside = createOutside();
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
  outside[Symbol.dispose]();
});

function write(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

const refused = { code: 'unsafePath' };

describe('a forged upload', () => {
  /** Its part is the result of `makePart`. */
  async function completeForged(makePart: (path: string) => void) {
    const folder = join(root, '.dray-tmp/uploads', UPLOAD_ID);
    write(join(folder, 'upload.json'), JSON.stringify({ key: 'stolen' }));
    makePart(join(folder, '00001'));
    const store = await openFileStore({ root });
    const upload = { key: 'stolen', uploadId: UPLOAD_ID };
    try {
      const parts = await store.multipart!.listParts(upload);
      // A forger knows the part's etag: that of the link, and that of its target.
      const { etag: linked } = (await (await openFileStore({ root: outside.folder })).head('secret'))!;
      for (const etag of [...parts.map((part) => part.etag), linked]) {
        const part = { number: 1, etag, sizeBytes: 11 };
        await expect(store.multipart!.complete(upload, [part])).rejects.toMatchObject({ code: 'notFound' });
      }
      expect(await store.head('stolen')).toBeUndefined();
      return parts;
    } finally {
      await store.close();
    }
  }

  it('whose part is a link to a file does not include that file', async () => {
    expect(await completeForged((part) => symlinkSync(outside.secret, part))).toEqual([]);
  });

  it('whose part is a hard link to a file does not include that file', async () => {
    expect(await completeForged((part) => linkSync(outside.secret, part))).toEqual([]);
  });

  it('whose folder or record is a link does not count as an upload', async () => {
    const upload = { key: 'stolen', uploadId: UPLOAD_ID };
    write(join(outside.folder, 'upload/upload.json'), JSON.stringify({ key: 'stolen' }));
    write(join(outside.folder, 'upload/00001'), 'not in the repository');
    mkdirSync(join(root, '.dray-tmp/uploads'), { recursive: true });
    symlinkSync(join(outside.folder, 'upload'), join(root, '.dray-tmp/uploads', UPLOAD_ID));
    const store = await openFileStore({ root });
    await expect(store.multipart!.listParts(upload)).rejects.toMatchObject(refused);
    await expect(store.multipart!.abort(upload)).rejects.toMatchObject(refused);
    rmSync(join(root, '.dray-tmp/uploads', UPLOAD_ID));
    mkdirSync(join(root, '.dray-tmp/uploads', UPLOAD_ID));
    symlinkSync(
      join(outside.folder, 'upload/upload.json'),
      join(root, '.dray-tmp/uploads', UPLOAD_ID, 'upload.json'),
    );
    await expect(store.multipart!.listParts(upload)).rejects.toMatchObject({ code: 'notFound' });
    expect(await store.multipart!.listUploads({ prefix: '' })).toEqual({ uploads: [] });
    expect(readdirSync(join(outside.folder, 'upload')).sort()).toEqual(['00001', 'upload.json']);
    await store.close();
  });
});

describe('a folder that becomes a link', () => {
  const swapFolder = () => {
    renameSync(join(root, 'keys'), join(root, 'moved'));
    symlinkSync(outside.folder, join(root, 'keys'));
  };

  it('while an upload is joined receives no object', async () => {
    let isArmed = false;
    const clock: Clock = {
      ...systemClock,
      // Runs when the new file's time is set: all parts are joined, and the file is not in its place yet.
      nowMs: () => {
        if (isArmed) swapFolder();
        isArmed = false;
        return systemClock.nowMs();
      },
    };
    const store = await openFileStore({ root, clock });
    await store.put('keys/present', bytes('x'));
    const upload = { key: 'keys/authorized', uploadId: await store.multipart!.create('keys/authorized') };
    const part = await store.multipart!.uploadPart(upload, 1, bytes('theirs'));
    isArmed = true;
    await expect(store.multipart!.complete(upload, [part])).rejects.toMatchObject(refused);
    expect(isArmed).toBe(false);
    outside.expectUntouched();
    expect(readdirSync(join(root, 'moved'))).toEqual(['present']);
    await store.close();
  });

  it('while a stream is put, conditionally or not, receives no object', async () => {
    for (const options of [{}, { condition: { absent: true } as const }]) {
      const store = await openFileStore({ root });
      await store.put('keys/present', bytes('x'));
      const swapping = (async function* () {
        yield bytes('theirs');
        swapFolder();
      })();
      await expect(store.putStream('keys/secret', swapping, options)).rejects.toMatchObject(refused);
      outside.expectUntouched();
      rmSync(join(root, 'keys'));
      rmSync(join(root, 'moved'), { recursive: true });
      await store.close();
    }
  });

  it('is refused by every call on a key in it, and is not listed', async () => {
    const store = await openFileStore({ root });
    await store.put('keys/secret', bytes('x'));
    await store.put('other', bytes('x'));
    swapFolder();
    const calls = [
      () => store.head('keys/secret'),
      () => store.get('keys/secret'),
      () => store.put('keys/secret', bytes('y')),
      () => store.delete(['keys/secret']),
      () => store.copy('keys/secret', 'copy'),
      () => store.copy('other', 'keys/secret'),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject(refused);
    const listed = await store.list({ prefix: '' });
    expect(listed.objects.map(({ key }) => key)).toEqual(['moved/secret', 'other']);
    expect((await store.list({ prefix: 'keys/' })).objects).toEqual([]);
    outside.expectUntouched();
    await store.close();
  });
});

describe('a temporary folder that is a link', () => {
  it.each(['.dray-tmp', '.dray-tmp/writes', '.dray-tmp/uploads', '.dray-tmp/locks'])(
    'at %s is neither cleaned up nor written through, and the error names it',
    async (place) => {
      mkdirSync(dirname(join(root, place)), { recursive: true });
      for (const area of ['writes', 'uploads']) write(join(outside.folder, area, 'theirs'), 'old');
      for (const area of ['writes', 'uploads']) utimesSync(join(outside.folder, area, 'theirs'), 1, 1);
      utimesSync(join(outside.folder, 'writes'), 1, 1);
      write(join(root, 'present'), 'x');
      const seen = () => ['', 'writes', 'uploads'].map((name) => readdirSync(join(outside.folder, name)));
      const before = seen();
      symlinkSync(outside.folder, join(root, place));
      const store = await openFileStore({ root });
      // Over an existing object: with a lock.
      const put = store.put('present', bytes('y'));
      await expect(put).rejects.toMatchObject({
        code: 'unsafePath',
        message: expect.stringContaining(join(root, place)),
      });
      if (place !== '.dray-tmp/locks')
        await expect(store.multipart!.create('key')).rejects.toMatchObject(refused);
      await store.close();
      expect(seen()).toEqual(before);
      expect(readlinkSync(join(root, place))).toBe(outside.folder);
    },
  );

  it.runIf(process.getuid?.() === 0)(
    'or belongs to another user is not used (root can create one)',
    async () => {
      mkdirSync(join(root, '.dray-tmp/writes'), { recursive: true });
      chownSync(join(root, '.dray-tmp'), 54_321, 54_321);
      const store = await openFileStore({ root });
      await expect(store.put('a', bytes('x'))).rejects.toMatchObject({
        code: 'accessDenied',
        message: expect.stringContaining(join(root, '.dray-tmp')),
      });
      chownSync(root, 54_321, 54_321);
      // The owner of the repository could replace everything anyway.
      expect(await store.put('a', bytes('x'))).toMatchObject({ written: true });
      await store.close();
    },
  );
});

it('refuses keys below its own folder at any depth and in any spelling, and lists none', async () => {
  const store = await openFileStore({ root });
  for (const own of [
    '.dray-tmp',
    '.DRAY-Tmp',
    '.dr\u200cay-tmp',
    'DRAY-T~1',
    '.dray',
    '.Dray',
    '.d\u200cray',
  ]) {
    for (const key of [`${own}/x`, `a/b/${own}/x`, `a/${own}`]) {
      await expect(store.put(key, bytes('x')), key).rejects.toMatchObject(refused);
      await expect(store.get(key), key).rejects.toMatchObject(refused);
    }
    write(join(root, 'sub', own, 'x'), 'x');
  }
  await store.put('sub/fine', bytes('x'));
  expect((await store.list({ prefix: '' })).objects.map(({ key }) => key)).toEqual(['sub/fine']);
  expect((await store.list({ prefix: 'sub/.dray-tmp/' })).objects).toEqual([]);
  await store.close();
});

describe('temporary files of a killed writer', () => {
  async function killWhileWriting(): Promise<string> {
    const child = fork(fileURLToPath(new URL('./stuck-writer.fixture.ts', import.meta.url)), [root], {
      execArgv: [],
    });
    await once(child, 'message');
    const [left] = readdirSync(join(root, '.dray-tmp/writes'));
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
    return left!;
  }

  it('are removed at once by the next writer, and those of a live writer are not', async () => {
    const live = await openFileStore({ root });
    const { promise: ending, resolve: end } = Promise.withResolvers<void>();
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    const putting = live.putStream(
      'live',
      (async function* () {
        yield bytes('live');
        begin();
        await ending;
      })(),
    );
    await began;
    const [livesFile] = readdirSync(join(root, '.dray-tmp/writes'));
    await killWhileWriting();
    expect(readdirSync(join(root, '.dray-tmp/writes'))).toHaveLength(2);
    const next = await openFileStore({ root });
    await next.put('next', bytes('x'));
    expect(readdirSync(join(root, '.dray-tmp/writes'))).toEqual([livesFile]);
    end();
    expect(await putting).toMatchObject({ written: true });
    await live.close();
    await next.close();
    expect(existsSync(join(root, '.dray-tmp'))).toBe(false);
  });
});

it.runIf(CAN_HOLD_FOLDERS)('holds no folder after it is closed, and few before', async () => {
  const store = await openFileStore({ root });
  for (let at = 0; at < 100; at += 1) await store.put(`folder-${at}/sub/key`, bytes('x'));
  expect((await store.list({ prefix: '' })).objects).toHaveLength(100);
  expect(countHeldBelow(root)).toBeLessThanOrEqual(8);
  await store.close();
  expect(countHeldBelow(root)).toBe(0);
});
