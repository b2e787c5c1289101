import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { parseRemoteUrl } from '../../remotes/remote-url.ts';
import { openRemoteAt } from './opened-remote.ts';

it('reports why a request is repeated, once for each repetition', async () => {
  const answers = [503, 500, 404];
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(answers.shift() ?? 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const failures: string[] = [];
  try {
    await using remote = await openRemoteAt(
      {
        connection: {},
        emit: () => {},
        environment: { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' },
        onRetry: (failure) => failures.push(failure),
      },
      parseRemoteUrl(`s3://bucket/prefix/?endpoint=http://127.0.0.1:${port}&region=us-east-1`, '/'),
    );
    expect(await remote.store.head('absent')).toBeUndefined();
    expect(failures).toEqual(['slowDown', 'remoteFailed']);
  } finally {
    server.close();
  }
});
