/** Settings that another user left in a parent folder, or that came with a folder, have no effect. */
import {
  chownSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listPlace } from '../one-place/list-place.ts';
import { cloneWorkspace } from '../pull/clone.ts';
import { pull } from '../pull/pull.ts';
import { push } from '../push/push.ts';
import { config, userConfig } from '../remotes/config.ts';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd, remoteList, remoteTestTarget } from '../remotes/remotes.ts';
import { status } from '../working-copy/status.ts';
import { createSandbox, eventsOf, type Sandbox, type TestContext, testContext } from './job.fixture.ts';
import { writeUserRemotes } from './user-remotes.ts';

const SOMEBODY = 54_321;
/** Only root can give a file to another user. */
const isRoot = process.geteuid?.() === 0;

let sandbox: Sandbox;
let environment: Record<string, string>;
const contextIn = (folder: string): TestContext => testContext(sandbox.path(folder), { environment });
const REFUSED = expect.objectContaining({
  code: 'usage',
  message: expect.stringMatching(/belongs to another user \(uid 54321\).*dray config --user safe\.directory/),
});

beforeEach(async () => {
  sandbox = createSandbox();
  environment = { DRAY_AUTHOR: 'tester', DRAY_CONFIG: sandbox.path('settings/config.json') };
  mkdirSync(sandbox.path('shared/below'), { recursive: true });
  sandbox.write('store-files/photos/a', 'a');
  await initWorkspace(contextIn('shared'), { remoteUrl: sandbox.path('store') });
  await remoteAdd(contextIn('shared'), { name: 'nas', url: sandbox.path('store-files/photos') });
});
afterEach(() => {
  vi.unstubAllEnvs();
  sandbox[Symbol.dispose]();
});

function give(path: string, owner: number): void {
  lchownSync(sandbox.path(path), owner, owner);
}

function giveAll(path: string, owner: number): void {
  for (const { name, parentPath } of readdirSync(sandbox.path(path), {
    recursive: true,
    withFileTypes: true,
  }))
    lchownSync(join(parentPath, name), owner, owner);
  give(path, owner);
}

describe.runIf(isRoot)(
  "A workspace of another user's (skipped unless run by root, who alone can make one)",
  () => {
    const BY_ALL_WAYS: Readonly<Record<string, (context: TestContext) => Promise<unknown>>> = {
      status: (context) => status(context, {}),
      push: (context) => push(context, {}),
      pull: (context) => pull(context, {}),
      'config author': (context) => config(context, { name: 'author' }),
      'remote list': (context) => remoteList(context),
      'remote test': (context) => remoteTestTarget(context, {}),
      'remote test NAME': (context) => remoteTestTarget(context, { target: 'nas' }),
      'ls NAME:': (context) => listPlace(context, { place: 'nas:', recursive: false }),
    };

    it.each(Object.entries(BY_ALL_WAYS))('is refused by %s, in it and below it', async (_name, run) => {
      giveAll('shared/.dray', SOMEBODY);
      await expect(run(contextIn('shared'))).rejects.toEqual(REFUSED);
      await expect(run(contextIn('shared/below'))).rejects.toEqual(REFUSED);
    });

    it.each(['shared/.dray', 'shared/.dray/config.json', 'shared/.dray/state.json'])(
      'is refused when only %s belongs to the other user',
      async (path) => {
        give(path, SOMEBODY);
        await expect(status(contextIn('shared'), {})).rejects.toEqual(REFUSED);
      },
    );

    it("is refused when the other user's link leads to a workspace of the user", async () => {
      renameSync(sandbox.path('shared/.dray'), sandbox.path('real'));
      symlinkSync(sandbox.path('real'), sandbox.path('shared/.dray'));
      await status(contextIn('shared'), {});
      give('shared/.dray', SOMEBODY);
      await expect(status(contextIn('shared'), {})).rejects.toEqual(REFUSED);
    });

    it.each([
      ['its path', () => sandbox.path('shared')],
      ['a relative path', () => '../shared'],
      ['everything', () => '*'],
    ])('is accepted once the user allows it by %s, until that is unset', async (_name, path) => {
      giveAll('shared/.dray', SOMEBODY);
      await userConfig(contextIn('elsewhere'), { name: 'safe.directory', value: path() });
      await status(contextIn('shared/below'), {});
      const asked = contextIn('elsewhere');
      expect(await userConfig(asked, {})).toEqual({ settings: 1 });
      expect(eventsOf(asked, 'setting')).toMatchObject([{ name: 'safe.directory' }]);
      await userConfig(contextIn('elsewhere'), { name: 'safe.directory', value: null });
      await expect(status(contextIn('shared/below'), {})).rejects.toEqual(REFUSED);
    });

    it('is refused although the user allows another one', async () => {
      giveAll('shared/.dray', SOMEBODY);
      await userConfig(contextIn('elsewhere'), { name: 'safe.directory', value: sandbox.path('shared2') });
      await expect(status(contextIn('shared'), {})).rejects.toEqual(REFUSED);
    });

    it("does not block the user's own remote names, nor a new workspace below it", async () => {
      giveAll('shared/.dray', SOMEBODY);
      writeUserRemotes({ environment }, { nas: { url: sandbox.path('store-files') } });
      const context = contextIn('shared/below');
      await listPlace(context, { place: 'nas:', recursive: false });
      expect(eventsOf(context, 'remoteUsed')).toMatchObject([{ keptIn: environment.DRAY_CONFIG }]);
      await initWorkspace(contextIn('shared/below'), { remoteUrl: sandbox.path('store') });
      await status(contextIn('shared/below'), {});
    });

    it('is accepted under sudo only if it belongs to the user who called sudo', async () => {
      giveAll('shared/.dray', SOMEBODY);
      vi.stubEnv('SUDO_UID', String(SOMEBODY));
      await status(contextIn('shared'), {});
      vi.stubEnv('SUDO_UID', String(SOMEBODY + 1));
      await expect(status(contextIn('shared'), {})).rejects.toEqual(REFUSED);
      // Only root can run on behalf of another user.
      chownSync(sandbox.folder, SOMEBODY + 1, SOMEBODY + 1);
      process.seteuid!(SOMEBODY + 1);
      vi.stubEnv('SUDO_UID', String(SOMEBODY));
      try {
        await expect(status(contextIn('shared'), {})).rejects.toEqual(REFUSED);
      } finally {
        process.seteuid!(0);
      }
    });
  },
);

