/** The texts of a transfer's row. */
import type { Transfer, TransferOrder } from '../../../engine/api/host/transfers.ts';
import { formatBytes, formatCount, formatHash, formatPlural } from '../../../engine/api/text/numbers.ts';
import type { IconName } from '../../design/icon.tsx';

/** Below this a rate is meaningless. */
const STALLED_BELOW_BYTES_PER_SECOND = 1;

export type TransferAction = 'pause' | 'resume' | 'cancel' | 'retry' | 'pushEmptied' | 'remove';

export const ACTIONS: Readonly<Record<TransferAction, { readonly icon: IconName; readonly label: string }>> =
  {
    pause: { icon: 'pause', label: 'Pause' },
    resume: { icon: 'play', label: 'Resume' },
    cancel: { icon: 'close', label: 'Cancel' },
    retry: { icon: 'refresh', label: 'Retry' },
    pushEmptied: { icon: 'upload', label: 'Push with its empty files' },
    remove: { icon: 'trash', label: 'Remove from the list' },
  };

export function isOver({ state }: Transfer): boolean {
  return state === 'done' || state === 'failed' || state === 'cancelled';
}

export function actionsFor({ state }: Transfer): readonly TransferAction[] {
  switch (state) {
    case 'waiting':
    case 'running':
      return ['pause', 'cancel'];
    case 'paused':
      return ['resume', 'cancel'];
    case 'failed':
    case 'cancelled':
      return ['retry', 'remove'];
    case 'done':
      return ['remove'];
  }
}

/** 0 to 1 by bytes, or by files if bytes are unknown; undefined while the total is unknown. */
export function fractionDone(transfer: Transfer): number | undefined {
  if (transfer.state === 'done') return 1;
  if (transfer.isCounting) return undefined;
  const { bytesDone, bytesTotal, filesDone, filesTotal } = transfer;
  if (bytesTotal !== undefined && bytesTotal > 0) return Math.min(1, bytesDone / bytesTotal);
  if (filesTotal !== undefined && filesTotal > 0) return Math.min(1, filesDone / filesTotal);
  return undefined;
}

/** The share of the whole that was sent and is not yet done. */
export function fractionUnderWay({ bytesTotal = 0, bytesUnderWay = 0 }: Transfer): number {
  return bytesTotal > 0 ? bytesUnderWay / bytesTotal : 0;
}

/**
 * The remaining time, no more exact than can be known: minutes are rounded, and there is none while the rate
 * is unknown or nothing moves.
 */
export function describeTimeLeft(transfer: Transfer): string {
  if (transfer.state !== 'running' || transfer.order.kind === 'gc') return '';
  if (
    transfer.bytesDone > 0 &&
    transfer.bytesPerSecond < STALLED_BELOW_BYTES_PER_SECOND &&
    hasBytesLeft(transfer)
  )
    return transfer.inFlight ? 'waiting for the remote' : 'nothing is moving at the moment';
  const seconds = transfer.secondsLeft;
  if (seconds === undefined || !Number.isFinite(seconds)) return 'remaining time not known yet';
  return `${transfer.isCounting ? 'at least ' : ''}${roughDuration(seconds)} left`;
}

/** `1.2 GiB of 5.1 GiB`, including what is under way; with a plus while more may be found. */
export function describeBytes(transfer: Transfer): string {
  if (transfer.order.kind === 'verify') return '';
  if (transfer.order.kind === 'gc') return describeFreed(transfer);
  const { bytesDone, bytesTotal, bytesUnderWay = 0, isCounting } = transfer;
  if (bytesTotal === undefined || (isOver(transfer) && bytesDone === bytesTotal))
    return formatBytes(bytesDone);
  const moved = Math.min(bytesTotal, bytesDone + bytesUnderWay);
  return `${formatBytes(moved)} of ${formatBytes(bytesTotal)}${isCounting ? '+' : ''}`;
}

/** `18 of 1,042+ files`. */
export function describeFiles(transfer: Transfer): string {
  if (transfer.order.kind === 'verify') return describeVerified(transfer);
  if (transfer.order.kind === 'gc') return describeCollected(transfer);
  if (transfer.order.kind === 'repair') return describeRepaired(transfer);
  const { filesDone, filesTotal, isCounting } = transfer;
  if (filesTotal === undefined || (isOver(transfer) && filesDone === filesTotal))
    return formatPlural(filesDone, 'file');
  if (isCounting) return `${formatCount(filesDone)} of ${formatCount(filesTotal)}+ files`;
  return `${formatCount(filesDone)} of ${formatPlural(filesTotal, 'file')}`;
}

