/** Listings and removals that contradict themselves: nothing is absent or removed by what they say. */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { removePlace } from '../../engine/jobs/one-place/remove-place.ts';
import { uploads } from '../../engine/jobs/one-place/uploads.ts';
import { eventsOf } from '../../engine/jobs/session/job.fixture.ts';
import { syncTree } from '../../engine/jobs/trees/copy-tree.ts';
import { openRemote } from '../../engine/remotes/open-remote.ts';
import { parseRemoteUrl } from '../../engine/remotes/remote-url.ts';
import { contextIn, freshStorePerTest, sandbox, store } from '../fresh-store.ts';

freshStorePerTest();

const NAMES = Array.from({ length: 1_800 }, (_, at) => `n${String(at).padStart(5, '0')}`);
const object = (key: string) =>
  `<Contents><Key>${key}</Key><Size>1</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`;
const list = (inside: string) => `<ListBucketResult>${inside}</ListBucketResult>`;
const openPlain = () =>
  openRemote(parseRemoteUrl(`s3://${store.bucket}/tree/`, '/'), {
    connection: {},
    environment: store.environment,
    retry: { attemptsMax: 1 },
  } as never);

const sync = () =>
  syncTree(contextIn(), {
    source: { place: `s3://${store.bucket}/tree` },
    destination: { place: 'to' },
    compare: 'sizeOnly',
    maxDelete: { percent: 100 },
  });

function fill(): void {
  for (const name of NAMES) {
    store.objects.set(`tree/${name}`, Buffer.from('x'));
    sandbox.write(`to/${name}`, 'x');
  }
}

const first = NAMES.slice(0, 1_000).map((name) => object(`tree/${name}`));
const rest = NAMES.slice(1_000).map((name) => object(`tree/${name}`));
const token = '<NextContinuationToken>more</NextContinuationToken>';

describe('A page with a token is not the last', () => {
  it.each([
    ['IsTruncated is false', '<IsTruncated>false</IsTruncated>'],
    ['IsTruncated is absent', ''],
    ['IsTruncated has spaces', '<IsTruncated> true </IsTruncated>'],
  ])('where %s: a sync keeps what the later pages list', async (_what, said) => {
    fill();
    store.fault = ({ key, method, query }) => {
      if (key !== '' || method !== 'GET') return undefined;
      const page = query.has('continuation-token') ? rest : [said, token, ...first];
      return { document: list(page.join('')) };
    };
    expect(await sync()).toMatchObject({ deletedFiles: 0, unchangedFiles: 1_800 });
  });
});

describe('A page that contradicts itself ends the command', () => {
  const pages: readonly (readonly [string, (query: URLSearchParams, times: number) => string])[] = [
    ['it counts more keys than it shows', () => `<KeyCount>1000</KeyCount>${first.slice(0, 200).join('')}`],
    ['it shows more keys than it counts', () => `<KeyCount>3</KeyCount>${first.slice(0, 200).join('')}`],
    ['keys of another prefix', () => [object('other/a'), ...first].join('')],
    ['a key above the prefix', () => object('t')],
    ['the token that was sent', () => `${token}${first.join('')}`],
    [
      'the same page with ever new tokens',
      (_query, times) => `<NextContinuationToken>t${times}</NextContinuationToken>${first.join('')}`,
    ],
    [
      'three pages in a circle',
      (query) => {
        const at = Number(query.get('continuation-token') ?? '0');
        const next = (at + 1) % 3;
        return `<NextContinuationToken>${next}</NextContinuationToken>${first.slice(at * 10, at * 10 + 10).join('')}`;
      },
    ],
    [
      'empty pages in a circle',
      (query) =>
        `<NextContinuationToken>${query.get('continuation-token') === 'a' ? 'b' : 'a'}</NextContinuationToken>`,
    ],
    ['truncated, without a token', () => `<IsTruncated>true</IsTruncated>${first.join('')}`],
  ];
  it.each(pages)('%s', async (_what, page) => {
    fill();
    let times = 0;
    store.fault = ({ key, method, query }) => {
      if (key !== '' || method !== 'GET') return undefined;
      times += 1;
      return { document: list(page(query, times)) };
    };
    const remote = await openPlain();
    const walk = async () => {
      for (let continuation: string | undefined; ; ) {
        const from = continuation === undefined ? {} : { continuation };
        ({ continuation } = await remote.list({ prefix: '', ...from }));
        if (continuation === undefined) return;
      }
    };
    await expect(walk()).rejects.toMatchObject({ code: 'remoteFailed' });
    expect(times).toBeLessThan(20);
    await remote.close();
    for (const name of ['n00000', 'n01799']) expect(existsSync(sandbox.path('to', name))).toBe(true);
  });

  it.each([
    ['nothing at all', ''],
    ['another document', '<ListAllMyBucketsResult></ListAllMyBucketsResult>'],
    ['a list that was cut', `<ListBucketResult>${first.join('')}`],
    ['an object that was cut', `<ListBucketResult>${first.join('')}<Contents><Key>tree/x</ListBucketResult>`],
  ])('%s in place of a list', async (_what, document) => {
    store.fault = ({ key, method }) => (key === '' && method === 'GET' ? { document } : undefined);
    const remote = await openPlain();
    await expect(remote.list({ prefix: '' })).rejects.toMatchObject({ code: 'remoteFailed' });
    await remote.close();
  });

  it('but not where Ceph counts keys without folders', async () => {
    const folders = '<CommonPrefixes><Prefix>tree/d/</Prefix></CommonPrefixes>';
    store.fault = () => ({ document: list(`<KeyCount>1</KeyCount>${first[0]}${folders}`) });
    const remote = await openPlain();
    expect(await remote.list({ prefix: '', delimiter: '/' })).toMatchObject({ folders: ['d/'] });
    await remote.close();
  });
});

