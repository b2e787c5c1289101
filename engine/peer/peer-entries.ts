/** `GET /v1/entries`: what the folder holds, as lines that come while it is still being walked. */

import { lstatSync, readlinkSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { comparePaths } from '../model/entry.ts';
import { type EntryRow, PEER_HEADER, PEER_LIMITS, PEER_PROTOCOL } from '../model/peer-protocol.ts';
import { isReservedName } from '../model/safe-path.ts';
import { readFolderNames } from '../workspace/folder-names.ts';
import { type ScannedEntry, scanWorkspace, TEMPORARY_FOLDER_NAME } from '../workspace/scan.ts';
import { absoluteIn, heldReach, plainReach, type TreeReach } from '../workspace/tree-reach.ts';
import { drained, type PeerCall, PeerRefusal } from './peer-call.ts';
import { type OfferedFolder, parsePeerPath, statPeerPath } from './peer-paths.ts';
import { peerToken } from './peer-token.ts';

/**
 * Parameters: `path` (a folder, '' for all), `after` (entries after this path below it), `limit`, `folders` (also those that hold something).
 * @throws PeerRefusal 400; DrayError `notFound` when `path` is no folder.
 */
export async function answerEntries(call: PeerCall, folder: OfferedFolder): Promise<void> {
  const { query } = call;
  const below = parsePeerPath(query.get('path') ?? '', { allowRoot: true });
  const after = query.get('after');
  const limit = parseLimit(query.get('limit'));
  const root = absoluteIn(folder.realRoot, below);
  if (below !== '' && !statPeerPath(folder, below)?.isDirectory())
    throw new DrayError('notFound', `There is no folder ${below}.`, { data: { path: below } });
  // Elsewhere each name would cost a look at all folders above it.
  const reach = process.platform === 'linux' ? heldReach(root) : plainReach(root);
  try {
    if (query.get('folded') === '1') answerFolded(call, reach);
    else await streamEntries(call, { root, reach, after, limit });
  } finally {
    reach.release();
  }
}

const HEADERS = {
  [PEER_HEADER.protocol]: PEER_PROTOCOL,
  'content-type': 'application/x-ndjson',
  'cache-control': 'no-store',
};

function answerFolded(call: PeerCall, reach: TreeReach): void {
  const rows = foldedRows(call, reach);
  call.response.writeHead(200, HEADERS);
  call.response.end(`${JSON.stringify({ entries: rows })}\n${JSON.stringify({ end: true })}\n`);
}

interface Listing {
  readonly root: string;
  readonly reach: TreeReach;
  readonly after: string | null;
  readonly limit: number;
}

async function streamEntries(call: PeerCall, { after, limit, reach, root }: Listing): Promise<void> {
  const { query, response, signal } = call;
  response.writeHead(200, HEADERS);
  const nowMs = Date.now();
  const problems: string[] = [];
  let told = 0;
  const scan = scanWorkspace({
    root,
    reach,
    ignore: false,
    isPlain: true,
    folders: query.get('folders') === '1',
    batchSize: PEER_LIMITS.entriesInPageMax,
    ...(after === null ? {} : { enter: (path) => mayHoldAfter(path, after) }),
  });
  for (const batch of scan) {
    checkAborted(signal);
    for (const { message, problem } of batch.problems) {
      // What is no file is missed by nobody.
      if (problem !== 'special') problems.push(message);
    }
    const rows: EntryRow[] = [];
    for (const entry of batch.entries) {
      if (after !== null && comparePaths(entry.path, after) <= 0) continue;
      const row = rowOf(reach, entry, nowMs);
      if (row && told + rows.length < limit) rows.push(row);
    }
    told += rows.length;
    if (rows.length > 0 && !response.write(`${JSON.stringify({ entries: rows })}\n`)) await drained(call);
    if (told >= limit) break;
    await breathe();
  }
  response.end(
    `${JSON.stringify({ end: true, ...(problems.length > 0 ? { problems: problems.slice(0, PROBLEMS_MAX) } : {}) })}\n`,
  );
}

const PROBLEMS_MAX = 1_000;

/** Whether a folder (ending in `/`) may hold paths after this one. */
function mayHoldAfter(folder: string, after: string): boolean {
  return after.startsWith(folder) || comparePaths(folder, after) > 0;
}

function rowOf(reach: TreeReach, entry: ScannedEntry, nowMs: number): EntryRow | undefined {
  const { kind, mode, mtimeMs, path, sizeBytes } = entry;
  switch (kind) {
    case 'file':
      return [path, 'f', sizeBytes, mtimeMs, mode, peerToken(entry, nowMs)];
    case 'folder':
      return [path, entry.holds ? 'D' : 'd', 0, mtimeMs, mode, ''];
    case 'link':
      try {
        return [
          path,
          'l',
          sizeBytes,
          mtimeMs,
          mode,
          peerToken(entry, nowMs),
          readlinkSync(reach.absoluteOf(path)),
        ];
      } catch {
        // Gone, or no link any more: as if it had gone before.
        return undefined;
      }
  }
}

function parseLimit(text: string | null): number {
  if (text === null) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new PeerRefusal(400, 'usage', `"${text}" is no limit.`);
  return Number(text);
}

/** One level, in one page: folders (with a slash at their end) stand for what is in them. */
function foldedRows({ query }: PeerCall, reach: TreeReach): readonly EntryRow[] {
  const after = query.get('after');
  const nowMs = Date.now();
  const rows: EntryRow[] = [];
  for (const name of readFolderNames(reach.absoluteOf('')).names) {
    const stats = lstatSync(reach.absoluteOf(name), { throwIfNoEntry: false });
    if (!stats || isReservedName(name, 'linux') || name === TEMPORARY_FOLDER_NAME) continue;
    const kind = stats.isFile()
      ? 'file'
      : stats.isDirectory()
        ? 'folder'
        : stats.isSymbolicLink()
          ? 'link'
          : undefined;
    if (!kind) continue;
    const path = kind === 'folder' ? `${name}/` : name;
    if (after !== null && comparePaths(path, after) <= 0) continue;
    const { ctimeMs, ino: inode, mode, mtimeMs, size: sizeBytes } = stats;
    const row = rowOf(
      reach,
      { path, kind, sizeBytes, mtimeMs, ctimeMs, inode, executable: false, mode: mode & 0o7777 },
      nowMs,
    );
    if (row) rows.push(row);
  }
  rows.sort(([left], [right]) => comparePaths(left, right));
  return rows;
}
