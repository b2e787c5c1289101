/**
 * A store that only lists: any number of small objects, whose names are computed. It runs as a process of its
 * own, so that its time is not a worker's.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';

export interface SyntheticStore extends AsyncDisposable {
  readonly endpoint: string;
  readonly bucket: string;
}

export const OBJECT_BYTES = 1024;
const BUCKET = 'synthetic';
const PREFIX = 'source/';
const PAGE = 1_000;
const FILES_IN_FOLDER = 1_000;

export async function startSyntheticStore(objects: number): Promise<SyntheticStore> {
  const child = fork(fileURLToPath(import.meta.url));
  child.send(objects);
  const [port] = (await once(child, 'message')) as [number];
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: BUCKET,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
    },
  };
}

if (import.meta.main && process.send) {
  process.once('disconnect', () => process.exit());
  process.once('message', (objects: number) => {
    const server = createServer((request, response) => {
      const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
      if (request.method === 'GET' && query.has('list-type'))
        response.setHeader('content-type', 'application/xml').end(listed(objects, query));
      else response.writeHead(404).end();
    });
    server.listen(0, '127.0.0.1', () => process.send!((server.address() as AddressInfo).port));
  });
}

function keyOf(index: number): string {
  const folder = String(Math.floor(index / FILES_IN_FOLDER)).padStart(7, '0');
  return `${PREFIX}${folder}/${String(index % FILES_IN_FOLDER).padStart(4, '0')}.bin`;
}

function listed(objects: number, query: URLSearchParams): string {
  const after = query.get('continuation-token') ?? query.get('start-after') ?? '';
  const first = after === '' ? 0 : firstAfter(objects, after);
  const end = Math.min(objects, first + Math.min(PAGE, Number(query.get('max-keys') ?? PAGE)));
  const isTruncated = end < objects;
  let contents = '';
  for (let at = first; at < end; at += 1)
    contents += `<Contents><Key>${keyOf(at)}</Key><LastModified>2026-11-13T10:00:00.000Z</LastModified><ETag>"00000000000000000000000000000000"</ETag><Size>${OBJECT_BYTES}</Size></Contents>`;
  const next = isTruncated ? `<NextContinuationToken>${keyOf(end - 1)}</NextContinuationToken>` : '';
  return `<?xml version="1.0"?><ListBucketResult><Name>${BUCKET}</Name><IsTruncated>${isTruncated}</IsTruncated>${next}${contents}</ListBucketResult>`;
}

/** The index of the first key above `key`. All keys are ASCII, so strings compare as bytes do. */
function firstAfter(objects: number, key: string): number {
  let [low, high] = [0, objects];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (keyOf(middle) > key) high = middle;
    else low = middle + 1;
  }
  return low;
}
