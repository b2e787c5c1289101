/** Plain copies, as the library shows them. */
import type { CopyRequest, TransferSummary } from '../../engine/api/jobs/trees.ts';
import { contextOf, type DrayOptions } from './library-context.ts';

/** Of a copy, what it does; see `dray copy --help` for each. */
export type TreeCopyOptions = DrayOptions & Omit<CopyRequest, 'source' | 'destination'>;

/**
 * Copies what is new or changed from one place to another, and deletes nothing: local paths, `s3://`,
 * `dray://`, `NAME:PREFIX` of a named remote, or a version, `NAME@REF:PATH` or `URL?ref=REF&path=PATH`.
 *
 * @throws DrayError `usage`, `notFound`, and those of the stores. A file that fails is counted in the answer,
 * and an event names it.
 */
export async function copy(
  source: string,
  destination: string,
  options: TreeCopyOptions = {},
): Promise<TransferSummary> {
  const { connection, directory, environment, onEvent, password, signal, ...rest } = options;
  const context = contextOf({ connection, directory, environment, onEvent, password, signal });
  // Remembers what it copied in SQLite, whose native module a program may not have; see the guide.
  const { copyTree } = await import('../../engine/jobs/trees/copy-tree.ts');
  return copyTree(context, { ...rest, source: { place: source }, destination: { place: destination } });
}
