/** Plain copies, as the library shows them. */
import type { CopyRequest, TransferSummary } from '../../engine/api/jobs/trees.ts';
import { checkText, contextOf, type DrayOptions } from './library-context.ts';

/** What a copy does besides; the guide has a page about each. */
export type TreeCopyOptions = DrayOptions & Omit<CopyRequest, 'source' | 'destination'>;

/**
 * Copies what is new or changed from one place to another, and deletes nothing: local paths, `s3://`,
 * `dray://`, `NAME:PREFIX` of a named remote, or a version, `NAME@REF:PATH` or `URL?ref=REF&path=PATH`.
 *
 * A file that fails is counted in `failed` of the answer, and an event names it.
 *
 * @throws DrayError `usage`, `notFound` if there is no such source, `aborted`, and those of the stores
 */
export async function copy(
  source: string,
  destination: string,
  options: TreeCopyOptions = {},
): Promise<TransferSummary> {
  checkText(source, 'A source');
  checkText(destination, 'A destination');
  const { connection, directory, environment, onEvent, password, signal, ...rest } = options;
  const context = contextOf({ connection, directory, environment, onEvent, password, signal });
  // Remembers what it copied in SQLite, whose native module a program may not have; see the guide.
  const { copyTree } = await import('../../engine/jobs/trees/copy-tree.ts');
  return copyTree(context, { ...rest, source: { place: source }, destination: { place: destination } });
}
