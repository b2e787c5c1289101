import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeObjectStoreContract } from './contract-suite.ts';
import { openFileStore } from './file-store.ts';

async function openInNewFolder(hardLinks: boolean) {
  const root = await mkdtemp(join(tmpdir(), 'dray-file-store-'));
  const store = await openFileStore({ root, hardLinks });
  return {
    store,
    root,
    close: async () => {
      await store.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

describeObjectStoreContract('The file store', () => openInNewFolder(true));
describeObjectStoreContract('The file store without hard links', () => openInNewFolder(false));
