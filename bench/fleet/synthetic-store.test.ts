import { describe, expect, it } from 'vitest';
import { startSyntheticStore } from './synthetic-store.ts';

async function listPage(endpoint: string, query: Readonly<Record<string, string>>) {
  const url = `${endpoint}/synthetic?${new URLSearchParams({ 'list-type': '2', ...query })}`;
  const text = await (await fetch(url)).text();
  const keys = [...text.matchAll(/<Key>(.*?)<\/Key>/g)].map((found) => found[1]!);
  return { keys, next: /<NextContinuationToken>(.*?)</.exec(text)?.[1] };
}

describe('A synthetic store', () => {
  it('lists each object once and in order, page by page', async () => {
    await using store = await startSyntheticStore(2_500);
    const pages: (readonly string[])[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const page = await listPage(store.endpoint, next === '' ? {} : { 'continuation-token': next });
      pages.push(page.keys);
      next = page.next;
    }
    expect(pages.map((keys) => keys.length)).toEqual([1000, 1000, 500]);
    const keys = pages.flat();
    expect(new Set(keys).size).toBe(2_500);
    expect([...keys].sort()).toEqual(keys);
  });

  it('lists the keys after any text, whether it is a key or lies between two', async () => {
    await using store = await startSyntheticStore(2_500);
    const first = async (after: string) => (await listPage(store.endpoint, { 'start-after': after })).keys[0];
    expect(await first('source/0000001/0007.bin')).toBe('source/0000001/0008.bin');
    expect(await first('source/0000001/0007.binX')).toBe('source/0000001/0008.bin');
    expect(await first('source/0000001')).toBe('source/0000001/0000.bin');
    expect(await first('source/0000002/0499.bin')).toBeUndefined();
  });
});