describe('Lists of parts, uploads and versions', () => {
  it.each([
    ['parts', '<ListPartsResult><IsTruncated>true</IsTruncated></ListPartsResult>'],
    [
      'parts from where the page began',
      '<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>0</NextPartNumberMarker></ListPartsResult>',
    ],
    ['uploads', '<ListMultipartUploadsResult><IsTruncated>true</IsTruncated></ListMultipartUploadsResult>'],
    ['versions', '<ListVersionsResult><IsTruncated>true</IsTruncated></ListVersionsResult>'],
    [
      'versions of another prefix',
      '<ListVersionsResult><Version><Key>other</Key><VersionId>1</VersionId><Size>1</Size></Version></ListVersionsResult>',
    ],
  ])('that announce more and show no way to it are refused: %s', async (what, document) => {
    store.fault = () => ({ document });
    const remote = await openPlain();
    const call = what.startsWith('parts')
      ? remote.multipart!.listParts({ key: 'k', uploadId: 'u' })
      : what === 'uploads'
        ? remote.multipart!.listUploads({ prefix: '' })
        : remote.versions!({ prefix: '' });
    await expect(call).rejects.toMatchObject({ code: 'remoteFailed' });
    await remote.close();
  });

  it('go on where a marker is there, whatever the page says', async () => {
    const upload = (key: string) =>
      `<Upload><Key>${key}</Key><UploadId>u</UploadId><Initiated>2026-01-01T00:00:00Z</Initiated></Upload>`;
    const version = (key: string) =>
      `<Version><Key>${key}</Key><VersionId>1</VersionId><Size>1</Size></Version>`;
    store.fault = ({ query }) => {
      const isFirst = !query.has('key-marker') && !query.has('part-number-marker');
      const marker = (name: string, value: string) => (isFirst ? `<${name}>${value}</${name}>` : '');
      if (query.has('versions'))
        return {
          document: `<ListVersionsResult>${marker('NextKeyMarker', 'tree/a')}${version(isFirst ? 'tree/a' : 'tree/b')}</ListVersionsResult>`,
        };
      if (query.has('uploadId')) return { document: '<ListPartsResult></ListPartsResult>' };
      if (query.has('uploads'))
        return {
          document: `<ListMultipartUploadsResult>${marker('NextKeyMarker', 'tree/a')}${upload(isFirst ? 'tree/a' : 'tree/b')}</ListMultipartUploadsResult>`,
        };
      return undefined;
    };
    const remote = await openPlain();
    const { continuation } = await remote.versions!({ prefix: '' });
    expect(continuation).toMatchObject({ key: 'a' });
    await remote.close();
    expect(await uploads(contextIn(), { place: `s3://${store.bucket}/tree/` })).toMatchObject({ uploads: 2 });
  });
});

describe('What was removed is what the store confirmed', () => {
  const remove = async () => {
    const context = contextIn();
    const place = `s3://${store.bucket}/tree/`;
    return { context, summary: await removePlace(context, { place, recursive: true }) };
  };
  const some = NAMES.slice(0, 37);
  const isBulk = (key: string, method: string) => key === '' && method === 'POST';

  it.each([['never'], ['when it is asked alone']])(
    'an object that a bulk removal leaves out and keeps: it goes %s',
    async (when) => {
      for (const name of some) store.objects.set(`tree/${name}`, Buffer.from('x'));
      store.fault = ({ key, method }) => {
        if (key === 'tree/n00007' && method === 'DELETE' && when === 'never') return { document: '' };
        if (!isBulk(key, method)) return undefined;
        for (const name of some) if (name !== 'n00007') store.objects.delete(`tree/${name}`);
        const gone = some
          .filter((name) => name !== 'n00007')
          .map((name) => `<Deleted><Key>tree/${name}</Key></Deleted>`);
        return { document: `<DeleteResult>${gone.join('')}</DeleteResult>` };
      };
      const { context, summary } = await remove();
      const failed = when === 'never' ? 1 : 0;
      expect(summary).toMatchObject({ removed: 37 - failed, failed });
      expect(eventsOf(context, 'fileFailed').map(({ path }) => path)).toEqual(failed ? ['n00007'] : []);
      expect(store.objects.has('tree/n00007')).toBe(failed === 1);
    },
  );

  it('a store that names nothing is asked for each object', async () => {
    for (const name of some) store.objects.set(`tree/${name}`, Buffer.from('x'));
    store.fault = ({ key, method }) => {
      if (!isBulk(key, method)) return undefined;
      for (const name of some) store.objects.delete(`tree/${name}`);
      return { document: '<DeleteResult></DeleteResult>' };
    };
    expect((await remove()).summary).toMatchObject({ removed: 37, failed: 0 });
  });

  it('a sync does not count what is still there as deleted', async () => {
    sandbox.write('from/kept', 'x');
    store.objects.set('tree/kept', Buffer.from('x'));
    for (const name of some) store.objects.set(`tree/${name}`, Buffer.from('x'));
    store.fault = ({ key, method }) => {
      if (key === 'tree/n00007' && method === 'DELETE') return { document: '' };
      if (!isBulk(key, method)) return undefined;
      for (const name of some) if (name !== 'n00007') store.objects.delete(`tree/${name}`);
      return { document: '<DeleteResult></DeleteResult>' };
    };
    expect(
      await syncTree(contextIn(), {
        source: { place: 'from' },
        destination: { place: `s3://${store.bucket}/tree` },
        compare: 'sizeOnly',
        maxDelete: { percent: 100 },
      }),
    ).toMatchObject({ deletedFiles: 36, failed: 1 });
  });
});
