import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { S3Failure } from './answers/s3-errors.ts';
import { type AwsProfile, parseSections, readAwsProfile } from './keys/aws-profile.ts';
import { credentialSourceOf, identityOf } from './keys/credentials.ts';
import { moveTo, type S3Connection } from './s3-connection.ts';
import { requestBaseOf, resolvePlace, type S3Options, storePlaceOf } from './s3-options.ts';
import { readAuthorities } from './trusted-certificates.ts';

const NO_PROFILE: AwsProfile = { name: 'default', settings: {} };
const options = (changes: Partial<S3Options> = {}): S3Options => ({
  bucket: 'data',
  prefix: '',
  environment: {},
  ...changes,
});
const baseOf = (changes: Partial<S3Options>, profile = NO_PROFILE) => {
  const base = requestBaseOf(resolvePlace(options(changes), profile));
  return base.origin.origin + base.path;
};

describe('The authorities that are trusted', () => {
  it("are those of the file that the environment or the profile names, and Node's without one", async () => {
    const folder = await mkdtemp(join(tmpdir(), 'dray-authorities-'));
    try {
      const [first, second] = [join(folder, 'first.pem'), join(folder, 'second.pem')];
      const [one, two] = ['one', 'two'].map((text) => `# ${text}\n-----BEGIN CERTIFICATE-----\n`);
      await writeFile(first, one!);
      await writeFile(second, two!);
      const profile = { name: 'lab', settings: { ca_bundle: second } };
      expect(readAuthorities(options(), NO_PROFILE)).toBeUndefined();
      expect(readAuthorities(options(), profile)).toBe(two);
      expect(readAuthorities(options({ environment: { AWS_CA_BUNDLE: first } }), profile)).toBe(one);
      await writeFile(join(folder, 'other.pem'), 'no certificate');
      for (const name of ['absent.pem', 'other.pem']) {
        const wrong = options({ environment: { AWS_CA_BUNDLE: join(folder, name) } });
        expect(() => readAuthorities(wrong, NO_PROFILE)).toThrow(expect.objectContaining({ code: 'usage' }));
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('The service of a remote', () => {
  const keys = (accessKeyId: string) => ({
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: `secret of ${accessKeyId}`,
  });
  const serviceOf = (changes: Partial<S3Options>, profile = NO_PROFILE) =>
    storePlaceOf(resolvePlace(options(changes), profile), identityOf(options(changes), profile)).service;

  it('is the same for all buckets and regions that the same keys reach at one endpoint', () => {
    const amazon = serviceOf({ environment: keys('A') });
    expect(serviceOf({ environment: keys('A'), region: 'eu-west-1', bucket: 'b', prefix: 'p' })).toBe(amazon);
    expect(serviceOf({ environment: keys('A'), endpoint: 'http://host' })).toBe(
      serviceOf({ environment: keys('A'), endpoint: 'http://host/', bucket: 'b' }),
    );
  });

  it('is one at Amazon whoever signs', () => {
    const amazon = serviceOf({ environment: keys('A') });
    expect(serviceOf({ environment: keys('B') })).toBe(amazon);
    expect(serviceOf({}, { name: 'work', settings: {} })).toBe(amazon);
  });

  it('differs by endpoint, by signer, and by partition', () => {
    const endpoint = 'http://host';
    const services = [
      serviceOf({ environment: keys('A') }),
      serviceOf({ environment: keys('B'), endpoint }),
      serviceOf({ environment: keys('A'), endpoint: 'http://host' }),
      serviceOf({ environment: keys('A'), endpoint: 'http://other' }),
      serviceOf({ environment: keys('A'), region: 'cn-north-1' }),
      serviceOf({ endpoint }, { name: 'work', settings: {} }),
      serviceOf({ endpoint }, { name: 'home', settings: {} }),
    ];
    expect(new Set(services).size).toBe(services.length);
  });

  it('shows no key', () => {
    const place = storePlaceOf(resolvePlace(options({ prefix: 'p' }), NO_PROFILE), 'key AKIA');
    expect(place).toMatchObject({ bucket: 'data', keyPrefix: 'p/' });
    expect(place.service).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('The place of a remote', () => {
  it('is Amazon when no endpoint is given, with the bucket in the host if it can stand there', () => {
    expect(baseOf({})).toBe('https://data.s3.us-east-1.amazonaws.com');
    expect(baseOf({ region: 'eu-west-1' })).toBe('https://data.s3.eu-west-1.amazonaws.com');
    expect(baseOf({ region: 'cn-north-1' })).toBe('https://data.s3.cn-north-1.amazonaws.com.cn');
    const longest = 'b'.repeat(63);
    expect(baseOf({ bucket: longest })).toBe(`https://${longest}.s3.us-east-1.amazonaws.com`);
    for (const bucket of ['my.data', 'My_Data', 'UPPER', `${longest}b`])
      expect(baseOf({ bucket })).toBe(`https://s3.us-east-1.amazonaws.com/${bucket}`);
  });

  it('puts the bucket into the path of an endpoint by default', () => {
    expect(baseOf({ endpoint: 'http://localhost:9000' })).toBe('http://localhost:9000/data');
    expect(baseOf({ endpoint: 'localhost:9000/' })).toBe('https://localhost:9000/data');
    expect(baseOf({ endpoint: 'https://host/base/' })).toBe('https://host/base/data');
    expect(baseOf({ endpoint: 'https://host:1234', pathStyle: false })).toBe('https://data.host:1234');
  });

  it('takes the endpoint from the option, the variables, then the profile', () => {
    const profile: AwsProfile = {
      name: 'p',
      settings: { endpoint_url: 'http://profile' },
      s3EndpointUrl: 'http://profile-s3',
    };
    const both = { AWS_ENDPOINT_URL: 'http://all', AWS_ENDPOINT_URL_S3: 'http://s3' };
    expect(baseOf({ endpoint: 'http://option', environment: both }, profile)).toBe('http://option/data');
    expect(baseOf({ environment: both }, profile)).toBe('http://s3/data');
    expect(baseOf({ environment: { AWS_ENDPOINT_URL: 'http://all' } }, profile)).toBe('http://all/data');
    expect(baseOf({}, profile)).toBe('http://profile-s3/data');
    expect(baseOf({}, { name: 'p', settings: profile.settings })).toBe('http://profile/data');
    const ignoring = { ...both, AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' };
    expect(baseOf({ environment: ignoring }, profile)).toBe('https://data.s3.us-east-1.amazonaws.com');
  });

  it('takes the region from the option, the variables, then the profile', () => {
    const profile: AwsProfile = { name: 'p', settings: { region: 'from-profile' } };
    const environment = { AWS_REGION: 'from-variable', AWS_DEFAULT_REGION: 'from-default' };
    expect(resolvePlace(options({ region: 'from-option', environment }), profile).region).toBe('from-option');
    expect(resolvePlace(options({ environment }), profile).region).toBe('from-variable');
    expect(resolvePlace(options({ environment: { AWS_DEFAULT_REGION: 'd' } }), profile).region).toBe('d');
    expect(resolvePlace(options(), profile).region).toBe('from-profile');
    expect(resolvePlace(options(), NO_PROFILE).region).toBe('us-east-1');
  });

  it('knows the provider by the host', () => {
    const providerAt = (endpoint: string) => resolvePlace(options({ endpoint }), NO_PROFILE).provider;
    expect(resolvePlace(options(), NO_PROFILE).provider).toBe('aws');
    expect(providerAt('https://s3.eu-west-1.amazonaws.com')).toBe('aws');
    expect(providerAt('https://s3.us-west-004.backblazeb2.com')).toBe('b2');
    expect(providerAt('https://abc.r2.cloudflarestorage.com')).toBe('r2');
    expect(providerAt('https://s3.wasabisys.com')).toBe('wasabi');
    expect(providerAt('https://notamazonaws.com')).toBe('local');
  });

  it('refuses invalid buckets and endpoints, and shows no password', () => {
    const failing = (changes: Partial<S3Options>) => () => resolvePlace(options(changes), NO_PROFILE);
    expect(failing({ bucket: '' })).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(failing({ endpoint: 'ftp://host' })).toThrow(expect.objectContaining({ code: 'usage' }));
    expect(failing({ endpoint: 'http://user:hidden@host' })).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.not.stringContaining('hidden') }),
    );
    expect(failing({ endpoint: 'ftp://user:hidden@host' })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining('hidden') }),
    );
  });

  it.each([
    ['the option', { region: 'attacker.example/#' }, NO_PROFILE, /region of the remote/],
    ['AWS_REGION', { environment: { AWS_REGION: 'attacker.example/#' } }, NO_PROFILE, /^AWS_REGION/],
    [
      'AWS_DEFAULT_REGION',
      { environment: { AWS_REGION: 'eu-1', AWS_DEFAULT_REGION: 'a.b' } },
      NO_PROFILE,
      /^AWS_DEFAULT_REGION/,
    ],
    ['a profile', {}, { name: 'work', settings: { region: 'a@b' } }, /profile "work"/],
  ] as const)('refuses a region from %s that would name another host', (_, changes, profile, message) => {
    expect(() => resolvePlace(options(changes), profile)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(message) }),
    );
  });

  it.each(['attacker.example/#', 'a.b', 'x:80', 'a@b', 'é', 'x'.repeat(65), 'a\r\nb'])(
    'does not follow a store to the region %j',
    (region) => {
      const place = resolvePlace(options({}), NO_PROFILE);
      const connection = { place } as S3Connection;
      const failure = { status: 301, region } as S3Failure;
      expect(moveTo(connection, failure, place)).toBe(false);
      expect(connection.place.region).toBe('us-east-1');
    },
  );

  it('says which variable holds an endpoint that is none', () => {
    const environment = { AWS_ENDPOINT_URL: 'ftp://host' };
    expect(() => resolvePlace(options({ environment }), NO_PROFILE)).toThrow(
      /^AWS_ENDPOINT_URL must be a URL/,
    );
  });
});

describe('A profile', () => {
  let folder: string;
  let environment: Record<string, string>;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'dray-profile-'));
    environment = {
      AWS_CONFIG_FILE: join(folder, 'config'),
      AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials'),
    };
    const config = [
      '# a comment',
      '[default]',
      'region=eu-west-1 ; as always',
      's3 =',
      '  max_concurrent_requests = 20',
      '[profile lab]',
      'services = lab-services',
      'region = eu-north-1',
      '[profile roles]',
      'role_arn = arn:aws:iam::1:role/r',
      'aws_access_key_id = IGNORED',
      'aws_secret_access_key = IGNORED',
      '[services lab-services]',
      's3 =',
      '  endpoint_url = http://lab:9000',
      'dynamodb =',
      '  endpoint_url = http://other',
    ];
    await writeFile(join(folder, 'config'), config.join('\r\n'));
    await writeFile(
      join(folder, 'credentials'),
      '[default]\naws_access_key_id = AK\naws_secret_access_key = a+b/c=d==\n[lab]\naws_access_key_id=LAB\naws_secret_access_key=lab#key\n',
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('is joined from both files, with the endpoint of its services section', async () => {
    const lab = await readAwsProfile({ profile: 'lab', environment });
    expect(lab).toMatchObject({
      name: 'lab',
      s3EndpointUrl: 'http://lab:9000',
      settings: { region: 'eu-north-1' },
    });
    expect(
      await readAwsProfile({ profile: undefined, environment: { ...environment, AWS_PROFILE: 'lab' } }),
    ).toEqual(lab);
    const standard = await readAwsProfile({ profile: undefined, environment });
    expect(standard.settings).toMatchObject({ region: 'eu-west-1', 's3.max_concurrent_requests': '20' });
  });

  it('gives plain keys at once, after those of the environment unless it was asked for by flag', async () => {
    const keysOf = async (profile: string | undefined, variables: Record<string, string>) => {
      const read = await readAwsProfile({ profile, environment: { ...environment, ...variables } });
      const source = options({ environment: variables, ...(profile ? { profile } : {}) });
      return (await credentialSourceOf(source, read)()).accessKeyId;
    };
    const variables = { AWS_ACCESS_KEY_ID: 'ENV', AWS_SECRET_ACCESS_KEY: 'secret' };
    expect(await keysOf(undefined, {})).toBe('AK');
    expect(await keysOf(undefined, variables)).toBe('ENV');
    expect(await keysOf('lab', variables)).toBe('LAB');
    const lab = await readAwsProfile({ profile: 'lab', environment });
    expect((await credentialSourceOf(options({ profile: 'lab' }), lab)()).secretAccessKey).toBe('lab#key');
  });

  it('is empty where there are no files', async () => {
    const nowhere = { AWS_CONFIG_FILE: join(folder, 'x'), AWS_SHARED_CREDENTIALS_FILE: join(folder, 'y') };
    expect(await readAwsProfile({ profile: undefined, environment: nowhere })).toEqual(NO_PROFILE);
    expect(parseSections('stray = 1\n\n[a]\nnonsense\n')).toEqual(new Map([['a', {}]]));
  });
});
