/** Formats the jobs of a fleet as lines. */
import {
  formatAffected,
  formatBytes,
  formatCount,
  formatDuration,
  formatHash,
  formatPlural,
} from '../../../engine/api/text/numbers.ts';
import type { ListedJob } from '../../fleet/fleet-client.ts';
import type { FleetStatus } from '../../fleet/fleet-status.ts';
import type { FleetEndSummary } from '../../fleet/follow-job.ts';
import { formatTable } from './table.ts';

export function formatFleetEnd(summary: FleetEndSummary, elapsedMs: number): string[] {
  const { counts, failed, failedParts, id, parts, ranges, refused } = summary;
  if (summary.result === 'started')
    return [`The job ${id} has started. See it with "dray fleet status ${id}".`];
  const lines = [
    `${formatWork(summary)}.${summary.result === 'stopped' ? ' The job was cancelled.' : ''}`,
    `${formatPlural(ranges, 'range')}, ${formatPlural(parts, 'part')}, ${formatPlural(counts.requests, 'request')}, ${formatDuration(elapsedMs)}.`,
  ];
  if (refused) lines.push(refused.message);
  if (failed > 0 || failedParts > 0)
    lines.push(
      `${formatPlural(failed, 'file')} failed in ${formatPlural(failedParts, 'part')}; .dray-fleet/${id}/failures/ there names them. Try them again with "dray fleet retry-failed ${id}".`,
    );
  if (counts.missing + counts.damaged > 0)
    lines.push(`.dray-fleet/${id}/failures/ there names the objects and the paths.`);
  if (counts.waiting > 0) lines.push(`${formatPlural(counts.waiting, 'file')} could not be written.`);
  return lines;
}

function formatWork({ counts, destination, kind, published, result }: FleetEndSummary): string {
  const isStopped = result === 'stopped';
  if (kind === 'push') return formatPushed(counts, destination, published);
  if (kind === 'verify') return formatVerified(counts, destination, isStopped);
  if (kind === 'check') {
    const { differing, files, onlyInDestination, onlyInSource, uncertain } = counts;
    const different = differing + onlyInSource + onlyInDestination;
    const parts = [
      ...(differing > 0 ? [`${formatCount(differing)} differ`] : []),
      ...(onlyInSource > 0 ? [`${formatCount(onlyInSource)} only in the source`] : []),
      ...(onlyInDestination > 0 ? [`${formatCount(onlyInDestination)} only in the destination`] : []),
      ...(uncertain > 0 ? [`${formatCount(uncertain)} compared by size alone`] : []),
    ];
    const rest = parts.length > 0 ? `: ${parts.join(', ')}` : '';
    const found = different > 0 ? 'Differences' : `No differences${isStopped ? ' so far' : ''}`;
    return `${found} in ${formatPlural(files, 'file')} at ${destination}${rest}`;
  }
  const { copiedBytes, copiedFiles, deletedFiles, failed, touchedFiles, unchangedFiles } = counts;
  if (copiedFiles + deletedFiles + failed + touchedFiles === 0 && !isStopped)
    return `Nothing to do: ${formatPlural(unchangedFiles, 'file')} at ${destination} ${unchangedFiles === 1 ? 'is' : 'are'} the same`;
  const parts = [
    `Copied ${formatPlural(copiedFiles, 'file')} (${formatBytes(copiedBytes)})`,
    ...(touchedFiles > 0 ? [`set the time of ${formatCount(touchedFiles)}`] : []),
    ...(deletedFiles > 0 ? [`deleted ${formatCount(deletedFiles)}`] : []),
    ...(unchangedFiles > 0 ? [`${formatCount(unchangedFiles)} unchanged`] : []),
  ];
  const [first, ...rest] = parts;
  return [`${first} to ${destination}`, ...rest].join(', ');
}

