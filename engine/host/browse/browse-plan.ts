/** The plan of a copy or a sync: its dry run, with the first changes and the first skipped entries. */
import type { JobEvent } from '../../api/events.ts';
import type { ChangeRow } from '../../api/host/changes.ts';
import type { TransferFailure } from '../../api/host/transfers.ts';
import type { AnswerOf, InputOf } from '../../api/host.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { copyTree, syncTree } from '../../jobs/trees/copy-tree.ts';

/** The number of skipped entries that are named per kind. */
const LEFT_OUT_MAX = 20;

export async function planCopy(
  { destination, kind, limit, source }: InputOf<'browse.plan'>,
  contextWith: (emit: (event: JobEvent) => void) => JobContext,
): Promise<AnswerOf<'browse.plan'>> {
  const deleted: ChangeRow[] = [];
  const others: ChangeRow[] = [];
  const failures: TransferFailure[] = [];
  const skipped: string[] = [];
  let seen = 0;
  let repository: string | undefined;
  const context = contextWith((event) => {
    if (event.type === 'fileFailed' && failures.length < LEFT_OUT_MAX)
      failures.push({ path: event.path, message: event.error.message });
    if (event.type === 'warning' && event.warning === 'skippedSpecialFile' && skipped.length < LEFT_OUT_MAX)
      skipped.push(event.path ?? '');
    if (event.type === 'warning' && event.warning === 'deletesRepository') repository = event.path;
    if (event.type !== 'change') return;
    seen += 1;
    const rows = event.change === 'deleted' ? deleted : others;
    if (rows.length >= limit) return;
    const { type: _type, ...row } = event;
    rows.push(row);
  });
  const request = { source: { place: source }, destination: { place: destination }, dryRun: true };
  const summary = await (kind === 'copy'
    ? // The names of repositories are asked for when the transfer starts.
      copyTree(context, { ...request, allowRepositories: true })
    : syncTree(context, request));
  // Deletions come first, however late they were found, because the user must see them.
  const rows = [...deleted, ...others].slice(0, limit);
  return {
    summary,
    rows,
    isCut: seen > rows.length,
    failures,
    skipped,
    ...(repository === undefined ? {} : { deletesRepository: repository }),
  };
}
