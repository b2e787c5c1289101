import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { initWorkspace } from '../remotes/init.ts';
import { remoteAdd, remoteList, remoteRemove, remoteTestTarget } from '../remotes/remotes.ts';
import { createSandbox, testContext } from '../session/job.fixture.ts';
import { userConfigPath } from '../session/user-remotes.ts';
import { checkApart, nameOfPlace, parsePlace, placeIdentity, type RemotePlace } from './places.ts';

const parse = (place: string, more: Parameters<typeof testContext>[1] = {}) =>
  parsePlace(testContext('/base', more), { place });
const s3 = (place: string) => {
  const parsed = parse(place) as RemotePlace;
  const bucket = parsed.url.kind === 's3' ? parsed.url.bucket : undefined;
  return [bucket, parsed.url.prefix, parsed.isFolderForm, nameOfPlace(parsed)];
};

const canMount = process.platform === 'linux' && spawnSync('unshare', ['-rm', 'true']).status === 0;

describe('Places', () => {
  it.each([
    ['s3://bucket', ['bucket', '', true, '']],
    ['s3://bucket/', ['bucket', '', true, '']],
    ['s3://bucket/a', ['bucket', 'a', false, 'a']],
    ['s3://bucket/a/b', ['bucket', 'a/b', false, 'b']],
    ['s3://bucket/a/b/', ['bucket', 'a/b', true, 'b']],
    ['s3://bucket/a%3Fb?region=eu-1', ['bucket', 'a?b', false, 'a?b']],
    ['s3://bucket/50%25/', ['bucket', '50%', true, '50%']],
    ['s3://bucket/a#b c', ['bucket', 'a#b c', false, 'a#b c']],
    ['s3://bucket/a//b', ['bucket', 'a//b', false, 'b']],
    ['s3://bucket/a//', ['bucket', 'a/', true, '']],
    ['s3://bucket//a', ['bucket', '/a', false, '/a']],
  ])('reads the bucket, the prefix and the form of %s, and keeps every slash', (text, expected) => {
    expect(s3(text)).toEqual(expected);
  });

  it.each([
    ['data', '/base/data', false],
    ['data/', '/base/data', true],
    ['.', '/base', true],
    ['../x/..', '/', true],
    ['/abs', '/abs', false],
    ['file:///abs/my%20set/', '/abs/my set', true],
    ['./s3:odd', '/base/s3:odd', false],
  ])('takes %s for the local path %s', (text, path, isFolderForm) => {
    expect(parse(text)).toMatchObject({ kind: 'local', path, isFolderForm, text });
  });

  it('takes - for a stream', () => {
    expect(parse('-')).toEqual({ kind: 'stdio', text: '-' });
  });

  it.each([
    ['', /empty/],
    ['s3://bucket/a/../b', /"\.\."/],
    ['s3://bucket//', /without a name/],
    ['s3://bucket/50%', /%25/],
    ['s3:bucket', /s3:\/\/BUCKET/],
    ['gs://bucket/a', /"gs:"/],
    ['nobody:here', /no remote "nobody".*remote add --user/],
  ])('refuses "%s" as usage', (text, message) => {
    expect(() => parse(text)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) }),
    );
  });

  it('prefers the flags of a side to those of the command', () => {
    const context = testContext('/base', { connection: { endpoint: 'http://all', profile: 'all' } });
    const place = parsePlace(context, { place: 's3://bucket', connection: { endpoint: 'http://side' } });
    expect(place).toMatchObject({ connection: { endpoint: 'http://side', profile: 'all' } });
    expect(placeIdentity(place, {})).toBe('s3:http://side/bucket/');
  });

  it('have one identity, however they are written', () => {
    const identity = (text: string, environment = {}) => placeIdentity(parse(text), environment);
    expect(identity('s3://bucket/a/?endpoint=http://x/')).toBe(
      identity('s3://bucket/a', { AWS_ENDPOINT_URL: 'http://x' }),
    );
    expect(identity('s3://bucket/a?profile=one')).not.toBe(identity('s3://bucket/a?profile=two'));
    using sandbox = createSandbox();
    mkdirSync(sandbox.path('real'));
    symlinkSync(sandbox.path('real'), sandbox.path('link'));
    expect(identity(sandbox.path('link/not-yet/there'))).toBe(identity(sandbox.path('real/not-yet/there')));
  });
});

