import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptKeysOf, withKeptKeys } from '../remotes/s3/keys/kept-keys.ts';
import { createHostFixture, type HostFixture } from './host.fixture.ts';

let fixture: HostFixture;
beforeEach(() => {
  fixture = createHostFixture();
});
afterEach(() => fixture[Symbol.asyncDispose]());

describe('remotes', () => {
  it('are the user\u2019s own and those of known workspaces', async () => {
    const { client } = fixture;
    const root = await fixture.workspace();
    await client.ask('home.addWorkspace', { root });
    await client.ask('remotes.add', { name: 'mine', url: 's3://bucket/prefix?region=eu-west-1' });
    const { remotes } = await client.ask('remotes.list', {});
    expect(remotes).toEqual([
      { name: 'mine', url: 's3://bucket/prefix?region=eu-west-1', of: 'user' },
      { name: 'origin', url: expect.stringContaining('work-remote'), of: root },
    ]);
    await client.ask('remotes.remove', { name: 'mine' });
    expect((await client.ask('remotes.list', {})).remotes.length).toBe(1);
    await expect(client.ask('remotes.remove', { name: 'mine' })).rejects.toMatchObject({ code: 'usage' });
  });

  it('are changed in place, and never share a name', async () => {
    const { client } = fixture;
    for (const name of ['first', 'second', 'third'])
      await client.ask('remotes.add', { name, url: `s3://${name}` });
    await client.ask('remotes.change', { name: 'second', to: { name: 'middle', url: 's3://other/raw' } });
    const named = async () =>
      (await client.ask('remotes.list', {})).remotes.map(({ name, url }) => `${name} ${url}`);
    const changed = ['first s3://first', 'middle s3://other/raw', 'third s3://third'];
    expect(await named()).toEqual(changed);
    for (const [name, to] of [
      ['gone', 'new'],
      ['first', 'third'],
      ['first', 'a b'],
      ['first', 's3'],
    ] as const)
      await expect(
        client.ask('remotes.change', { name, to: { name: to, url: 's3://first' } }),
      ).rejects.toMatchObject({ code: 'usage' });
    expect(await named()).toEqual(changed);
  });

  it('are tested, with an event per finished check', async () => {
    const checks: string[] = [];
    const { sandbox } = fixture;
    await fixture.workspace();
    const answer = await fixture.client.ask(
      'remotes.test',
      { target: sandbox.path('work-remote') },
      {
        onEvents: (events) => {
          for (const event of events) if (event.type === 'check') checks.push(event.check);
        },
      },
    );
    expect(answer.failed).toBe(0);
    expect(checks.length).toBeGreaterThanOrEqual(answer.passed);
  });
});

