import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DrayError } from '../api/error.ts';
import type { PasswordChange } from '../api/host/passwords.ts';
import type { Transfer } from '../api/host/transfers.ts';
import { missingPasswordOf } from '../api/text/missing-keys.ts';
import { formatVersionPlace } from '../api/text/version-place.ts';
import { createHostFixture, type HostFixture, transferIn } from './host.fixture.ts';

const PASSWORD = 'two herons on one leg';
const OTHER = 'a kingfisher dives';

let fixture: HostFixture;
let root: string;
let remoteUrl: string;
let recoveryKey: string | undefined;
beforeEach(async () => {
  fixture = createHostFixture();
  root = fixture.sandbox.path('work');
  remoteUrl = fixture.sandbox.path('store');
  mkdirSync(root);
  const made = await fixture.client.ask('home.createWorkspace', { root, remoteUrl, password: PASSWORD });
  recoveryKey = made.recoveryKey;
});
afterEach(() => fixture[Symbol.asyncDispose]());

const run = async (
  order: { readonly kind: 'push' } | { readonly kind: 'clone'; readonly url: string; readonly root: string },
  { client } = fixture,
): Promise<Transfer> => {
  const { id } = await client.ask('transfers.start', { root, ...order });
  return transferIn(client, id, ['done', 'failed']);
};

const pushOne = async () => {
  fixture.sandbox.write('work/list.txt', 'grey heron\n');
  expect(await run({ kind: 'push' })).toMatchObject({ state: 'done' });
};

const change = (password: string, what: PasswordChange) => ask(what, password);
const ask = (what: PasswordChange, password = PASSWORD) =>
  fixture.client.ask('passwords.change', { root, password, change: what });

/** A new engine, which knows no key, with the error of its first look at the history. */
async function locked() {
  await fixture.host.close();
  const next = fixture.reopen();
  const asked = next.client.ask('history.list', { root, limit: 10 });
  const error = await asked.then(
    () => undefined,
    (failed: unknown) => failed as { code: 'noPassword'; data: Record<string, unknown> },
  );
  expect(error).toMatchObject({ code: 'noPassword', data: { remote: `file://${remoteUrl}` } });
  const { check, id } = missingPasswordOf(error!)!;
  return { next, client: next.client, repository: { check, id } };
}

describe('a password that is typed into a window', () => {
  it('makes an encrypted repository, and is asked for once by the next engine', async () => {
    expect(recoveryKey).toMatch(/^[\w-]{20,}$/);
    await pushOne();
    const { client, next, repository } = await locked();
    try {
      const wrong = client.ask('passwords.unlock', { ...repository, password: OTHER });
      await expect(wrong).rejects.toMatchObject({ code: 'wrongPassword' });
      expect(await client.ask('passwords.list', {})).toEqual({ repositories: [] });
      await client.ask('passwords.unlock', { ...repository, password: PASSWORD });
      expect((await client.ask('history.list', { root, limit: 10 })).commits).toHaveLength(1);
      const version = formatVersionPlace(remoteUrl, 'main', '');
      expect(await client.ask('browse.open', { place: version })).toMatchObject({ total: 1 });
      const file = formatVersionPlace(remoteUrl, 'main', 'list.txt');
      expect(await client.ask('browse.preview', { place: file })).toMatchObject({ text: 'grey heron\n' });
      const looks = await client.ask('home.look', { maxAgeMs: 0, isAsked: true });
      expect(looks.looks).toMatchObject([{ root, hasIncoming: false }]);
      const { repositories } = await client.ask('repositories.look', {});
      expect(repositories).toMatchObject([{ isEncrypted: true, state: 'ready', tip: { files: 1 } }]);

      expect(await client.ask('passwords.list', {})).toEqual({
        repositories: [{ ...repository, address: `file://${remoteUrl}` }],
      });
      await client.ask('passwords.lock', repository);
      const again = client.ask('history.list', { root, limit: 10 });
      await expect(again).rejects.toMatchObject({ code: 'noPassword' });
      await client.ask('passwords.unlock', { ...repository, password: recoveryKey! });
      expect((await client.ask('history.list', { root, limit: 10 })).commits).toHaveLength(1);
    } finally {
      await next.host.close();
    }
  });

  it('lies in no file, and neither does the key that it opens', async () => {
    await pushOne();
    await ask({ kind: 'add', label: 'ada', newPassword: OTHER });
    const secrets = [PASSWORD, OTHER, recoveryKey!, masterKey().toString('hex')];
    const files = filesBelow(fixture.sandbox.folder);
    expect(files.length).toBeGreaterThan(10);
    const holding = files.filter((file) => {
      const bytes = readFileSync(file);
      return secrets.some((secret) => bytes.includes(secret)) || bytes.includes(masterKey());
    });
    expect(holding).toEqual([]);
  });

  it('lets a transfer go on that has waited for it', async () => {
    await pushOne();
    const { client, next, repository } = await locked();
    try {
      const clone = { kind: 'clone', url: remoteUrl, root: fixture.sandbox.path('copy') } as const;
      const { id } = await client.ask('transfers.start', clone);
      const waiting = await waitsForPassword(client, id);
      expect(waiting.needs).toEqual({ locked: { ...repository, address: `file://${remoteUrl}` } });
      await client.ask('passwords.unlock', { ...repository, password: PASSWORD });
      expect(await transferIn(client, id, ['done', 'failed'])).toMatchObject({ state: 'done' });
      expect(readFileSync(fixture.sandbox.path('copy', 'list.txt'), 'utf8')).toBe('grey heron\n');
    } finally {
      await next.host.close();
    }
  });

  it('can be typed although the environment names a password file that is not there', async () => {
    await pushOne();
    await fixture.host.close();
    const { client, host } = fixture.reopen();
    try {
      const path = fixture.sandbox.path('gone');
      host.setEnvironment({ ...fixture.environment, DRAY_PASSWORD_FILE: path });
      const read = () => client.ask('history.list', { root, limit: 10 });
      const error: unknown = await read().catch((failed: unknown) => failed);
      expect(error).toMatchObject({ code: 'noPassword', data: { path, reason: 'passwordSource' } });
      const { check, id } = missingPasswordOf(error as DrayError)!;
      await client.ask('passwords.unlock', { check, id, password: PASSWORD });
      expect((await read()).commits).toHaveLength(1);
    } finally {
      await host.close();
    }
  });

  it('is refused where no job has asked for it, and never repeated by an error', async () => {
    const unknown = { id: '00000000-0000-4000-8000-000000000000', check: 'a'.repeat(64), password: PASSWORD };
    await expect(fixture.client.ask('passwords.unlock', unknown)).rejects.toMatchObject({ code: 'notFound' });
    for (const password of [`${PASSWORD}\n`, PASSWORD.repeat(1_000), [PASSWORD] as never]) {
      const failed: unknown = await fixture.client
        .ask('passwords.unlock', { ...unknown, password })
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: 'usage' });
      expect(JSON.stringify(failed) + String(failed)).not.toContain('heron');
    }
  });
});