describe('Places of a copy', () => {
  const check = (source: string, destination: string) => () =>
    checkApart(parse(source), parse(destination), {});

  it.each([
    ['a', 'a/', /same place/],
    ['a', 'a/b', /second lies inside the first/],
    ['a/b', 'a', /first lies inside the second/],
    ['.', 'a', /second lies inside/],
    ['s3://bucket/a', 's3://bucket/a/', /same place/],
    ['s3://bucket', 's3://bucket/a', /second lies inside/],
    ['s3://bucket/a/b?endpoint=http://x', 's3://bucket/a?endpoint=http://x/', /first lies inside/],
  ])('%s and %s are refused', (source, destination, message) => {
    expect(check(source, destination)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) }),
    );
  });

  it.each([
    ['a', 'ab'],
    ['s3://bucket/a', 's3://bucket/ab'],
    ['s3://bucket/a', 's3://other/a'],
    ['s3://bucket/a?endpoint=http://x', 's3://bucket/a?endpoint=http://y'],
    ['a', 's3://bucket/a'],
    ['-', 's3://bucket/a'],
  ])('%s and %s are apart', (source, destination) => {
    expect(check(source, destination)).not.toThrow();
  });

  it('are compared after resolving links', () => {
    using sandbox = createSandbox();
    mkdirSync(sandbox.path('source'));
    symlinkSync(sandbox.path('source'), sandbox.path('link'));
    expect(check(sandbox.path('source'), sandbox.path('link/inside'))).toThrow(/second lies inside/);
  });

  it.skipIf(!canMount)('are compared after resolving mounts (needs unshare)', () => {
    using sandbox = createSandbox();
    for (const name of ['source/inside', 'mounted']) mkdirSync(sandbox.path(name), { recursive: true });
    const script = `
      import { checkApart, parsePlace } from ${JSON.stringify(new URL('./places.ts', import.meta.url).href)};
      const context = { directory: ${JSON.stringify(sandbox.folder)}, connection: {}, environment: {} };
      const codeOf = (options, ...places) => {
        const [from, to] = places.map((place) => parsePlace(context, { place }));
        try {
          checkApart(from, to, {}, options);
        } catch (error) {
          return error.code;
        }
      };
      console.log(JSON.stringify([
        codeOf({}, 'source/inside', 'mounted'),
        codeOf({}, 'source', 'mounted/not/there'),
        codeOf({ mayNest: true }, 'source/inside', 'mounted') ?? 'apart',
        codeOf({ mayNest: true }, 'source', 'mounted'),
      ]));`;
    const command = 'mount --bind source mounted && exec "$0" --input-type=module -e "$1"';
    const { stderr, stdout } = spawnSync('unshare', ['-rm', 'sh', '-c', command, process.execPath, script], {
      cwd: sandbox.folder,
      encoding: 'utf8',
    });
    expect([stdout.trim(), stderr]).toEqual(['["usage","usage","apart","usage"]', '']);
  });
});

