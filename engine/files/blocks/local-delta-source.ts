/** The source of a block delta on this machine. */
import { closeSync, fstatSync } from 'node:fs';
import type { BlockSignature } from '../../checksums/block-digest.ts';
import type { DeltaFile } from '../../model/delta-sides.ts';
import { modeBits } from '../../model/special-modes.ts';
import type { ChunkSize } from '../chunks/chunker.ts';
import { tokenOf } from '../read/file-source.ts';
import { attemptRead, checkUnchanged, openFile, readStatOf } from '../read/open-file.ts';
import type { ReadStat } from '../read/reader-types.ts';
import { blockHasherOn } from './block-hasher.ts';
import type { BlockThreads } from './block-threads.ts';

export interface LocalDeltaSourceOptions {
  readonly path: string;
  readonly signature: BlockSignature;
  /** For `cut`; the same at both ends. */
  readonly chunkSize: ChunkSize;
  readonly threads: BlockThreads;
}

export interface LocalDeltaSource extends DeltaFile {
  readonly stat: ReadStat;
  close(): void;
}

/** Never opens a link. The caller closes it. @throws `io` as file sources do. */
export function openLocalDeltaSource(options: LocalDeltaSourceOptions): LocalDeltaSource {
  const { chunkSize, path, signature, threads } = options;
  const opened = attemptRead(path, () => openFile(path));
  const file = { path, descriptor: opened.descriptor };
  const sizeBytes = Number(opened.stats.size);
  const hasher = blockHasherOn(threads);
  const stat = readStatOf(opened);
  return {
    sizeBytes,
    stat,
    token: tokenOf(stat),
    mtimeNs: opened.stats.mtimeNs,
    mode: modeBits(opened.stats.mode),
    sign: (start, end) => hasher.hash({ file, start, end, signature }),
    cut: () => hasher.cut({ file, start: 0, end: sizeBytes, signature, size: chunkSize }),
    async read(ranges, into, { sign }) {
      const wish = sign ? signature : undefined;
      const { digests } = await threads.run({ kind: 'read', file, ranges, into, signature: wish });
      return sign ? digests : undefined;
    },
    async checkUnchanged() {
      attemptRead(path, () => checkUnchanged(opened, Number(fstatSync(opened.descriptor).size)));
    },
    close: () => closeSync(opened.descriptor),
  };
}
