import { describe, expect, it } from 'vitest';
import { MEMORY_STORE } from '../contract/abilities.fixture.ts';
import { describeObjectStoreContract } from '../contract/suite.fixture.ts';
import { createMemoryStore } from './memory-store.fixture.ts';

describeObjectStoreContract(
  'The memory store',
  async () => {
    const store = createMemoryStore();
    return { store, close: () => store.close() };
  },
  MEMORY_STORE,
);

describe('The memory store', () => {
  it('can refuse small parts in the middle of an upload, as S3 does', async () => {
    const { multipart } = createMemoryStore({ partSizeMinBytes: 5 });
    const upload = { key: 'a', uploadId: await multipart!.create('a') };
    const parts = [
      await multipart!.uploadPart(upload, 1, new Uint8Array(4)),
      await multipart!.uploadPart(upload, 2, new Uint8Array(1)),
    ];
    await expect(multipart!.complete(upload, parts)).rejects.toMatchObject({ code: 'notFound' });
  });

  it('refuses keys that cannot be a file on every system', async () => {
    const store = createMemoryStore();
    for (const key of ['', '/a', 'a//b', 'a/', '../a', 'a/./b', 'a\0b', '\ud800', 'x'.repeat(1025)]) {
      await expect(store.put(key, new Uint8Array())).rejects.toMatchObject({ code: 'unsafePath' });
    }
  });
});
