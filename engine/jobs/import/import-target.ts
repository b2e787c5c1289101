/** The repository that an import writes to, and what is known of earlier imports to it. */
import { join } from 'node:path';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { type Md5Table, openMd5Table } from '../../index/md5-table.ts';
import { type OpenedRemote, openRepositoryAt, parseGivenUrl } from '../session/opened-remote.ts';
import { openRepositoryWriter, type RepositoryWriter } from '../versions/repository-writer.ts';
import { type ImportHistory, openImportHistory, type StateTrailer } from './import-history.ts';

/** Its end, by `await using`, closes all of it. */
export interface ImportTarget extends AsyncDisposable {
  readonly remote: OpenedRemote;
  readonly repository: RepositoryWriter;
  readonly known: Md5Table;
  readonly history: ImportHistory;
}

export interface ImportTargetOptions {
  /** The URL of the repository, made if there is none. */
  readonly to: string;
  readonly command: string;
  readonly trailer: StateTrailer;
  /** Refuses a place before a repository is made there. */
  readonly check?: (remote: OpenedRemote) => void;
}

export async function openImportTarget(
  context: JobContext,
  { check, command, to, trailer }: ImportTargetOptions,
): Promise<ImportTarget> {
  await using opened = new AsyncDisposableStack();
  const url = parseGivenUrl(context, to, context.directory);
  const remote = opened.use(await openRepositoryAt(context, url, { create: true }));
  check?.(remote);
  const repository = opened.use(await openRepositoryWriter(context, remote, { command, creates: true }));
  const known = opened.use(openMd5Table(join(repository.folder, 'md5.db')));
  const history = await openImportHistory(repository, trailer);
  const all = opened.move();
  return { remote, repository, known, history, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