describe('Named remotes', () => {
  it('of the user are known everywhere, and adding one keeps the rest of the file', async () => {
    using sandbox = createSandbox();
    const environment = { XDG_CONFIG_HOME: sandbox.path('config') };
    sandbox.write('config/dray/config.json', '{"other": 1}');
    const context = testContext(sandbox.folder, { environment, connection: { endpoint: 'http://x' } });
    await remoteAdd(context, { name: 'store', url: 's3://bucket/birds', user: true });
    await remoteAdd(context, { name: 'disk', url: 'disk', user: true });
    expect(parsePlace(context, { place: 'store:a/b' })).toMatchObject({
      url: { endpoint: 'http://x', bucket: 'bucket', prefix: 'birds/a/b' },
      isFolderForm: false,
      text: 's3://bucket/birds/a/b',
    });
    expect(parsePlace(context, { place: 'store:' })).toMatchObject({
      url: { prefix: 'birds' },
      isFolderForm: true,
    });
    expect(parsePlace(context, { place: 'store:what?%20/' })).toMatchObject({
      url: { prefix: 'birds/what?%20' },
      isFolderForm: true,
    });
    expect(parsePlace(context, { place: 'disk:a' })).toMatchObject({
      kind: 'local',
      path: sandbox.path('disk/a'),
    });
    for (const place of ['store:/a', 'store:a/../../b', 'disk:/etc', 'disk:../x'])
      expect(() => parsePlace(context, { place })).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => parsePlace(context, { place: 'stroe:a' })).toThrow(/Known are: disk, store\./);
    expect(await remoteList(context, { user: true })).toEqual({ remotes: 2 });
    expect(await remoteRemove(context, { name: 'disk', user: true })).toEqual({ remotes: 1 });
    expect(() => parsePlace(context, { place: 'disk:a' })).toThrow(/no remote/);
  });

  it('of the user are tested by name, inside and outside a workspace; without a name the remote of push is', async () => {
    using sandbox = createSandbox();
    const environment = { XDG_CONFIG_HOME: sandbox.path('config'), DRAY_AUTHOR: 'tester' };
    const at = (folder: string) => testContext(folder, { environment });
    mkdirSync(sandbox.path('disk'));
    await remoteAdd(at(sandbox.folder), { name: 'mine', url: 'disk', user: true });
    const mine = { url: sandbox.path('disk'), failed: 0 };
    const tested = async (folder: string, request: { readonly target?: string }) => {
      const { failed, url } = await remoteTestTarget(at(folder), request);
      return { failed, url: fileURLToPath(url) };
    };
    expect(await tested(sandbox.folder, { target: 'mine' })).toEqual(mine);
    await expect(tested(sandbox.folder, {})).rejects.toMatchObject({ code: 'usage' });
    const work = sandbox.path('work');
    await initWorkspace(at(work), { remoteUrl: sandbox.path('store') });
    expect(await tested(work, { target: 'mine' })).toEqual(mine);
    expect(await tested(work, {})).toEqual({ url: sandbox.path('store'), failed: 0 });
  });

  it("of the user come before the workspace's, and a path with a colon is found when no remote is", async () => {
    using sandbox = createSandbox();
    const environment = { XDG_CONFIG_HOME: sandbox.path('config'), DRAY_AUTHOR: 'tester' };
    const at = (folder: string) => testContext(folder, { environment });
    await initWorkspace(at(sandbox.path('data')), { remoteUrl: sandbox.path('store') });
    const context = at(sandbox.path('data'));
    await remoteAdd(context, { name: 'origin', url: 's3://users/own', user: true });
    for (const folder of [context, at(sandbox.folder)])
      expect(parsePlace(folder, { place: 'origin:x' })).toMatchObject({ url: { bucket: 'users' } });
    await remoteRemove(context, { name: 'origin', user: true });
    expect(parsePlace(context, { place: 'origin:x' })).toMatchObject({ path: sandbox.path('store/x') });
    sandbox.write('data/notes:today', '');
    expect(parsePlace(context, { place: 'notes:today' })).toMatchObject({ kind: 'local' });
  });

  it.each([['s3'], ['file'], ['x'], ['a b']])('of the user cannot be called "%s"', async (name) => {
    using sandbox = createSandbox();
    const context = testContext(sandbox.folder, { environment: { XDG_CONFIG_HOME: sandbox.folder } });
    await expect(remoteAdd(context, { name, url: 'disk', user: true })).rejects.toMatchObject({
      code: 'usage',
    });
  });

  it('in a damaged file give a usage error that names the file', () => {
    using sandbox = createSandbox();
    const environment = { DRAY_CONFIG: sandbox.write('config.json', '{"remotes": 5}') };
    expect(userConfigPath({ environment })).toBe(environment.DRAY_CONFIG);
    expect(() => parsePlace(testContext('/base', { environment }), { place: 'name:' })).toThrow(
      /config\.json are damaged/,
    );
  });
});