/** Existence and sizes have no bytes. */
function describeVerified({ filesDone, filesTotal, summary }: Transfer): string {
  if (summary && 'objects' in summary) return formatPlural(Number(summary.objects), 'object');
  return filesTotal === undefined ? '' : `${formatCount(filesDone)} of ${formatPlural(filesTotal, 'object')}`;
}

/** The size of a listing is no progress, so only the end has bytes. */
function describeFreed({ summary }: Transfer): string {
  return summary && 'removedBytes' in summary ? `${formatBytes(Number(summary.removedBytes))} freed` : '';
}

function describeRepaired({ summary }: Transfer): string {
  return summary && 'uploadedObjects' in summary
    ? `${formatPlural(Number(summary.uploadedObjects), 'object')} stored again`
    : '';
}

function describeCollected({ filesDone, phase, summary }: Transfer): string {
  if (summary && 'repackedPacks' in summary && summary.repackedPacks !== 0)
    return `${formatPlural(Number(summary.repackedPacks), 'pack')} written anew`;
  if (summary && 'removedObjects' in summary)
    return `${formatPlural(Number(summary.removedObjects), 'object')} removed`;
  if (phase === 'mark' || filesDone === 0) return '';
  return `${formatPlural(filesDone, 'object')} ${phase === 'remove' ? 'removed' : 'listed'}`;
}

function hasBytesLeft({ bytesDone, bytesTotal }: Transfer): boolean {
  return bytesTotal === undefined || bytesDone < bytesTotal;
}

export function roughDuration(seconds: number): string {
  if (seconds < 5) return 'a few seconds';
  if (seconds < 55) return `about ${Math.round(seconds / 5) * 5} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return `about ${Math.max(1, minutes)} min`;
  const hours = Math.floor(minutes / 60);
  const rest = Math.round((minutes % 60) / 10) * 10;
  if (hours < 24)
    return rest === 0 || rest === 60 ? `about ${rest ? hours + 1 : hours} h` : `about ${hours} h ${rest} min`;
  return `about ${Math.round(hours / 24)} days`;
}

export function phaseWords(phase: string | undefined): string {
  switch (phase) {
    case 'scan':
      return 'Scanning files';
    case 'hash':
      return 'Reading and hashing';
    case 'query':
      return 'Checking what is already there';
    case 'upload':
      return 'Uploading';
    case 'download':
      return 'Downloading';
    case 'write':
      return 'Writing files';
    case 'commit':
      return 'Making the commit';
    case 'verify':
      return 'Verifying';
    case 'mark':
      return 'Reading what commits need';
    case 'remove':
      return 'Removing';
    default:
      return 'Starting';
  }
}

/** None is a check mark, which would say that all is well. */
export const KIND_ICONS: Readonly<Record<Transfer['order']['kind'], IconName>> = {
  clone: 'download',
  push: 'upload',
  pull: 'download',
  restore: 'history',
  scope: 'folder',
  switch: 'branch',
  merge: 'branch',
  revert: 'history',
  abortMerge: 'history',
  verify: 'search',
  repair: 'repair',
  gc: 'repositories',
  copy: 'copy',
  sync: 'refresh',
};

/** The source and the destination. */
export function describeOrder(order: TransferOrder): string {
  switch (order.kind) {
    case 'clone':
      return `${order.url} to ${order.root}`;
    case 'push':
      return `${order.root} to its remote`;
    case 'pull':
      return `${order.ref === undefined ? 'The remote' : shortVersion(order.ref)} to ${order.root}`;
    case 'restore':
      if (order.paths.length === 1 && order.paths[0] === '.')
        return `All files of ${shortVersion(order.from ?? 'the last commit')} to ${order.root}`;
      return `${order.paths.length === 1 ? order.paths[0] : `${order.paths.length} paths`} in ${order.root}`;
    case 'scope':
      return `${order.only ? order.only.join(', ') : 'Everything'} in ${order.root}`;
    case 'switch':
      return `Branch ${order.branch} to ${order.root}`;
    case 'merge':
      return `What ${shortVersion(order.ref)} changed, to ${order.root}`;
    case 'revert':
      return `Without what ${shortVersion(order.ref)} changed, in ${order.root}`;
    case 'abortMerge':
      return `The files of ${order.root} from before the ${order.of}`;
    case 'verify':
      return `All that the commits of ${order.root} need, on its remote`;
    case 'repair':
      return `What the remote of ${order.root} has lost, from there`;
    case 'gc':
      return `What no commit of ${order.root} needs, on its remote`;
    case 'copy':
    case 'sync':
      return `${order.source} to ${order.destination}`;
  }
}

/** A whole hash is too long to read; names stay as they are. */
function shortVersion(version: string): string {
  return /^[0-9a-f]{64}$/.test(version) ? formatHash(version) : version;
}
