/**
 * One side of a delta for a client: a file below the offered folder, held open so that no link leads away
 * from it.
 */

import { DrayError } from '../api/error.ts';
import type { Clock } from '../base/clock.ts';
import type { BlockThreads } from '../files/blocks/block-threads.ts';
import { type LocalDeltaSource, openLocalDeltaSource } from '../files/blocks/local-delta-source.ts';
import { openLocalDeltaTarget } from '../files/blocks/local-delta-target.ts';
import type { TreeWriter } from '../files/write/tree-writer-types.ts';
import { parentOf } from '../files/write/writer-folders.ts';
import type { DeltaTarget } from '../model/delta-sides.ts';
import { travelling } from '../model/special-modes.ts';
import type { DeltaOpen } from '../peer-protocol/deltas.ts';
import { peerToken } from './peer-etag.ts';
import { holdParent, type OfferedFolder, parsePeerPath } from './peer-paths.ts';

export type PeerDeltaSide = (
  | { readonly kind: 'source'; readonly source: LocalDeltaSource }
  | { readonly kind: 'target'; readonly target: DeltaTarget }
) & {
  readonly close: () => void;
  /** An error with the requested path. */
  readonly named: (error: unknown) => unknown;
};

export interface SideOpening {
  readonly folder: OfferedFolder;
  readonly writer: TreeWriter;
  readonly clock: Clock;
  readonly threads: BlockThreads;
  readonly specialModes: boolean;
}

/** @throws PeerRefusal; DrayError `unsafePath`, `notFound`, and errors of opening a file. */
export function openSide(
  { clock, folder, specialModes, threads, writer }: SideOpening,
  wish: DeltaOpen,
): PeerDeltaSide {
  const path = parsePeerPath(wish.path);
  const { blockBytes, chunkSize, hash } = wish;
  const signature = { hash, seed: BigInt(`0x${wish.seed}`), blockBytes };
  const isWritten = wish.side === 'target' && !wish.isDryRun;
  if (isWritten && parentOf(path) !== '') writer.makeFolder(`${parentOf(path)}/`);
  const held = holdParent(folder, path);
  const named = (error: unknown) => naming(path, held.path, error);
  try {
    if (wish.side === 'source') {
      const source = openLocalDeltaSource({ path: held.path, signature, chunkSize, threads });
      const close = () => {
        source.close();
        held.close();
      };
      return { kind: 'source', source, close, named };
    }
    const target = openLocalDeltaTarget({
      path: held.path,
      signature,
      chunkSize,
      threads,
      newTemporary: wish.isInPlace || !isWritten ? undefined : writer.newTemporary,
      isDryRun: wish.isDryRun === true,
      mtimeNs: BigInt(wish.mtimeNs ?? 0),
      mode: travelling(wish.mode, { specialModes }).mode,
      tokenOf: (stat) => peerToken(stat, clock.nowMs()),
    });
    return { kind: 'target', target, close: held.close, named };
  } catch (error) {
    held.close();
    throw named(error);
  }
}

/** Messages use the requested path. */
function naming(path: string, held: string, error: unknown): unknown {
  if (!(error instanceof DrayError)) return error;
  return new DrayError(error.code, error.message.replaceAll(held, path), {
    retry: error.retry,
    data: { ...error.data, path },
  });
}

/** The answer to the client when it is open. */
export function describeSide(side: PeerDeltaSide, nowMs: number): object {
  if (side.kind === 'target') return { sizeBytes: side.target.oldBytes };
  const { mode, mtimeNs, sizeBytes, stat } = side.source;
  return { sizeBytes, mode, mtimeNs: mtimeNs.toString(), token: peerToken(stat, nowMs) };
}
