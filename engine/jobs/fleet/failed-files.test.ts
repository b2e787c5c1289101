/** The failed files of a job, against a small server. */
import { describe, expect, it } from 'vitest';
import { contextIn, freshStorePerTest, store } from '../../../e2e/fresh-store.ts';
import { readFailedFiles } from './failed-files.ts';

freshStorePerTest();

const WORK = { id: 'nightly', destination: 's3://fake-bucket/to/?region=eu-1' };
const put = (name: string, lines: readonly object[]) => {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  store.objects.set(`to/.dray-fleet/nightly/failures/${name}`, Buffer.from(text));
};
const failed = (path: string) => ({ path, code: 'accessDenied', message: `${path} was refused.` });

describe('the failed files of a fleet', () => {
  it('are read in order, with what a check or a verification found', async () => {
    put('0001-000002.jsonl', [failed('c')]);
    put('0000-000001.jsonl', [failed('a'), { path: 'x', result: 'differs', by: 'sizes' }, failed('b')]);
    put('0002-000001.jsonl', [{ check: 'missing', detail: 'The object 12 is missing.', paths: ['p', 'q'] }]);
    expect(await readFailedFiles(contextIn(), WORK, 10)).toEqual({
      files: [
        failed('a'),
        { path: 'x', message: 'Its contents differ.' },
        failed('b'),
        failed('c'),
        { path: 'p', message: 'The object 12 is missing.' },
      ],
      isWhole: true,
    });
  });

  it('are read up to the bound, from no more documents than that takes', async () => {
    for (let part = 0; part < 9; part += 1) put(`0000-00000${part}.jsonl`, [failed(`${part}`)]);
    const bounded = await readFailedFiles(contextIn(), WORK, 3);
    expect(bounded.files.map(({ path }) => path)).toEqual(['0', '1', '2']);
    expect(bounded.isWhole).toBe(false);
    const all = await readFailedFiles(contextIn(), WORK, 9);
    expect([all.files.length, all.isWhole]).toEqual([9, true]);
  });

  it('are not all when a document says that it left some out', async () => {
    put('0000-000001.jsonl', [failed('a'), { more: 5 }]);
    expect(await readFailedFiles(contextIn(), WORK, 10)).toMatchObject({ isWhole: false });
  });

  it('are none when the job has no documents, and damaged ones are named', async () => {
    expect(await readFailedFiles(contextIn(), WORK, 10)).toEqual({ files: [], isWhole: true });
    put('0000-000001.jsonl', [{ path: 'a', code: 'noSuchCode', message: '' }]);
    await expect(readFailedFiles(contextIn(), WORK, 10)).rejects.toMatchObject({
      code: 'damaged',
      data: { key: 'failures/0000-000001.jsonl' },
    });
  });
});
