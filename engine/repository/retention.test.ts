import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { CommitHash } from '../model/entry.ts';
import { createMemoryStore } from '../remotes/memory/memory-store.fixture.ts';
import { hashOfText } from './entries.fixture.ts';
import { RETENTION_KEY } from './keys.ts';
import { readRetention, writeRetention } from './retention.ts';

const RETENTION = {
  repository: '6d8b7a52-5a0c-4f0f-9c55-0d6f5c1e2a77',
  policy: { keepLast: 2, keepTags: ['v*'] },
  forgotten: [hashOfText('one') as CommitHash],
};

it('a list of which a commit was altered is damaged, and an older list without a digest is read', async () => {
  const store = createMemoryStore();
  expect(await writeRetention(store, RETENTION, undefined)).toBe(true);
  expect(await readRetention(store)).toMatchObject(RETENTION);
  const { bytes } = (await store.read(RETENTION_KEY, { maxBytes: 10_000 }))!;
  const text = zstdDecompressSync(bytes).toString('utf8');
  const put = (changed: string) => store.put(RETENTION_KEY, zstdCompressSync(Buffer.from(changed)));
  const [commit] = RETENTION.forgotten;
  await put(text.replace(commit!, `${commit!.startsWith('0') ? '1' : '0'}${commit!.slice(1)}`));
  await expect(readRetention(store)).rejects.toMatchObject({ code: 'damaged', data: { key: RETENTION_KEY } });
  const { sha256, ...older } = JSON.parse(text) as Record<string, unknown>;
  expect(sha256).toMatch(/^[0-9a-f]{64}$/);
  await put(JSON.stringify(older));
  expect(await readRetention(store)).toMatchObject(RETENTION);
  await put(JSON.stringify({ ...older, sha256, policy: { ...RETENTION.policy, keepLast: 1 } }));
  await expect(readRetention(store)).rejects.toMatchObject({ code: 'damaged' });
});
