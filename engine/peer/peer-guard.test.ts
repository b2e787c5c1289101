/** Tests which requests a peer accepts, and what a read-only peer refuses, for every request. */
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { basename } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostTag } from '../base/process-life.ts';
import { describeTree } from '../jobs/trees/same-trees.fixture.ts';
import { startTestPeer, TEST_TOKEN, type TestPeer } from './peer.fixture.ts';
import { createGuard } from './peer-guard.ts';
import { PEER_ROUTES } from './serve-folder.ts';

let peer: TestPeer;
afterEach(() => peer?.[Symbol.asyncDispose]());

interface Asked {
  readonly name: string;
  readonly method: string;
  readonly path: string;
}

/** With a name of its own kind in each place that takes one. */
const ALL: readonly Asked[] = Object.keys(PEER_ROUTES).map((name) => {
  const [method, path] = name.split(' ') as [string, string];
  return {
    name,
    method,
    path: path.replace('objects/*', 'objects/list').replace('*/*', '1/sign').replace('*', '1'),
  };
});

function ask(
  { method, path }: Asked,
  headers: Record<string, string>,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(
      { host: '127.0.0.1', port: peer.port(), method, path: `/v1/${path}?path=file`, headers, agent: false },
      (response) => {
        let text = '';
        response.on('data', (piece) => {
          text += piece;
        });
        response.on('end', () => resolve({ status: response.statusCode!, text }));
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe('the guard', () => {
  beforeEach(async () => {
    peer = await startTestPeer();
    peer.write('file', 'content');
  });

  it('covers every request of the protocol', () => expect(ALL.length).toBeGreaterThan(15));

  it.each(ALL)('refuses $name without the token, with another, or with one of its length', async (asked) => {
    const before = describeTree(peer.root);
    const others = [
      '',
      'x',
      `${TEST_TOKEN}x`,
      TEST_TOKEN.slice(1),
      TEST_TOKEN.replace(/.$/, '!'),
      TEST_TOKEN.toUpperCase(),
    ];
    for (const headers of [{}, { authorization: `Basic ${TEST_TOKEN}` }, ...others.map(bearer)]) {
      const { status, text } = await ask(asked, headers);
      expect(status).toBe(401);
      expect(text).not.toContain('file');
    }
    expect(describeTree(peer.root)).toEqual(before);
  });

  it.each(ALL)('refuses $name to web pages and under unknown host names', async (asked) => {
    const own = bearer(TEST_TOKEN);
    expect((await ask(asked, { ...own, origin: 'http://evil.example' })).status).toBe(403);
    expect((await ask(asked, { ...own, host: 'evil.example' })).status).toBe(403);
    expect((await ask(asked, { ...own, host: ':80' })).status).toBe(400);
  });

  it('accepts addresses and its configured names, in any case and at any port', () => {
    const guard = createGuard({ token: TEST_TOKEN, hostNames: ['data.example'] });
    const pass = (host: string) => guard({ headers: { ...bearer(TEST_TOKEN), host } } as never);
    for (const host of ['127.0.0.1', '10.0.0.7:7370', '[::1]:7370', 'data.example', 'DATA.example:80'])
      expect(() => pass(host), host).not.toThrow();
    for (const host of ['example', 'data.example.evil', 'data.example@evil', '127.0.0.1.evil', '1.2.3'])
      expect(() => pass(host), host).toThrow();
  });
});

/** Linux never assigns one this high. */
const PID_MAX = 2 ** 22;
const DELTA = {
  path: 'file',
  hash: 'xxh3',
  seed: '1',
  blockBytes: 4_096,
  chunkSize: { min: 4_096, average: 8_192, max: 65_536 },
};

describe('a read-only peer', () => {
  beforeEach(async () => {
    peer = await startTestPeer({ isReadOnly: true });
    peer.write('file', 'content');
  });

  it.each(ALL)('changes nothing on $name', async (asked) => {
    const before = describeTree(peer.root);
    const { status } = await ask(asked, bearer(TEST_TOKEN));
    if (PEER_ROUTES[asked.name]!.writes === true) expect(status).toBe(403);
    expect(describeTree(peer.root)).toEqual(before);
  });

  it.each(['put', 'delete', 'copy', 'create', 'uploadPart', 'uploadPartCopy', 'complete', 'abort'])(
    'refuses the call "%s" of objects',
    async (name) => {
      expect((await peer.send('POST', `objects/${name}`, { body: '{}' })).status).toBe(403);
    },
  );

  it('refuses to be the target of a delta, and can be the source', async () => {
    const as = (side: object) => peer.send('POST', 'deltas', { body: JSON.stringify({ ...DELTA, ...side }) });
    for (const isInPlace of [false, true])
      expect((await as({ side: 'target', isInPlace, mtimeNs: '0' })).status).toBe(403);
    expect((await as({ side: 'source' })).status).toBe(200);
  });

  it('leaves the files of another server', async () => {
    // An unfinished file of a process that has ended.
    const left = `.dray-tmp/dray-${hostTag()}-${PID_MAX}-000000000000-0.0`;
    peer.write(left, 'unfinished');
    const before = describeTree(peer.root);
    await peer.restart();
    expect(describeTree(peer.root)).toEqual(before);
    expect(readdirSync(peer.path('.dray-tmp'))).toEqual([basename(left)]);
    expect(readFileSync(peer.path(left), 'utf8')).toBe('unfinished');
  });

  it('compares with a file for a dry run of a delta, and writes nothing', async () => {
    const opened = await peer.send('POST', 'deltas', {
      body: JSON.stringify({ ...DELTA, side: 'target', isDryRun: true, mtimeNs: '0' }),
    });
    const { delta } = (await opened.json()) as { delta: string };
    const before = describeTree(peer.root);
    const call = (name: string, body: string) => peer.send('POST', `deltas/${delta}/${name}`, { body });
    expect((await call('sign', '{"start":0,"end":7}')).status).toBe(200);
    for (const [name, body] of Object.entries({
      begin: '{"sizeBytes":0,"keepsOld":false}',
      write: '{"ranges":[]}',
      clear: '{"ranges":[0,1]}',
      copy: '{"moves":[0,1,1]}',
      complete: '{}',
    }))
      expect((await call(name, body)).status, name).toBe(403);
    expect(describeTree(peer.root)).toEqual(before);
  });
});
