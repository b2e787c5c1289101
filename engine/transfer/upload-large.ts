/** One large local file to one object, in parts. */
import { type FileHandle, open } from 'node:fs/promises';
import { DrayError } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import { uploadInParts } from './multipart-upload.ts';
import type { ObjectSource, PartMemory } from './object-source.ts';
import type { PartsUpload, UploadedObject } from './parts-upload.ts';

export interface LargeUpload
  extends Pick<
    PartsUpload,
    'store' | 'key' | 'partSizeBytes' | 'limit' | 'journal' | 'condition' | 'beforeComplete' | 'signal'
  > {
  /** `sizeBytes` at least 1: a file without bytes has no parts. */
  readonly file: { readonly path: string; readonly sizeBytes: number };
  /** Bytes of parts in memory at once. */
  readonly memory: Budget;
  /** Bytes that the store holds now, after each part. */
  readonly onProgress?: (doneBytes: number) => void;
}

/** @throws As `uploadInParts` does. */
export async function uploadLarge(request: LargeUpload): Promise<UploadedObject> {
  const { file, memory, onProgress, ...rest } = request;
  const source = await openLocalSource(file);
  let doneBytes = 0;
  try {
    return await uploadInParts({
      ...rest,
      source,
      checksum: 'crc32',
      memory: budgetedMemory(memory),
      ...(onProgress && {
        onProgress: (bytes) => {
          doneBytes += bytes;
          onProgress(doneBytes);
        },
      }),
    });
  } finally {
    await source.close();
  }
}

/** Fresh memory for each part, under the budget. */
function budgetedMemory(budget: Budget): PartMemory {
  return {
    take: async (bytes, signal) => {
      const permit = await budget.acquire(bytes, signal);
      return { bytes: Buffer.allocUnsafeSlow(bytes), release: () => permit.release() };
    },
  };
}

/** Nothing vouches for its content: parts of an earlier attempt are compared with it. */
async function openLocalSource({ path, sizeBytes }: LargeUpload['file']): Promise<ObjectSource> {
  const handle = await openFile(path);
  return {
    name: path,
    sizeBytes,
    token: '',
    read: (start, into) => readFully(handle, { path, start, into }),
    checkUnchanged: async () => {},
    close: () => handle.close(),
  };
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r');
  } catch (cause) {
    throw readFailed(path, cause);
  }
}

async function readFully(
  handle: FileHandle,
  { into, path, start }: { readonly path: string; readonly start: number; readonly into: Uint8Array },
): Promise<Uint8Array> {
  for (let filled = 0; filled < into.byteLength; ) {
    const { bytesRead } = await handle
      .read(into, filled, into.byteLength - filled, start + filled)
      .catch((cause: unknown) => {
        throw readFailed(path, cause);
      });
    if (bytesRead === 0) {
      throw new DrayError('io', `${path} became shorter while it was read.`, {
        data: { path, reason: 'changedWhileRead' },
      });
    }
    filled += bytesRead;
  }
  return into;
}

function readFailed(path: string, cause: unknown): DrayError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  return new DrayError('io', `Reading ${path} failed (${code}).`, { data: { path, system: code }, cause });
}
