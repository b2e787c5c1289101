/**
 * A copy remembers small files at a peer only once they are on the peer's disk. It requests one sync, after
 * the last file.
 */
import { utimesSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { CopyRequest } from '../../api/jobs/trees.ts';
import { serveForTest, TEST_TOKEN } from '../../peer/peer.fixture.ts';
import type { PeerServer } from '../../peer/serve-folder.ts';
import { PEER_HEADER } from '../../peer-protocol/messages.ts';
import { createSandbox, type Sandbox, testContext } from '../session/job.fixture.ts';
import { copyTree } from './copy-tree.ts';

const FILES = 20;
const OLD_S = 1_600_000_000;
const ERROR_BODY = { error: { message: 'says the test', retry: 'no', data: {} } };

let sandbox: Sandbox;
let peer: PeerServer;
/** Stands before the peer: notes each request, and answers `sync` itself as `refusal` says. */
let front: Server;
let asked: string[];
let refusal: { readonly status: number; readonly code: string } | undefined;

beforeEach(async () => {
  sandbox = createSandbox();
  sandbox.path('offered', 'x');
  for (let at = 0; at < FILES; at += 1) {
    sandbox.write(`source/${at}`, `content ${at}`);
    // Files as young as their copies are not remembered.
    utimesSync(sandbox.path(`source/${at}`), OLD_S, OLD_S);
  }
  peer = await serveForTest(sandbox.path('offered'));
  asked = [];
  refusal = undefined;
  front = createServer((question, answer) => {
    const route = `${question.method} ${question.url!.split('?')[0]}`;
    asked.push(route);
    if (refusal && route === 'POST /v1/sync') {
      answer.writeHead(refusal.status, { [PEER_HEADER.protocol]: '1', 'content-type': 'application/json' });
      answer.end(JSON.stringify({ error: { ...ERROR_BODY.error, code: refusal.code } }));
      question.resume();
      return;
    }
    const { headers, method, url } = question;
    const passed = request(
      { port: peer.address.port, host: '127.0.0.1', method, path: url, headers },
      (from) => {
        answer.writeHead(from.statusCode!, from.headers);
        from.pipe(answer);
      },
    );
    question.pipe(passed);
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  front?.close();
  front?.closeAllConnections();
  await peer?.close();
  sandbox?.[Symbol.dispose]();
});

function copy(more: Partial<CopyRequest> = {}) {
  const environment = { DRAY_CACHE: sandbox.path('cache'), DRAY_TOKEN: TEST_TOKEN };
  return copyTree(testContext(sandbox.folder, { environment }), {
    source: { place: 'source' },
    destination: { place: `dray://127.0.0.1:${(front.address() as AddressInfo).port}/to?tls=off` },
    ...more,
  });
}
const syncs = () => asked.filter((route) => route === 'POST /v1/sync');

it('A copy requests one sync, after the last file, and none when nothing was written', async () => {
  expect(await copy()).toMatchObject({ copiedFiles: FILES });
  // The last write sets the folder's time.
  expect(asked.slice(-3)).toEqual(['POST /v1/write', 'POST /v1/sync', 'POST /v1/write']);
  expect(syncs()).toHaveLength(1);
  asked = [];
  expect(await copy()).toMatchObject({ copiedFiles: 0, unchangedFiles: FILES });
  await copy({ dryRun: true });
  expect(syncs()).toEqual([]);
});

it('A peer that cannot sync its disk fails the copy', async () => {
  refusal = { status: 507, code: 'diskFull' };
  await expect(copy()).rejects.toMatchObject({ code: 'diskFull' });
});

it('A peer too old for this request is accepted', async () => {
  refusal = { status: 404, code: 'unsupported' };
  expect(await copy()).toMatchObject({ copiedFiles: FILES, failed: 0 });
  expect(syncs()).toHaveLength(1);
});
