/** A process for `file-store.test.ts`: adds to a counter by compare-and-swap. ROOT INCREMENTS HARD_LINKS */

import type { PutOptions } from '../object-store.ts';
import { openFileStore } from './file-store.ts';

const [root = '', increments = '0', hardLinks = 'true'] = process.argv.slice(2);
const store = await openFileStore({ root, hardLinks: hardLinks === 'true' });
for (let done = 0; done < Number(increments); ) {
  const now = await store.read('counter', { maxBytes: 100 });
  const condition: PutOptions['condition'] = now ? { etag: now.etag } : { absent: true };
  const next = now ? Number(new TextDecoder().decode(now.bytes)) + 1 : 1;
  const outcome = await store.put('counter', new TextEncoder().encode(String(next)), { condition });
  if (outcome.written) done += 1;
}
await store.close();
