/** Reads the entries of all workers once, before any of them is written to the repository. */
import type { FleetRequest, PublishResult } from '../../../api/jobs/fleet.ts';
import type { JobContext } from '../../../api/jobs/jobs.ts';
import { formatPlural } from '../../../api/text/numbers.ts';
import { checkAborted } from '../../../base/abort.ts';
import { collectFailures } from '../failures.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import { DatasetPieces } from './dataset-pieces.ts';
import type { MergeProblem } from './merge-workers.ts';
import type { PushTarget } from './push-target.ts';

/** Warnings that the worker prints; the document lists all problems. */
const WARNINGS_MAX = 10;

export interface MergeOptions {
  readonly request: FleetRequest;
  readonly ranges: number;
  readonly target: PushTarget;
}

/**
 * Undefined when the folders make one dataset. Otherwise the document of failures behind those of the last
 * range names the paths.
 */
export async function whyUnmerged(
  context: JobContext,
  folder: FleetFolder,
  options: MergeOptions,
): Promise<NonNullable<PublishResult['refused']> | undefined> {
  const failures = collectFailures(context, { range: options.ranges, number: 0 });
  let [entries, problems] = [0, 0];
  let first: MergeProblem | undefined;
  const pieces = new DatasetPieces(folder, options, context);
  const merged = pieces.merged((problem) => {
    const { message, path } = problem;
    first ??= problem;
    problems += 1;
    failures.add({ path, error: { code: 'conflict', message } });
    if (problems <= WARNINGS_MAX) context.emit({ type: 'warning', warning: 'fleetConflict', message, path });
  });
  for await (const batch of merged) {
    checkAborted(context.signal);
    entries += batch.length;
  }
  await failures.save(folder);
  if (pieces.missingParts > 0)
    return {
      code: 'partial',
      message: `${formatPlural(pieces.missingParts, 'part')} were not stored, so nothing was committed.`,
    };
  if (first) return { code: 'conflict', message: differMessage(folder.id, problems, first) };
  if (entries > 0) return undefined;
  const message = 'The folders of all workers are empty, so nothing was committed.';
  return { code: 'partial', message };
}

/** Names no path, since it is stored in Temporal. */
function differMessage(id: string, problems: number, { workers: [one, other] }: MergeProblem): string {
  const others = problems > 1 ? `, "${one}" and "${other}" among them` : '';
  const who = problems > 1 ? 'workers' : `the workers "${one}" and "${other}"`;
  return `At ${formatPlural(problems, 'path')}, ${who} have different files${others}, so nothing was committed. .dray-fleet/${id}/failures/ in the repository names them. Rename or remove one of each, or put the files of each worker into a folder of its own.`;
}
