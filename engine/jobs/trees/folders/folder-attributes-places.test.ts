import { mkdirSync } from 'node:fs';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plainPlace } from '../../../peer/peer.fixture.ts';
import { copyTree, syncTree } from '../copy-tree.ts';
import { createDressedTrees, OLD_S } from './dressed-tree.fixture.ts';

const trees = createDressedTrees();
const { context, dress, foldersOf, peer, plant } = trees;
beforeEach(() => trees.open());
afterEach(() => trees.close());

const here = (path: string) => ({ place: path });

describe('a world-writable folder, or the whole folder that a peer serves', () => {
  it('keeps its own mode and time when a tree is copied into it', async () => {
    plant();
    mkdirSync(trees.path('shared'));
    dress('shared', 0o1777, OLD_S + 50);
    await copyTree(context(), { source: here('from'), destination: here('shared') });
    expect(foldersOf('shared')['.']).toMatch(/^1777 /);
    dress('offered', 0o755, OLD_S + 51);
    const pair = { source: here('from'), destination: { place: peer('').place } };
    await copyTree(context(), pair);
    expect(foldersOf('offered')['.']).toMatch(/^755 /);
    expect(foldersOf('offered').a).toEqual(foldersOf('from').a);
    expect(await copyTree(context(), pair)).toMatchObject({ result: 'upToDate' });
  });
});

describe('a peer that lists only empty folders', () => {
  it('gets its files as always and no attributes of folders, and a second run finds nothing to do', async () => {
    plant();
    await using older = await forwardWithout('folders=1');
    const there = { place: plainPlace(older.port, 'to') };
    expect(await copyTree(context(), { source: here('from'), destination: there })).toMatchObject({
      failed: 0,
    });
    dress('from/empty', 0o700, OLD_S + 77);
    dress('from/a', 0o755, OLD_S + 78);
    for (const run of [copyTree, syncTree])
      expect(await run(context(), { source: here('from'), destination: there })).toMatchObject({
        result: 'upToDate',
        requests: { total: 1 },
      });
    expect(await copyTree(context(), { source: there, destination: here('back') })).toMatchObject({
      failed: 0,
      touchedFolders: 0,
    });
    expect(Object.keys(foldersOf('back'))).toEqual(Object.keys(foldersOf('from')));
  });
});

/** The server's answers to requests without a parameter that an older version would not know. */
async function forwardWithout(parameter: string) {
  const forwarder = createServer((incoming, answer) => {
    const { headers, method, url = '' } = incoming;
    const path = url.replace(`&${parameter}`, '');
    const port = trees.port();
    const call = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode!, response.headers);
      response.pipe(answer);
    });
    incoming.pipe(call);
  });
  await new Promise<void>((resolve) => forwarder.listen(0, '127.0.0.1', resolve));
  const { port } = forwarder.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      forwarder.closeAllConnections();
      await new Promise((resolve) => forwarder.close(resolve));
    },
  };
}

describe('an empty folder of the source', () => {
  it('that has content at the destination is empty there after one sync, with the right time', async () => {
    plant();
    const pair = { source: here('from'), destination: peer('to') };
    await copyTree(context(), pair);
    trees.write('offered/to/empty/deep/extra', 'to go');
    await syncTree(context(), pair);
    expect(foldersOf('offered/to')).toEqual(foldersOf('from'));
    expect(await syncTree(context(), pair)).toMatchObject({ result: 'upToDate' });
  });
});