describe('Remotes of a workspace', () => {
  it("never replace the user's own of the same name, and each reports where it was found", async () => {
    const before = contextIn('shared');
    await listPlace(before, { place: 'nas:', recursive: false });
    expect(eventsOf(before, 'remoteUsed')).toMatchObject([
      { name: 'nas', keptIn: sandbox.path('shared/.dray/config.json') },
    ]);
    expect(eventsOf(before, 'entry').map(({ path }) => path)).toEqual(['a']);
    writeUserRemotes({ environment }, { nas: { url: sandbox.path('store-files') } });
    const after = contextIn('shared');
    await listPlace(after, { place: 'nas:', recursive: false });
    expect(eventsOf(after, 'remoteUsed')).toMatchObject([{ name: 'nas', keptIn: environment.DRAY_CONFIG }]);
    expect(eventsOf(after, 'entry').map(({ path }) => path)).toEqual(['photos/']);
  });

  it('never name a token file: neither when they are added nor when they are read', async () => {
    const secret = sandbox.write('secret', 'the key of a bank');
    const url = `dray://127.0.0.1:9/x?tokenFile=${secret}`;
    const refused = expect.objectContaining({
      code: 'usage',
      message: expect.stringMatching(/token file.*dray login 127\.0\.0\.1:9.*dray remote add --user/),
    });
    const typed = testContext(sandbox.path('shared'), { environment, isTyped: true });
    await expect(remoteAdd(typed, { name: 'evil', url })).rejects.toEqual(refused);
    await expect(cloneWorkspace(typed, { url, directory: sandbox.path('new') })).rejects.toEqual(refused);
    const path = sandbox.path('shared/.dray/config.json');
    const settings = JSON.parse(readFileSync(path, 'utf8')) as { remotes: Record<string, { url: string }> };
    settings.remotes.origin!.url = url;
    settings.remotes.evil = { url };
    sandbox.write('shared/.dray/config.json', JSON.stringify(settings));
    await expect(listPlace(typed, { place: 'evil:', recursive: false })).rejects.toEqual(refused);
    await expect(push(typed, {})).rejects.toEqual(refused);
    await expect(remoteTestTarget(typed, {})).rejects.toEqual(refused);
  });
});
