import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DrayError } from '../../../api/error.ts';
import { credentialSourceOf, keptWhileValid } from './credentials.ts';
import { withKeptKeys } from './kept-keys.ts';
import { readProfile } from './profile.ts';

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'dray-profile-'));
  mkdirSync(join(home, '.config/rclone'), { recursive: true });
  const remotes = [
    '[my store]',
    'type = s3',
    'provider = Minio',
    'access_key_id = RCLONE',
    'secret_access_key = a+b/c=',
    'endpoint = http://minio:9000',
    '[drive]',
    'type = drive',
    'access_key_id = NO',
    'secret_access_key = NO',
  ];
  writeFileSync(join(home, '.config/rclone/rclone.conf'), remotes.join('\n'));
  mkdirSync(join(home, '.aws'));
  writeFileSync(
    join(home, '.aws/credentials'),
    '[lab]\naws_access_key_id = FILE\naws_secret_access_key = file\n',
  );
});
afterAll(() => rmSync(home, { recursive: true }));

async function keysOf(profile: string | undefined, more: Readonly<Record<string, string | undefined>> = {}) {
  const environment = { HOME: home, ...more };
  const options = { bucket: 'b', prefix: '', environment, ...(profile === undefined ? {} : { profile }) };
  const read = await readProfile(options);
  return credentialSourceOf(options, read)();
}

describe('The profile that a remote names', () => {
  it('is one of the kept keys before one of the files', async () => {
    const environment = withKeptKeys({}, { lab: { accessKeyId: 'KEPT', secretAccessKey: 'kept' } });
    expect(await keysOf('lab', environment)).toEqual({ accessKeyId: 'KEPT', secretAccessKey: 'kept' });
    expect(await keysOf('lab')).toEqual({ accessKeyId: 'FILE', secretAccessKey: 'file' });
  });

  it('is used before keys of the environment', async () => {
    const keys = { lab: { accessKeyId: 'KEPT', secretAccessKey: 'kept', sessionToken: 'session' } };
    const environment = { AWS_ACCESS_KEY_ID: 'ENV', AWS_SECRET_ACCESS_KEY: 'env' };
    expect(await keysOf('lab', withKeptKeys(environment, keys))).toEqual(keys.lab);
    expect(await keysOf(undefined, withKeptKeys(environment, keys))).toMatchObject({ accessKeyId: 'ENV' });
  });

  it('is a remote of rclone, whose keys stay in its settings', async () => {
    expect(await keysOf('rclone:my store')).toEqual({ accessKeyId: 'RCLONE', secretAccessKey: 'a+b/c=' });
    const elsewhere = { RCLONE_CONFIG: join(home, 'none.conf') };
    await expect(keysOf('rclone:drive')).rejects.toMatchObject({ code: 'usage' });
    await expect(keysOf('rclone:my store', elsewhere)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('Credentials that expire', () => {
  const keys = { accessKeyId: 'TEMPORARY', secretAccessKey: 'temporary', expiration: new Date(10_000) };
  const refused = ({ isRenewal }: { readonly isRenewal: boolean }) =>
    new DrayError('noCredentials', 'None.', { retry: isRenewal ? 'retry' : 'no' });

  it('are good until then, though their renewal has begun and fails, and are fetched again afterwards', async () => {
    let nowMs = 0;
    let isUp = true;
    const renew = async () => {
      if (!isUp) throw new Error('The service that gives them is away.');
      return keys;
    };
    const source = keptWhileValid(renew, refused, () => nowMs);
    expect(await source()).toBe(keys);
    isUp = false;
    nowMs = 9_999;
    expect(await source()).toBe(keys);
    nowMs = 10_000;
    await expect(source()).rejects.toMatchObject({ code: 'noCredentials', retry: 'retry' });
    isUp = true;
    expect(await source()).toBe(keys);
  });

  it('are undefined for a user who never had any', async () => {
    const source = keptWhileValid(() => Promise.reject(new Error('None.')), refused);
    await expect(source()).rejects.toMatchObject({ code: 'noCredentials', retry: 'no' });
  });
});
