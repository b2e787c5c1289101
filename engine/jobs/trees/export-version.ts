/** `dray export`: a copy whose source is a version of the workspace's repository, or of another one. */
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CopyRequest, ExportRequest, TransferSummary } from '../../api/jobs/trees.ts';
import { formatVersionPlace } from '../../api/text/version-place.ts';
import { defaultRemote } from '../session/named-remote.ts';
import { copyTree } from './copy-tree.ts';

/** @throws `notFound` for an unknown ref, and what a copy throws */
export async function exportVersion(context: JobContext, request: ExportRequest): Promise<TransferSummary> {
  const { from, path = '', ref, ...copy } = request;
  const repository = from ?? defaultRemote(context).text;
  const place = formatVersionPlace(repository, ref, path);
  const whole: CopyRequest = { ...copy, source: { place } };
  return copyTree(context, whole);
}
