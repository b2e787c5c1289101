/** The thread that decodes one Parquet file. It requests ranges of the file, and answers with a table. */
import { parentPort, workerData } from 'node:worker_threads';
import type { TablePreview } from '../../../api/host/file-preview.ts';
import { parquetTable, reasonOf } from './parquet-table.ts';

export type ToParquetWorker = { readonly id: number; readonly bytes: Uint8Array } | { readonly id: number };
export type FromParquetWorker =
  | { readonly did: 'read'; readonly id: number; readonly start: number; readonly end: number }
  | { readonly did: 'table'; readonly table: TablePreview }
  | { readonly did: 'fail'; readonly why: string };

const port = parentPort!;
const waiting = new Map<number, (bytes: Uint8Array) => void>();
let reads = 0;
port.on('message', (message: ToParquetWorker) => {
  if ('bytes' in message) waiting.get(message.id)?.(message.bytes);
  waiting.delete(message.id);
});

const post = (message: FromParquetWorker) => port.postMessage(message);
const { sizeBytes } = workerData as { readonly sizeBytes: number };
const source = {
  sizeBytes,
  read(start: number, end: number) {
    const { promise, resolve } = Promise.withResolvers<Uint8Array>();
    reads += 1;
    waiting.set(reads, resolve);
    post({ did: 'read', id: reads, start, end });
    return promise;
  },
};
parquetTable(source)
  .then(
    (table) => post({ did: 'table', table }),
    (error: unknown) => post({ did: 'fail', why: reasonOf(error) }),
  )
  .finally(() => port.close());
