import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptKeysOf } from '../../engine/remotes/s3/keys/kept-keys.ts';
import { createFakeElectron } from './electron.fixture.ts';
import type { FakeOptions } from './electron-app.fixture.ts';
import { openSecrets, readKeys } from './secrets.ts';

const LAB = { accessKeyId: 'AKLAB', secretAccessKey: 'a+b/c=' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dray-desktop-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function open(storageBackend: FakeOptions['storageBackend'] = 'gnome_libsecret') {
  const fake = createFakeElectron({ userData: folder, ...(storageBackend ? { storageBackend } : {}) });
  await fake.app.whenReady();
  return openSecrets(fake.electron, { path: join(folder, 'secrets.json'), platform: 'linux' });
}

describe('secrets', () => {
  it('reach the engine, and no file in plain text', async () => {
    const secrets = await open();
    const state = await secrets.saveKeys('lab', LAB);
    expect(state).toEqual({ profiles: ['lab'], isAvailable: true });
    const text = readFileSync(join(folder, 'secrets.json'), 'utf8');
    for (const secret of [LAB.accessKeyId, LAB.secretAccessKey]) expect(text).not.toContain(secret);
    expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
    const environment = await (await open()).environmentOver({ HOME: '/h' });
    expect(environment).toMatchObject({ HOME: '/h' });
    expect(keptKeysOf(environment)).toEqual(new Map([['lab', LAB]]));
  });

  it('of an earlier version may hold one token for all machines: it is never sent, and the next change drops it', async () => {
    await (await open()).saveKeys('lab', LAB);
    const path = join(folder, 'secrets.json');
    const { keys } = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ keys, token: keys.lab }));
    const secrets = await open();
    expect(keptKeysOf(await secrets.environmentOver({}))).toEqual(new Map([['lab', LAB]]));
    expect(Object.keys(await secrets.environmentOver({}))).not.toContain('DRAY_TOKEN');
    await secrets.saveKeys('other', LAB);
    expect(Object.keys(JSON.parse(readFileSync(path, 'utf8')))).toEqual(['keys']);
    expect(await secrets.state()).toMatchObject({ profiles: ['lab', 'other'] });
  });

  it('are removed', async () => {
    const secrets = await open();
    await secrets.saveKeys('lab', LAB);
    await secrets.saveKeys('other', LAB);
    expect(await secrets.saveKeys('lab', undefined)).toMatchObject({ profiles: ['other'] });
    await secrets.saveKeys('other', undefined);
    expect(await secrets.environmentOver({})).toEqual({});
  });

  it('are refused, and those of an earlier version ignored, if Linux offers only basic_text', async () => {
    await (await open()).saveKeys('earlier', LAB);
    const before = readFileSync(join(folder, 'secrets.json'), 'utf8');
    const secrets = await open('basic_text');
    expect(await secrets.state()).toMatchObject({
      isAvailable: false,
      warning: expect.stringMatching(/no keyring.*GNOME Keyring/),
    });
    await expect(secrets.saveKeys('lab', LAB)).rejects.toThrow('no keyring');
    expect(readFileSync(join(folder, 'secrets.json'), 'utf8')).toBe(before);
    expect(await secrets.environmentOver({})).toEqual({});
    // Secrets saved that way can still be removed.
    expect(await secrets.saveKeys('earlier', undefined)).toMatchObject({ profiles: [] });
  });

  it('are refused if the system cannot encrypt', async () => {
    const secrets = await open('none');
    expect(await secrets.state()).toMatchObject({ isAvailable: false, profiles: [] });
    await expect(secrets.saveKeys('lab', LAB)).rejects.toThrow('nothing can be saved');
  });

  it('that cannot be decrypted any more, or are invalid, count as none', async () => {
    const foreign = Buffer.from('another key').toString('base64');
    const path = join(folder, 'secrets.json');
    for (const text of [JSON.stringify({ keys: { lab: foreign, odd: 5 } }), '[]', 'null', '{'])
      for (const secrets of [writeFileSync(path, text), await open()])
        if (secrets) expect(await secrets.environmentOver({})).toEqual({});
  });

  it('saved at the same time are all kept', async () => {
    const secrets = await open();
    await Promise.all([secrets.saveKeys('lab', LAB), secrets.saveKeys('other', LAB)]);
    expect(await secrets.state()).toMatchObject({ profiles: ['lab', 'other'] });
  });

  it('do not overwrite an invalid file, which is set aside', async () => {
    const path = join(folder, 'secrets.json');
    writeFileSync(path, '{"keys":{"lab":');
    const secrets = await open();
    expect(await secrets.state()).toMatchObject({ profiles: [] });
    await secrets.saveKeys('other', LAB);
    expect(readFileSync(`${path}.damaged`, 'utf8')).toBe('{"keys":{"lab":');
    expect(await secrets.state()).toMatchObject({ profiles: ['other'] });
  });

  it('must come from the window as one line of text', () => {
    expect(readKeys(['lab', LAB])).toEqual({ profile: 'lab', keys: LAB });
    expect(readKeys(['lab', { ...LAB, more: 'x' }])).toEqual({ profile: 'lab', keys: LAB });
    expect(readKeys(['lab', undefined])).toEqual({ profile: 'lab', keys: undefined });
    for (const given of [
      ['', LAB],
      [5, LAB],
      ['__proto__', LAB],
      ['lab', { accessKeyId: 'x' }],
      ['lab', { ...LAB, secretAccessKey: 'a\nb' }],
      ['lab', { ...LAB, secretAccessKey: 'x'.repeat(9_000) }],
      ['lab', null],
    ])
      expect(() => readKeys(given)).toThrow();
  });
});
