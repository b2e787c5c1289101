/** What a copy or a sync would do: its dry run, with the first of its changes. */
import type { JobEvent } from '../api/events.ts';
import type { AnswerOf, ChangeRow, InputOf } from '../api/host.ts';
import type { JobContext } from '../api/jobs.ts';
import { copyTree, syncTree } from '../jobs/copy-tree.ts';

export async function planCopy(
  { destination, kind, limit, source }: InputOf<'browse.plan'>,
  contextWith: (emit: (event: JobEvent) => void) => JobContext,
): Promise<AnswerOf<'browse.plan'>> {
  const deleted: ChangeRow[] = [];
  const others: ChangeRow[] = [];
  let seen = 0;
  let repository: string | undefined;
  const context = contextWith((event) => {
    if (event.type === 'warning' && event.warning === 'deletesRepository') repository = event.path;
    if (event.type !== 'change') return;
    seen += 1;
    const rows = event.change === 'deleted' ? deleted : others;
    if (rows.length >= limit) return;
    const { type: _type, ...row } = event;
    rows.push(row);
  });
  const request = { source: { place: source }, destination: { place: destination }, dryRun: true };
  const summary = await (kind === 'copy' ? copyTree(context, request) : syncTree(context, request));
  // Deletions come first, however late they were found: they have to be seen.
  const rows = [...deleted, ...others].slice(0, limit);
  return {
    summary,
    rows,
    isCut: seen > rows.length,
    ...(repository === undefined ? {} : { deletesRepository: repository }),
  };
}