describe('keys', () => {
  const keys = { accessKeyId: 'AK', secretAccessKey: 'secret' };

  it('that were saved are a source by name, before a profile of that name', async () => {
    const { client, host, sandbox } = fixture;
    sandbox.write('.aws/credentials', '[lab]\naws_access_key_id = A\n');
    host.setEnvironment(withKeptKeys(host.environment, { lab: keys }));
    expect(await client.ask('remotes.keySources', {})).toEqual({
      profiles: [{ name: 'lab', from: 'kept' }],
      hasEnvironmentKeys: false,
    });
  });

  it('that were typed are held in memory, and appear in no file and no answer', async () => {
    const { client, host, sandbox } = fixture;
    const before = host.environment;
    await client.ask('keys.hold', { profile: 'lab', keys });
    expect(await client.ask('keys.list', {})).toEqual({ profiles: ['lab'] });
    expect(keptKeysOf(host.environment)).toEqual(new Map([['lab', keys]]));
    expect(host.environment).not.toBe(before);
    expect((await client.ask('remotes.keySources', {})).profiles).toEqual([{ name: 'lab', from: 'kept' }]);
    // Keys that the desktop saved meanwhile come beside them.
    host.setEnvironment(withKeptKeys(before, { other: keys }));
    expect([...keptKeysOf(host.environment).keys()].sort()).toEqual(['lab', 'other']);
    await client.ask('keys.hold', { profile: 'lab' });
    expect([...keptKeysOf(host.environment).keys()]).toEqual(['other']);
    const written = readdirSync(sandbox.folder, { recursive: true, withFileTypes: true });
    expect(written.filter((entry) => entry.isFile())).toEqual([]);
  });

  it('that are refused are not repeated in the error', async () => {
    const refused = [
      { profile: 'lab', keys: { accessKeyId: 'AK', secretAccessKey: 12345 } },
      { profile: 'lab', keys: { accessKeyId: 'AK', secretAccessKey: '12345\n' } },
      { profile: 'lab', keys: { ...keys, other: '12345' } },
      { profile: 'lab', keys: '12345' },
      { profile: '__proto__', keys },
    ];
    for (const input of refused) {
      const error = await fixture.client
        .ask('keys.hold', input as never)
        .catch((failure: unknown) => failure);
      expect(error).toMatchObject({ code: 'usage' });
      expect(JSON.stringify(error) + String(error)).not.toContain('12345');
    }
    expect(await fixture.client.ask('keys.list', {})).toEqual({ profiles: [] });
  });

  it('are held for 200 remotes at most', async () => {
    const { client } = fixture;
    for (let count = 0; count < 200; count += 1)
      await client.ask('keys.hold', { profile: `p${count}`, keys });
    await expect(client.ask('keys.hold', { profile: 'more', keys })).rejects.toMatchObject({ code: 'usage' });
    await client.ask('keys.hold', { profile: 'p7', keys });
  });

  it('are used only for a bucket whose URL names their profile', async () => {
    for (const target of ['/folder', 's3://bucket', 'dray://lab:7443'])
      await expect(fixture.client.ask('remotes.test', { target, keys })).rejects.toMatchObject({
        code: 'usage',
      });
  });
});

describe('importable remotes', () => {
  it('are none if no other program has settings', async () => {
    expect(await fixture.client.ask('remotes.importable', {})).toEqual({ candidates: [] });
  });

  it('come from AWS profiles and rclone remotes, and never contain a secret', async () => {
    const { client, sandbox } = fixture;
    sandbox.write(
      '.aws/config',
      '[default]\nregion = eu-central-1\n[profile work]\nregion=us-east-1\nendpoint_url = https://s3.example.com\ns3 =\n  addressing_style = path\n[sso-session x]\nsso_region = y\n',
    );
    sandbox.write(
      '.aws/credentials',
      '# comment\n[default]\naws_secret_access_key = SECRET1\n[only-keys]\naws_secret_access_key = SECRET2\n',
    );
    sandbox.write(
      '.config/rclone/rclone.conf',
      '[minio]\ntype = s3\nprovider = Minio\naccess_key_id = SECRET3\nsecret_access_key = SECRET4\nendpoint = minio.example.com:9000\n\n[drive]\ntype = drive\n[aws]\ntype = s3\nprofile = work\nregion = us-east-1\n',
    );
    const { candidates } = await client.ask('remotes.importable', {});
    expect(JSON.stringify(candidates)).not.toContain('SECRET');
    expect(candidates).toEqual([
      { from: 'aws', name: 'default', url: 's3://?region=eu-central-1&profile=default' },
      {
        from: 'aws',
        name: 'work',
        url: 's3://?endpoint=https%3A%2F%2Fs3.example.com&region=us-east-1&profile=work',
      },
      { from: 'aws', name: 'only-keys', url: 's3://?profile=only-keys' },
      {
        from: 'rclone',
        name: 'minio',
        url: 's3://?endpoint=https%3A%2F%2Fminio.example.com%3A9000&profile=rclone%3Aminio',
        note: 'Its keys stay in rclone.conf; Dray reads them there.',
      },
      { from: 'rclone', name: 'aws', url: 's3://?region=us-east-1&profile=work' },
    ]);
    expect(await client.ask('remotes.keySources', {})).toEqual({
      profiles: [
        { name: 'default', from: 'aws' },
        { name: 'work', from: 'aws' },
        { name: 'only-keys', from: 'aws' },
        { name: 'rclone:minio', from: 'rclone' },
      ],
      hasEnvironmentKeys: false,
    });
  });
});