function formatPushed(
  { bytes, copiedBytes, copiedFiles, files, unchangedFiles }: FleetEndSummary['counts'],
  repository: string,
  published: FleetEndSummary['published'],
): string {
  const all = `${formatPlural(files, 'file')} (${formatBytes(bytes)})`;
  const parts = `${formatCount(copiedFiles)} read (${formatBytes(copiedBytes)}), ${formatCount(unchangedFiles)} unchanged`;
  if (!published) return `Nothing was committed of ${all} to ${repository}: ${parts}`;
  const at = published.commit === undefined ? 'has no commit' : `is at ${formatHash(published.commit)}`;
  const done = published.isNew
    ? `Pushed ${all} to ${repository}`
    : `Nothing to push of ${all} to ${repository}`;
  return `${done}: ${parts}; ${published.branch} ${at}`;
}

/** Objects that two parts name count twice, so this is about what was checked. */
function formatVerified(
  { affectedPaths, commits, damaged, files, missing, objects, receivedBytes }: FleetEndSummary['counts'],
  repository: string,
  isStopped: boolean,
): string {
  const read = receivedBytes > 0 ? `, ${formatBytes(receivedBytes)} read and hashed` : '';
  const scope = `${formatPlural(commits, 'commit')}, ${formatPlural(files, 'file')}, ${formatPlural(objects, 'object')}${read}`;
  if (missing + damaged === 0)
    return `${isStopped ? 'Nothing is missing so far' : 'Everything is there'} at ${repository}: ${scope}`;
  return `${formatCount(missing)} missing and ${formatCount(damaged)} damaged at ${repository} of ${scope}: ${formatAffected(affectedPaths)}`;
}

export function formatFleetStatus(status: FleetStatus): string[] {
  const { bytesDone, bytesKnown, counts, failedParts, filesDone, filesKnown, isListed, phase, ranges } =
    status;
  const more = isListed ? '' : '+';
  return [
    `${status.id}  ${status.kind}  ${status.state === 'running' ? `running (${phase})` : status.state}  since ${status.started}`,
    `Files   ${formatCount(filesDone)} of ${formatCount(filesKnown)}${more}, ${formatBytes(bytesDone)} of ${formatBytes(bytesKnown)}${more}`,
    `Ranges  ${formatCount(status.rangesDone)} of ${formatCount(ranges)} done, ${formatCount(status.rangesRunning)} running`,
    `Parts   ${formatCount(status.partsDone)} done, ${formatCount(status.partsRunning)} running, ${formatCount(status.partsWaiting)} waiting`,
    ...(counts.failed > 0
      ? [`Failed  ${formatPlural(counts.failed, 'file')}, in ${formatPlural(failedParts, 'ended part')}`]
      : []),
    ...(status.awaited.length > 0 ? [`Waits   for ${status.awaited.join(', ')}`] : []),
    ...formatLimits(status.limits),
    ...formatTable(
      status.workers.map(({ bytes, files, steps, worker }) => [
        'Worker',
        worker,
        formatPlural(steps, 'step'),
        `${formatCount(files)} files`,
        formatBytes(bytes),
      ]),
      ['left', 'left', 'right', 'right', 'right'],
    ),
  ];
}

function formatLimits({ bytesPerSecond, requestsPerSecond }: FleetStatus['limits']): string[] {
  const parts = [
    ...(bytesPerSecond === undefined ? [] : [`${formatBytes(bytesPerSecond)}/s`]),
    ...(requestsPerSecond === undefined ? [] : [`${formatPlural(requestsPerSecond, 'request')}/s`]),
  ];
  return parts.length === 0 ? [] : [`Limit   ${parts.join(', ')}`];
}

export function formatFleetList(jobs: readonly ListedJob[]): string[] {
  const rows = jobs.map(({ destination, id, kind, source, started, state }) => [
    id,
    kind,
    state,
    started,
    source === destination ? source : `${source} -> ${destination}`,
  ]);
  return formatTable(rows, ['left', 'left', 'left', 'left', 'left']);
}
