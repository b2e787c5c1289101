import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { push } from '../push/push.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';
import { exportVersion } from './export-version.ts';

let sandbox: Sandbox;
let descriptor: string;
beforeEach(async () => {
  sandbox = createSandbox();
  sandbox.write('work/a', 'a');
  // A file that would be one of the repository's own.
  sandbox.write('work/dray.json', 'not a repository');
  await initWorkspace(context(), { remoteUrl: sandbox.path('store') });
  await push(context(), {});
  descriptor = readFileSync(sandbox.path('store/dray.json'), 'utf8');
});
afterEach(() => sandbox[Symbol.dispose]());

const context = (directory = sandbox.path('work')) => testContext(directory);

describe('an export of a version', () => {
  it('is not written to its own repository', async () => {
    symlinkSync('store', sandbox.path('link'));
    for (const place of ['../store', '../store/deep/below', '../link'])
      for (const more of [{}, { path: 'dray.json' }]) {
        const made = exportVersion(context(), { ref: 'main', destination: { place }, ...more });
        await expect(made, place).rejects.toMatchObject({ code: 'usage' });
      }
    const source = { place: `file://${sandbox.path('store')}?ref=main` };
    await expect(copyTree(context(), { source, destination: { place: '../store' } })).rejects.toThrow(
      'outside',
    );
    for (const place of ['s3://bucket/birds', 's3://bucket/birds/images/']) {
      const made = copyTree(context(), {
        source: { place: 's3://bucket/birds?ref=v1' },
        destination: { place },
      });
      await expect(made, place).rejects.toThrow('outside');
    }
    expect(readFileSync(sandbox.path('store/dray.json'), 'utf8')).toBe(descriptor);
    expect(existsSync(sandbox.path('store/deep'))).toBe(false);
    mkdirSync(sandbox.path('store-2'));
    await exportVersion(context(), { ref: 'main', destination: { place: '../store-2' } });
    expect(readdirSync(sandbox.path('store-2')).sort()).toEqual(['a', 'dray.json']);
  });

  it('takes the path of a repository from the folder of the command', async () => {
    mkdirSync(sandbox.path('elsewhere/inner'), { recursive: true });
    const places = [
      [sandbox.folder, 'store'],
      [sandbox.path('elsewhere'), '../store'],
      [sandbox.path('elsewhere/inner'), '../../store/'],
    ] as const;
    for (const [directory, from] of places) {
      await exportVersion(context(directory), { ref: 'main', from, destination: { place: 'out' } });
      expect(readFileSync(join(directory, 'out/a'), 'utf8')).toBe('a');
    }
    const none = exportVersion(context(), { ref: 'main', from: 'none', destination: { place: 'out' } });
    await expect(none).rejects.toMatchObject({ code: 'usage' });
  });
});
