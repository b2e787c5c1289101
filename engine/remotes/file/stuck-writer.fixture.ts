/** A process for `file-store-hostile.test.ts`: begins to write an object, says so and never ends. ROOT */
import { openFileStore } from './file-store.ts';

async function* endless(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1000);
  process.send?.('writing');
  await new Promise(() => setInterval(() => {}, 1000));
}

const store = await openFileStore({ root: process.argv[2] ?? '' });
await store.putStream('stuck', endless());
