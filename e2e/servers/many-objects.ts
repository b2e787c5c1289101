/**
 * An S3 server whose bucket has any number of objects in one prefix. Their names and sizes are computed, so
 * that a million of them cost neither memory nor time to make. It lists and deletes.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createS3Environment } from './s3-environment.ts';

export interface ManyObjects extends AsyncDisposable {
  readonly environment: Readonly<Record<string, string>>;
  /** The place of the objects: `s3://BUCKET/many/`. */
  readonly place: string;
  readonly deleted: ReadonlySet<string>;
  /** The lists and deletions that were asked for. */
  readonly requests: { lists: number; deletes: number };
  /** A list waits for it before its answer. */
  gate: () => Promise<void>;
}

const PREFIX = 'many/';
const PAGE = 1_000;

export function manyName(index: number): string {
  return `object-${String(index).padStart(7, '0')}.bin`;
}

/** Not in the order of the names. */
function manySize(index: number): number {
  return (index * 7_919) % 1_000_003;
}

export async function startManyObjects(count: number): Promise<ManyObjects> {
  const deleted = new Set<string>();
  const requests = { lists: 0, deletes: 0 };
  const server = createServer((request, response) => {
    void answer(request, response).catch(() => response.destroy());
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url = '/' } = request;
    const query = new URLSearchParams(url.split('?')[1] ?? '');
    response.setHeader('content-type', 'application/xml');
    if (method === 'POST') {
      requests.deletes += 1;
      let body = '';
      for await (const piece of request) body += piece;
      let removed = '';
      for (const [, key = ''] of body.matchAll(/<Key>(.*?)<\/Key>/g)) {
        deleted.add(key.slice(PREFIX.length));
        removed += `<Deleted><Key>${key}</Key></Deleted>`;
      }
      response.end(`<?xml version="1.0"?><DeleteResult>${removed}</DeleteResult>`);
    } else if (method === 'GET' && query.has('list-type')) {
      requests.lists += 1;
      await many.gate();
      response.end(listed(query, { count, deleted }));
    } else response.writeHead(404).end();
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const keys = { accessKeyId: 'many', secretAccessKey: 'many' };
  const many: ManyObjects = {
    environment: createS3Environment({ endpoint, region: 'us-east-1', home: '/', ...keys }),
    place: `s3://many/${PREFIX}`,
    deleted,
    requests,
    gate: async () => {},
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return many;
}

function listed(
  query: URLSearchParams,
  { count, deleted }: { readonly count: number; readonly deleted: ReadonlySet<string> },
): string {
  const head = '<?xml version="1.0"?><ListBucketResult><Name>many</Name><EncodingType>url</EncodingType>';
  const prefix = query.get('prefix') ?? '';
  const isTop = prefix === '' && query.get('delimiter') === '/';
  if (isTop || !prefix.startsWith(PREFIX) || prefix !== PREFIX) {
    const folder = isTop
      ? `<CommonPrefixes><Prefix>${encodeURIComponent(PREFIX)}</Prefix></CommonPrefixes>`
      : '';
    return `${head}<IsTruncated>false</IsTruncated>${folder}</ListBucketResult>`;
  }
  const contents: string[] = [];
  let at = Number(query.get('continuation-token') ?? 0);
  const limit = Math.min(PAGE, Number(query.get('max-keys') ?? PAGE));
  for (; at < count && contents.length < limit; at += 1) {
    const name = manyName(at);
    if (deleted.has(name)) continue;
    contents.push(
      `<Contents><Key>${encodeURIComponent(PREFIX + name)}</Key><LastModified>2026-11-13T10:00:00.000Z</LastModified><Size>${manySize(at)}</Size></Contents>`,
    );
  }
  const next = at < count ? `<NextContinuationToken>${at}</NextContinuationToken>` : '';
  return `${head}<IsTruncated>${at < count}</IsTruncated>${next}${contents.join('')}</ListBucketResult>`;
}