describe('the keys of a repository in a window', () => {
  it('are listed, added, replaced and removed, each time with a password', async () => {
    const { client } = fixture;
    const { key: ada } = await ask({ kind: 'add', label: 'ada', newPassword: OTHER });
    const second = await change(OTHER, { kind: 'addRecovery', label: 'safe' });
    expect(second.recoveryKey).not.toBe(recoveryKey);
    const { keys } = await client.ask('passwords.keys', { root });
    expect(keys.map(({ kind, label }) => `${kind} ${label}`).sort()).toEqual([
      'password ada',
      'password first password',
      'recovery recovery key',
      'recovery safe',
    ]);
    // The engine holds the master key. That is not enough.
    await expect(change('wrong', { kind: 'remove', id: ada.id })).rejects.toMatchObject({
      code: 'wrongPassword',
    });
    await expect(change(OTHER, { kind: 'remove', id: ada.id })).rejects.toMatchObject({ code: 'usage' });
    await ask({ kind: 'remove', id: ada.id });
    await expect(change(OTHER, { kind: 'replace', newPassword: 'x' })).rejects.toMatchObject({
      code: 'wrongPassword',
    });
    await ask({ kind: 'replace', newPassword: 'third' });
    await expect(ask({ kind: 'addRecovery', label: '' })).rejects.toMatchObject({ code: 'wrongPassword' });
    await change('third', { kind: 'addRecovery', label: '' });
  });

  it('of the environment do not count where one is typed', async () => {
    const other = createHostFixture();
    try {
      other.host.setEnvironment({ ...other.environment, DRAY_PASSWORD: 'wrong', DRAY_NEW_PASSWORD: 'no' });
      const made = other.sandbox.path('other');
      mkdirSync(made);
      const url = other.sandbox.path('store');
      await other.client.ask('home.createWorkspace', { root: made, remoteUrl: url, password: PASSWORD });
      const add = { kind: 'add', label: '', newPassword: OTHER } as const;
      await other.client.ask('passwords.change', { root: made, password: PASSWORD, change: add });
      await other.client.ask('passwords.change', { root: made, password: OTHER, change: add });
    } finally {
      await other[Symbol.asyncDispose]();
    }
  });
});

function masterKey(): Buffer {
  const [repository] = fixture.host.masterKeys.list();
  return Buffer.from(fixture.host.masterKeys.find(repository!)!);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile());
}

async function waitsForPassword(client: HostFixture['client'], id: string): Promise<Transfer> {
  const stopping = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Transfer>();
  client
    .ask(
      'transfers.watch',
      {},
      {
        signal: stopping.signal,
        onEvents: (events) => {
          for (const event of events) {
            const found =
              event.type === 'transfers' && event.transfers.find((one) => one.id === id && one.needs);
            if (found) resolve(found);
          }
        },
      },
    )
    .catch(() => {});
  return promise.finally(() => stopping.abort());
}
