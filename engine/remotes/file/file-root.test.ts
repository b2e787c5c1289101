import { mkdtempSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.ts';
import { createHeldFolders, type HeldFolders } from '../../base/held-folders.ts';
import { createFileRoot } from './file-root.ts';

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'dray-file-root-')));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Another process removes the empty folder `above` this many times, just before a folder is made in it. */
function removedMeanwhile(above: string, times: number): HeldFolders & { left(): number } {
  const real = createHeldFolders(root);
  let left = times;
  return {
    ...real,
    left: () => left,
    async hold(folder, options) {
      if (left > 0 && options?.onMake) {
        left -= 1;
        (await real.hold(above, options)).release();
        rmdirSync(join(root, above));
        real.close();
        await real.hold(folder);
      }
      return real.hold(folder, options);
    },
  };
}

describe('A temporary folder that another process removes while it is made', () => {
  it('is made again', async () => {
    const folders = removedMeanwhile('.dray-tmp', 3);
    const files = createFileRoot(folders, systemClock);
    const temporary = await files.newTemporary();
    await temporary.file.close();
    await temporary[Symbol.asyncDispose]();
    await files.tidy();
    expect(folders.left()).toBe(0);
  });

  it('fails with the error of the file system when it never stays', async () => {
    const files = createFileRoot(removedMeanwhile('.dray-tmp', 1_000), systemClock);
    await expect(files.area('writes')).rejects.toMatchObject({ code: 'ENOENT' });
    await files.tidy();
  });
});
