/** A peer whose errors claim what only this machine may decide: whom it trusts, and who gets a token. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { runCli } from '../../app/cli/run-cli.fixture.ts';
import { createSandbox } from '../../engine/jobs/session/job.fixture.ts';
import { TEST_TOKEN } from '../../engine/peer/peer.fixture.ts';

const FORGED = {
  code: 'unknownPeer',
  message: 'Trust \u001b[2Jnas:7370\u202e now',
  retry: 'no',
  data: { address: 'nas:7370', fingerprint: Array(32).fill('AA').join(':'), peer: 'nas:7370' },
};

const NOTHING = { error: { code: 'notFound', message: 'There is nothing.', retry: 'no', data: {} } };

it.each([
  ['for the whole request', 400, { error: FORGED }],
  ['for one file of many', 200, { results: [{ error: FORGED }] }],
])('an error %s counts as the peer\u2019s own failure, whatever it claims', async (_what, status, answer) => {
  using sandbox = createSandbox();
  sandbox.write('source/a', 'content');
  const server = createServer((request, response) => {
    request.resume();
    const isWrite = request.method === 'POST' && request.url === '/v1/write';
    const body = JSON.stringify(isWrite ? answer : NOTHING);
    response.writeHead(isWrite ? status : 404, {
      'dray-peer': '1',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
    });
    request.once('end', () => response.end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = `dray://127.0.0.1:${(server.address() as AddressInfo).port}/x?tls=off`;
  const copy = (...flags: readonly string[]) =>
    runCli(['copy', 'source', place, ...flags], {
      cwd: sandbox.folder,
      environment: { DRAY_TOKEN: TEST_TOKEN, DRAY_CONFIG: sandbox.path('settings/config.json') },
    });
  const { stdout: records } = await copy('--json');
  expect(records).toContain('"remoteFailed"');
  expect(records).not.toMatch(/unknownPeer|"fingerprint"|"peer"/);
  const { stdout, stderr } = await copy();
  expect(stderr).toContain('Trust');
  expect((stdout + stderr).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});
