import { describe, expect, it } from 'vitest';
import type { PlaceRequest } from '../../../api/trees.ts';
import { createSandbox, testContext } from '../../session/job.fixture.ts';
import { openTreePair } from '../open-pair.ts';
import type { RemoteSide } from '../sides.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };

/** Opening sends nothing. */
async function openPair(source: PlaceRequest, destination: PlaceRequest, files: Record<string, string> = {}) {
  using sandbox = createSandbox();
  for (const [path, content] of Object.entries(files)) sandbox.write(path, content);
  const environment = {
    AWS_CONFIG_FILE: sandbox.path('config'),
    AWS_SHARED_CREDENTIALS_FILE: sandbox.path('credentials'),
    ...(files.credentials ? {} : KEYS),
  };
  const pair = await openTreePair(testContext(sandbox.folder, { environment }), { source, destination });
  await pair.close();
  return {
    source: (pair.source as RemoteSide).limit,
    destination: (pair.destination as RemoteSide).limit,
  };
}

const at = (place: string, connection: PlaceRequest['connection'] = {}): PlaceRequest => ({
  place,
  connection,
});

describe('two places of one service', () => {
  it('count their requests under one limit', async () => {
    const endpoint = 'http://127.0.0.1:1';
    const one = await openPair(at('s3://one/', { endpoint }), at('s3://two/tree/', { endpoint }));
    expect(one.source).toBe(one.destination);
  });

  it('count apart at two services, or where each was given its own number', async () => {
    const two = await openPair(
      at('s3://one/', { endpoint: 'http://127.0.0.1:1' }),
      at('s3://two/', { endpoint: 'http://127.0.0.1:2' }),
    );
    expect(two.source).not.toBe(two.destination);
    const given = await openPair(at('s3://one/', { transfers: 4 }), at('s3://two/', { transfers: 5 }));
    expect([given.source.fixed, given.destination.fixed]).toEqual([4, 5]);
  });

  const credentials = ['work', 'home']
    .map((name) => `[${name}]\naws_access_key_id = ${name}\naws_secret_access_key = secret\n`)
    .join('');

  it('are one at Amazon for two profiles', async () => {
    const one = await openPair(at('s3://one/', { profile: 'work' }), at('s3://two/', { profile: 'home' }), {
      credentials,
    });
    expect(one.source).toBe(one.destination);
  });

  it('may not lie inside each other, under whatever profiles', async () => {
    const pair = openPair(
      at('s3://one/tree/', { profile: 'work' }),
      at('s3://one/tree/below/', { profile: 'home' }),
      { credentials },
    );
    await expect(pair).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('the second lies inside the first'),
    });
  });
});
