import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DrayError } from '../api/error.ts';
import { resolveLocation } from './open-remote.ts';
import {
  defaultCloneFolder,
  formatRemoteUrl,
  parsePeerAddress,
  parseRemoteUrl,
  peerAddress,
  peerOrigin,
  type RemoteUrl,
} from './remote-url.ts';

const parse = (text: string) => parseRemoteUrl(text, '/base');

describe('Remote URLs', () => {
  it.each([
    ['/data/set', { kind: 'file', path: '/data/set' }],
    ['/data/set/', { kind: 'file', path: '/data/set' }],
    ['set', { kind: 'file', path: '/base/set' }],
    ['../set', { kind: 'file', path: '/set' }],
    ['./s3:odd', { kind: 'file', path: '/base/s3:odd' }],
    ['file:///data/my%20set', { kind: 'file', path: '/data/my set' }],
    ['FILE://localhost/data', { kind: 'file', path: '/data' }],
    ['s3://bucket', { kind: 's3', bucket: 'bucket', prefix: '' }],
    ['S3://bucket/', { kind: 's3', bucket: 'bucket', prefix: '' }],
    ['s3://bucket/a/b/', { kind: 's3', bucket: 'bucket', prefix: 'a/b' }],
    ['s3://bucket/my set/100%25', { kind: 's3', bucket: 'bucket', prefix: 'my set/100%' }],
    [
      's3://bucket/a?endpoint=http://127.0.0.1:9000/&region=eu-1&profile=work&pathStyle=false',
      {
        kind: 's3',
        bucket: 'bucket',
        prefix: 'a',
        endpoint: 'http://127.0.0.1:9000',
        region: 'eu-1',
        profile: 'work',
        pathStyle: false,
      },
    ],
  ] satisfies [string, RemoteUrl][])('reads %s', (text, url) => {
    expect(parse(text)).toEqual(url);
  });

  it.each([
    ['', /empty/],
    ['s3:bucket', /s3:\/\/BUCKET/],
    ['s3://', /names no bucket/],
    ['s3:///prefix', /names no bucket/],
    ['s3://localhost:9000/bucket', /not a bucket name/],
    ['s3://ab', /not a bucket name/],
    ['s3://bucket/a/../b', /"\.\."/],
    ['s3://bucket/a//b', /empty part/],
    ['s3://bucket/50%', /%25/],
    ['s3://bucket?endpiont=http://x', /no parameter "endpiont".*endpoint, region/],
    ['s3://bucket?region=a&region=b', /twice/],
    ['s3://bucket?region=', /no value/],
    ['s3://bucket?pathStyle=yes', /true or false/],
    ['s3://bucket?anonymous=1', /anonymous must be true or false/],
    ['s3://bucket?endpoint=127.0.0.1:9000', /must be a URL/],
    ['s3://bucket?endpoint=https://x/?a=b', /must not have parameters/],
    ['s3://bucket?endpoint=https://x/%23', /must not have parameters/],
    ['s3://bucket?endpoint=https://x/%3F', /must not have parameters/],
    ['s3://bucket?region=attacker.example/%23', /region= .*attacker\.example.* not a region/],
    ['s3://bucket?region=evil.example', /not a region/],
    ['s3://bucket?region=a:80', /not a region/],
    ['s3://bucket?region=a%40b', /not a region/],
    ['s3://bucket?region=a%0d%0ab', /not a region/],
    ['s3://bucket?profile=a%0ab', /not the name of a profile/],
    ['s3://attacker.example%2F%23', /not a bucket name/],
    ['gs://bucket/a', /"gs:"/],
    ['https://x/y', /"https:"/],
    ['file:relative', /slashes/],
    ['file://server/share', /without a host/],
    ['file:///a?b=c', /parameters/],
  ])('refuses %s', (text, message) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(() => parse(text)).toThrow(message);
  });

  it.each([
    's3://AKIAEXAMPLE:hunter2@bucket/a',
    's3://bucket/a?secretAccessKey=hunter2',
    's3://bucket/a?session_token=hunter2',
    's3://bucket/a?endpoint=https://user:hunter2@host',
  ])('refuses credentials and does not repeat them: %s', (text) => {
    let refusal: unknown;
    try {
      parse(text);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(DrayError);
    expect(refusal).toMatchObject({ code: 'usage' });
    expect((refusal as DrayError).message).toMatch(/must not (contain|hold) credentials/);
    expect(JSON.stringify([(refusal as DrayError).message, (refusal as DrayError).data])).not.toMatch(
      /hunter2|AKIA/,
    );
  });

  it('survive printing and parsing unchanged', () => {
    const part = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 10 })
      .filter((text) => text.isWellFormed() && !/[/\0]/.test(text) && text !== '.' && text !== '..');
    const prefix = fc.array(part, { maxLength: 3 }).map((parts) => parts.join('/'));
    const profile = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 10 })
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is left out.
      .filter((value) => value.isWellFormed() && !/[\0-\x1f\x7f]/.test(value));
    const s3 = fc.record(
      {
        kind: fc.constant('s3' as const),
        bucket: fc.constantFrom('bucket', 'my.bucket-1', 'Old_Bucket'),
        prefix,
        endpoint: fc.constantFrom('http://127.0.0.1:9000', 'https://s3.example.com/base'),
        region: fc.constantFrom('eu-west-1', 'auto', 'us-west-004', 'RegionOne', 'my_region'),
        profile,
        pathStyle: fc.boolean(),
        anonymous: fc.boolean(),
      },
      { requiredKeys: ['kind', 'bucket', 'prefix'] },
    );
    const file = prefix.map((path) => ({ kind: 'file' as const, path: `/${path}` }));
    fc.assert(
      fc.property(fc.oneof(s3, file), (url) => {
        expect(parseRemoteUrl(formatRemoteUrl(url), '/elsewhere')).toEqual(url);
      }),
    );
  });

  it('name the folder of a clone by their last part', () => {
    expect(defaultCloneFolder(parse('s3://bucket/team/photos?region=eu-1'))).toBe('photos');
    expect(defaultCloneFolder(parse('s3://bucket'))).toBe('bucket');
    expect(defaultCloneFolder(parse('/data/set/'))).toBe('set');
    expect(() => defaultCloneFolder(parse('/'))).toThrow(expect.objectContaining({ code: 'usage' }));
  });
});

