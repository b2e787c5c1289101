import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainPlace, serveForTest, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import type { PeerServer } from '../../peer/serve-folder.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';

let sandbox: Sandbox;
let server: PeerServer;
beforeEach(async () => {
  sandbox = createSandbox();
  mkdirSync(sandbox.path('offered'));
  server = await serveForTest(sandbox.path('offered'));
});
afterEach(async () => {
  await server.close();
  sandbox[Symbol.dispose]();
});

const peer = (path: string) => plainPlace(server.address.port, path);
const copy = (source: string, destination: string) => {
  const environment = { DRAY_CACHE: sandbox.path('cache'), DRAY_TOKEN: TEST_TOKEN };
  const request = { source: { place: source }, destination: { place: destination }, links: true };
  return copyTree(testContext(sandbox.folder, { environment }), request);
};

describe('A single link, copied with links', () => {
  it.each([
    ['that dangles', 'nowhere'],
    ['to a file', 'file'],
  ])('%s is a link at its new name, and again the next time', async (_kind, target) => {
    sandbox.write('file', 'content');
    symlinkSync(target, sandbox.path('link'));
    mkdirSync(sandbox.path('folder'));
    for (const [destination, made] of [
      ['there', 'there'],
      ['folder', 'folder/link'],
      ['made/', 'made/link'],
    ] as const) {
      expect(await copy('link', destination)).toMatchObject({ copiedFiles: 1, failed: 0 });
      expect(readlinkSync(sandbox.path(made))).toBe(target);
      expect(await copy('link', destination)).toMatchObject({ result: 'upToDate', failed: 0 });
    }
  });

  it('replaces what is there, and never what a link there leads to', async () => {
    sandbox.write('file', 'content');
    symlinkSync('new-target', sandbox.path('link'));
    symlinkSync('file', sandbox.path('old'));
    expect(await copy('link', 'old')).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(readlinkSync(sandbox.path('old'))).toBe('new-target');
    expect(readFileSync(sandbox.path('file'), 'utf8')).toBe('content');
  });

  it('is an object with its target at a store, and a link again when it comes back', async () => {
    symlinkSync('target', sandbox.path('link'));
    expect(await copy('link', peer('away'))).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(readFileSync(sandbox.path('offered/away.rclonelink'), 'utf8')).toBe('target');
    expect(existsSync(sandbox.path('offered/away'))).toBe(false);
    expect(await copy(peer('away.rclonelink'), 'back')).toMatchObject({ copiedFiles: 1, failed: 0 });
    expect(readlinkSync(sandbox.path('back'))).toBe('target');
    expect(await copy(peer('away.rclonelink'), 'into/')).toMatchObject({ copiedFiles: 1 });
    expect(lstatSync(sandbox.path('into/away')).isSymbolicLink()).toBe(true);
  });
});
