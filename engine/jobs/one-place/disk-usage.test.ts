import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSandbox, eventsOf, testContext } from '../session/job.fixture.ts';
import { usage } from './disk-usage.ts';

const name = fc.constantFrom('a', 'a-', 'a0', 'b', 'c.d');
const tree = fc.dictionary(
  fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => `${parts.join('/')}.f`),
  fc.nat({ max: 9 }),
  { maxKeys: 12 },
);

describe('Adding up a place', () => {
  it('reports each folder within the depth once, after everything below it, with its sums', async () => {
    await fc.assert(
      fc.asyncProperty(tree, fc.nat({ max: 4 }), async (files, depth) => {
        using sandbox = createSandbox();
        sandbox.path('tree/none');
        for (const [path, size] of Object.entries(files)) sandbox.write(`tree/${path}`, 'x'.repeat(size));
        const context = testContext(sandbox.folder);
        const summary = await usage(context, { place: 'tree', depth });

        const expected = new Map([['', { files: 0, bytes: 0 }]]);
        for (const [path, size] of Object.entries(files)) {
          const parts = path.split('/').slice(0, -1);
          for (let level = 0; level <= Math.min(depth, parts.length); level += 1) {
            const folder = parts
              .slice(0, level)
              .map((part) => `${part}/`)
              .join('');
            const sum = expected.get(folder) ?? { files: 0, bytes: 0 };
            expected.set(folder, { files: sum.files + 1, bytes: sum.bytes + size });
          }
        }
        const reported = eventsOf(context, 'usage');
        expect(
          new Map(reported.map(({ bytes, files: count, path }) => [path, { files: count, bytes }])),
        ).toEqual(expected);
        expect(reported).toHaveLength(expected.size);
        expect(summary).toMatchObject({ ...expected.get('')!, failed: 0 });
        reported.forEach(({ path }, at) => {
          for (const { path: later } of reported.slice(at))
            expect(later === path || !later.startsWith(path)).toBe(true);
        });
      }),
      { numRuns: 60 },
    );
  });

  it('that is a file gives its size', async () => {
    using sandbox = createSandbox();
    sandbox.write('file', '12345');
    expect(await usage(testContext(sandbox.folder), { place: 'file' })).toMatchObject({ files: 1, bytes: 5 });
  });

  it('that a store lists in no order gives only the sum, and says so', async () => {
    await using server = await serveListing(object('b', 1), object('a', 2));
    const { context } = server;
    expect(await usage(context, { place: 's3://bucket', depth: 0 })).toMatchObject({ files: 2, bytes: 3 });
    await expect(usage(context, { place: 's3://bucket' })).rejects.toMatchObject({
      code: 'unsupported',
      message: expect.stringMatching(/--depth 0/),
    });
  });

  it("does not count the empty objects that stand for a store's folders", async () => {
    await using server = await serveListing(object('a/', 0), object('a/b', 2), object('c', 0));
    expect(await usage(server.context, { place: 's3://bucket' })).toMatchObject({ files: 2, bytes: 2 });
  });
});

/** A store whose every answer is a listing of these objects. */
async function serveListing(...objects: readonly string[]) {
  const text = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>bucket</Name><KeyCount>${objects.length}</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>${objects.join('')}</ListBucketResult>`;
  const server = createServer((_request, response) => response.end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    context: testContext('/', {
      environment: { AWS_ENDPOINT_URL: endpoint, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
    }),
    [Symbol.asyncDispose]: async () => void server.close(),
  };
}

const object = (key: string, size: number) =>
  `<Contents><Key>${key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>"e"</ETag><Size>${size}</Size></Contents>`;