describe('The location of a bucket', () => {
  const url = (text: string) => {
    const parsed = parse(text);
    if (parsed.kind !== 's3') throw new Error('expected an S3 URL');
    return parsed;
  };

  it('comes from the URL, then the flags, then the settings', () => {
    const settings = { endpoint: 'http://setting', region: 'setting', profile: 'setting', pathStyle: true };
    expect(
      resolveLocation(url('s3://bucket?region=url'), { region: 'flag', endpoint: 'http://flag/' }, settings),
    ).toEqual({ region: 'url', endpoint: 'http://flag', profile: 'setting', pathStyle: true });
  });

  it('omits missing values, which the environment fills in', () => {
    expect(resolveLocation(url('s3://bucket'), {})).toEqual({});
    expect(resolveLocation(url('s3://bucket'), { pathStyle: false })).toEqual({ pathStyle: false });
    const signed = url('s3://bucket?anonymous=false');
    expect(resolveLocation(signed, { anonymous: true })).toEqual({ anonymous: false });
  });
});

describe("a peer's URL", () => {
  it('names its token file and its encryption, and survives a round trip', () => {
    const text = 'dray://nas:7371/photos/2024?tls=on&tokenFile=/home/ada/my%20token';
    const url = parseRemoteUrl(text, '/', { from: 'user' });
    expect(url).toEqual({
      kind: 'peer',
      host: 'nas',
      port: 7371,
      prefix: 'photos/2024',
      tls: true,
      tokenFile: '/home/ada/my token',
    });
    expect(formatRemoteUrl(url)).toBe(text);
    expect(parseRemoteUrl(text, '/', { from: 'typed' })).toEqual({ ...url, isTyped: true });
    expect(() => parseRemoteUrl(text, '/')).toThrow(expect.objectContaining({ code: 'usage' }));
  });

  it.each([
    'dray://nas/?tokenFile=token',
    'dray://nas/?token=secret',
    'dray://token@nas/',
    'dray://nas/?tls=maybe',
  ])('is refused if it contains a secret or is invalid: %s', (text) =>
    expect(() => parseRemoteUrl(text, '/', { from: 'typed' })).toThrow(
      expect.objectContaining({ code: 'usage' }),
    ),
  );

  it.each([
    ['dray://[0:0:0:0:0:0:0:1]/a', 'dray://[::1]:7370'],
    ['dray://[FE80::0001]:1', 'dray://[fe80::1]:1'],
    ['dray://127.1:9', 'dray://127.0.0.1:9'],
    ['dray://0x7f000001?tls=off', 'dray://127.0.0.1:7370?tls=off'],
    ['dray://NAS.Example.:443', 'dray://nas.example.:443'],
  ])('%s is saved, looked up and connected to as %s', (text, address) => {
    const url = parsePeerAddress(text);
    expect(peerAddress(url)).toBe(address);
    expect(peerAddress(parsePeerAddress(formatRemoteUrl(url)))).toBe(address);
    expect(peerOrigin(url).hostname).toBe(url.host.includes(':') ? `[${url.host}]` : url.host);
  });

  it.each(['256.1.1.1', '1.2.3.4.5', '[1:2]', '[:::]', 'a.0x'])(
    'is refused if %s is not a host to connect to',
    (host) =>
      expect(() => parsePeerAddress(`dray://${host}/`)).toThrow(expect.objectContaining({ code: 'usage' })),
  );

  it('means encryption on loopback too, unless it says otherwise', () => {
    const originOf = (text: string) => peerOrigin(parsePeerAddress(text)).href;
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'nas'])
      expect(originOf(host)).toBe(`https://${host}:7370/`);
    expect(originOf('dray://127.0.0.1:9?tls=off')).toBe('http://127.0.0.1:9/');
  });
});
