import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFakeElectron } from './electron.fixture.ts';
import type { FakeOptions } from './electron-app.fixture.ts';
import { openSecrets, readSecret } from './secrets.ts';

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
  it('reach the engine and no file in the clear', async () => {
    const secrets = await open();
    expect(await secrets.save('DRAY_TOKEN', 'a token')).toEqual({ saved: ['DRAY_TOKEN'], isAvailable: true });
    expect(readFileSync(join(folder, 'secrets.json'), 'utf8')).not.toContain('a token');
    expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
    expect(await (await open()).environmentOver({ HOME: '/h' })).toEqual({
      HOME: '/h',
      DRAY_TOKEN: 'a token',
    });
  });

  it('stand behind what the environment says, and never pair with its keys of AWS', async () => {
    const secrets = await open();
    await secrets.save('DRAY_TOKEN', 'saved');
    await secrets.save('AWS_SESSION_TOKEN', 'saved');
    await secrets.save('AWS_SECRET_ACCESS_KEY', 'saved');
    const given = { DRAY_TOKEN: 'given', AWS_ACCESS_KEY_ID: 'given', AWS_SECRET_ACCESS_KEY: 'given' };
    expect(await secrets.environmentOver(given)).toEqual(given);
  });

  it('are removed by an empty value', async () => {
    const secrets = await open();
    await secrets.save('DRAY_TOKEN', 'x');
    expect((await secrets.save('DRAY_TOKEN', '')).saved).toEqual([]);
  });

  it('are saved with a plain warning where Linux offers basic_text alone', async () => {
    const secrets = await open('basic_text');
    expect((await secrets.state()).warning).toMatch(/no keyring.*a key that everybody knows/);
    await secrets.save('DRAY_TOKEN', 'x');
    expect(await secrets.environmentOver({})).toEqual({ DRAY_TOKEN: 'x' });
  });

  it('are refused where nothing can be encrypted', async () => {
    const secrets = await open('none');
    expect(await secrets.state()).toMatchObject({ isAvailable: false, saved: [] });
    await expect(secrets.save('DRAY_TOKEN', 'x')).rejects.toThrow('nothing can be saved');
  });

  it('that cannot be decrypted any more are as good as none', async () => {
    const foreign = Buffer.from('another key').toString('base64');
    writeFileSync(join(folder, 'secrets.json'), JSON.stringify({ DRAY_TOKEN: foreign, PATH: foreign }));
    expect(await (await open()).environmentOver({})).toEqual({});
  });

  it('have names that are known and values of one line', () => {
    expect(readSecret(['DRAY_TOKEN', 'x'])).toEqual({ name: 'DRAY_TOKEN', value: 'x' });
    for (const given of [
      ['NODE_OPTIONS', '--require=x'],
      ['LD_PRELOAD', 'x'],
      ['DRAY_TOKEN'],
      ['DRAY_TOKEN', 'a\nb'],
      [],
    ])
      expect(() => readSecret(given)).toThrow();
  });
});
