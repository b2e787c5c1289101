import { describe, expect, it } from 'vitest';
import type { PlaceRequest } from '../../../api/jobs/trees.ts';
import { createSandbox, testContext } from '../../session/job.fixture.ts';
import { openTreePair } from '../open-pair.ts';
import type { RemoteSide } from '../sides.ts';

const KEYS = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };

/** Opening a pair makes no request. */
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
  it('share one limit on requests', async () => {
    const endpoint = 'http://127.0.0.1:1';
    const one = await openPair(at('s3://one/', { endpoint }), at('s3://two/tree/', { endpoint }));
    expect(one.source).toBe(one.destination);
  });

  it('have separate limits at two services, or when each was given its own number', async () => {
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

  it('are the same service at Amazon for two profiles', async () => {
    const one = await openPair(at('s3://one/', { profile: 'work' }), at('s3://two/', { profile: 'home' }), {
      credentials,
    });
    expect(one.source).toBe(one.destination);
  });

  it('may not lie inside each other, whatever their profiles', async () => {
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
