/** `dray export`: a copy whose source is a version of the workspace's repository, or of another one. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { JobContext } from '../../api/jobs/jobs.ts';
import type { CopyRequest, ExportRequest, TransferSummary } from '../../api/jobs/trees.ts';
import { canNamePlace, formatVersionPlace } from '../../api/text/version-place.ts';
import { defaultRemote, knownRemoteNames } from '../session/named-remote.ts';
import { copyTree } from './copy-tree.ts';

/** @throws `notFound` for an unknown ref, and what a copy throws */
export async function exportVersion(context: JobContext, request: ExportRequest): Promise<TransferSummary> {
  const { from, path = '', ref, ...copy } = request;
  const repository = from === undefined ? defaultRemote(context).text : givenRepository(context, from);
  const place = formatVersionPlace(repository, ref, path);
  const whole: CopyRequest = { ...copy, source: { place } };
  return copyTree(context, whole);
}

/** Only a URL has parameters, so a relative path becomes absolute here. The name of a remote counts first. */
function givenRepository(context: JobContext, from: string): string {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(from)) return from;
  const path = resolve(context.directory, from);
  if (!canNamePlace(from)) return path;
  return knownRemoteNames(context).includes(from) || !existsSync(path) ? from : path;
}
