/** Verifies the content that the segments of one part name, with the steps of `dray verify`. */
import { type FleetCounts, type FleetRequest, NO_FLEET_COUNTS } from '../../../api/jobs/fleet.ts';
import { systemClock } from '../../../base/clock.ts';
import type { CommitHash } from '../../../model/entry.ts';
import { withRelocations } from '../../../repository/packs/relocated-reads.ts';
import { committedEntries } from '../../history/verify/committed-entries.ts';
import { type CommitSegment, Findings, type VerifyTools } from '../../history/verify/findings.ts';
import { ObjectCheck } from '../../history/verify/object-check.ts';
import type { FailureList } from '../failures.ts';
import type { FleetFolder } from '../fleet-folder.ts';
import type { FleetPart } from '../fleet-part.ts';

export interface VerifyPartOptions {
  readonly request: FleetRequest;
  readonly part: FleetPart;
  readonly failures: FailureList;
}

export async function verifyPart(
  folder: FleetFolder,
  { failures, part, request }: VerifyPartOptions,
): Promise<FleetCounts> {
  const { context } = failures;
  const { committed } = part;
  if (!committed) throw new Error('a part of another job');
  const store = withRelocations(folder.remote.store);
  const tools: VerifyTools = { context, clock: systemClock, ...folder.remote, store };
  const findings = new Findings(tools);
  const objects = new ObjectCheck(tools);
  for (const detail of committed.unreadable)
    context.emit({ type: 'check', check: 'damaged', result: 'failed', detail });
  const content = {
    findings,
    inlineCommits: committed.inlineCommits as CommitHash[],
    segments: committed.segments as CommitSegment[],
  };
  for await (const entries of committedEntries(tools, content)) objects.note(entries);
  await objects.checkExistence();
  const { readDataPercent: percent } = request;
  if (percent !== undefined) await objects.readData({ kind: 'percent', percent });
  const affected = await objects.reportDamage(() => committedEntries(tools, content));
  const { dollars, total: requests } = tools.meter.totals();
  return {
    ...NO_FLEET_COUNTS,
    ...{ files: part.files, bytes: part.bytes, commits: committed.commits, objects: objects.objects },
    missing: objects.missing,
    damaged: objects.damaged + findings.unreadable + committed.unreadable.length,
    affectedPaths: affected + findings.unlistedFiles,
    receivedBytes: objects.readBytes,
    requests,
    dollars,
  };
}
