import { mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { DrayError, toErrorRecord } from '../../api/error.ts';
import { initWorkspace } from '../remotes/init.ts';
import { createSandbox, testContext } from '../session/job.fixture.ts';
import { openSession } from '../session/open-workspace.ts';
import { createLeavingOut, isForbiddenByWindows } from './unheld-entries.ts';

it.each(['con', 'a/AUX.txt', 'x/nul', 'a:b', 'what?', 'end.', 'a /b'])('Windows cannot hold "%s"', (path) => {
  expect(isForbiddenByWindows(path, 'win32')).toBe(true);
  expect(isForbiddenByWindows(path, 'linux')).toBe(false);
});

it.each(['../a', '/a', '.dray/x', 'plain', 'console', 'a/b.txt'])('"%s" is no matter of Windows', (path) => {
  expect(isForbiddenByWindows(path, 'win32')).toBe(false);
});

it('leaves out twins by name, and the rest is to be written', async () => {
  using sandbox = createSandbox();
  mkdirSync(sandbox.path('work'));
  await initWorkspace(testContext(sandbox.path('work')), { remoteUrl: sandbox.path('store') });
  using session = await openSession(testContext(sandbox.path('work')), 'pull');
  const leavingOut = createLeavingOut(session, new Map([['readme', 'README']]));
  expect(leavingOut.withoutTwins([{ path: 'README' }, { path: 'readme' }])).toEqual([{ path: 'README' }]);
  expect(leavingOut.found).toEqual({ readme: 'twin' });
  // Damage is no matter of the disk.
  const error = toErrorRecord(new DrayError('damaged', 'The object is damaged.'));
  expect(leavingOut.takes({ kind: 'folder', path: 'a/' }, error)).toBe(false);
});
