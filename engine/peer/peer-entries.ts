/** `GET /v1/entries`: the contents of the folder, as lines that are sent while it is still being walked. */
import { isUtf8 } from 'node:buffer';
import { lstatSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as breathe } from 'node:timers/promises';
import { DrayError } from '../api/error.ts';
import { checkAborted } from '../base/abort.ts';
import { CAN_HOLD_FOLDERS } from '../base/held-folders.ts';
import { readFolderNames } from '../files/scan/folder-names.ts';
import { targetNotUtf8 } from '../files/scan/local-place.ts';
import { type ScannedEntry, scanWorkspace } from '../files/scan/scan.ts';
import { heldReach, plainReach, type TreeReach } from '../files/scan/tree-reach.ts';
import { comparePaths } from '../model/entry.ts';
import type { HeldPart } from '../model/held-part.ts';
import { isReservedName } from '../model/safe-path.ts';
import { modeBits } from '../model/special-modes.ts';
import { isUnfinishedName } from '../model/unfinished-name.ts';
import { PEER_HEADER, PEER_LIMITS, PEER_PROTOCOL, type PeerEntryRow } from '../peer-protocol/messages.ts';
import { createPartsRead } from '../workspace/read-part.ts';
import { drained, type PeerCall, PeerRefusal } from './peer-call.ts';
import { peerToken } from './peer-etag.ts';
import { type OfferedFolder, parsePeerPath, statPeerPath } from './peer-paths.ts';

/**
 * Parameters: `path` (a folder, '' for all), `after` (entries after this path below it), `limit`, `folders`
 * (also those with contents), `parts`.
 * @throws PeerRefusal 400; DrayError `notFound` if `path` is not a folder.
 */
export async function answerEntries(call: PeerCall, folder: OfferedFolder): Promise<void> {
  const { query } = call;
  const below = parsePeerPath(query.get('path') ?? '', { allowRoot: true });
  const after = query.get('after');
  const limit = parseLimit(query.get('limit'));
  const folders = folder.folders.below(below);
  if (!statPeerPath(folder, below)?.isDirectory())
    throw new DrayError('notFound', `There is no folder ${below}.`, { data: { path: below } });
  // Otherwise each name would cost a check of all folders above it.
  const reach = CAN_HOLD_FOLDERS ? heldReach(folders) : plainReach(folders.path);
  try {
    if (query.get('folded') === '1') answerFolded(call, reach);
    else
      await streamEntries(call, {
        root: folders.path,
        reach,
        after,
        limit,
        place: join(folder.realRoot, below),
      });
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
  const problems: string[] = [];
  const rows = foldedRows(call, { reach, nowMs: Date.now(), problems });
  call.response.writeHead(200, HEADERS);
  call.response.end(`${JSON.stringify({ entries: rows })}\n${lastLine(problems)}`);
}

interface Listing {
  readonly root: string;
  readonly reach: TreeReach;
  readonly after: string | null;
  readonly limit: number;
  /** The folder's own path, where `reach` may hold another name. */
  readonly place: string;
}

async function streamEntries(call: PeerCall, { after, limit, place, reach, root }: Listing): Promise<void> {
  const { query, response, signal } = call;
  response.writeHead(200, HEADERS);
  const nowMs = Date.now();
  const problems: string[] = [];
  const parts = query.get('parts') === '1' ? createPartsRead(reach, place) : undefined;
  let sent = 0;
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
    for (const passed of batch.workspaces) parts?.pass(passed);
    for (const { message, problem } of batch.problems) {
      // Other kinds of entries are not part of a listing.
      if (problem !== 'special') problems.push(message);
    }
    const rows: PeerEntryRow[] = [];
    for (const entry of batch.entries) {
      if (after !== null && comparePaths(entry.path, after) <= 0) continue;
      const row = rowOf({ reach, nowMs, problems }, entry);
      if (row && sent + rows.length < limit) rows.push(row);
    }
    sent += rows.length;
    if (rows.length > 0 && !response.write(`${JSON.stringify({ entries: rows })}\n`)) await drained(call);
    if (sent >= limit) break;
    await breathe();
  }
  response.end(lastLine(problems, parts?.all()));
}

const PROBLEMS_MAX = 1_000;

function lastLine(problems: readonly string[], parts: readonly HeldPart[] = []): string {
  const told = {
    ...(problems.length > 0 ? { problems: problems.slice(0, PROBLEMS_MAX) } : {}),
    ...(parts.length > 0 ? { parts: parts.length <= PEER_LIMITS.partsMax ? parts : [UNKNOWN] } : {}),
  };
  return `${JSON.stringify({ end: true, ...told })}\n`;
}

/** There are too many. */
const UNKNOWN: HeldPart = { folder: '', below: '', only: null };

/** Whether a folder (ending in `/`) may contain paths after this one. */
function mayHoldAfter(folder: string, after: string): boolean {
  return after.startsWith(folder) || comparePaths(folder, after) > 0;
}

interface Look {
  readonly reach: TreeReach;
  readonly nowMs: number;
  readonly problems: string[];
}

function rowOf(look: Look, entry: ScannedEntry): PeerEntryRow | undefined {
  const { nowMs } = look;
  const { kind, mode, mtimeMs, path, sizeBytes } = entry;
  switch (kind) {
    case 'file':
      return [path, 'f', sizeBytes, mtimeMs, mode, peerToken(entry, nowMs)];
    case 'folder':
      return [path, entry.holds ? 'D' : 'd', 0, mtimeMs, mode, ''];
    case 'link': {
      const target = targetOf(look, path);
      return target === undefined
        ? undefined
        : [path, 'l', sizeBytes, mtimeMs, mode, peerToken(entry, nowMs), target];
    }
  }
}

function targetOf({ problems, reach }: Look, path: string): string | undefined {
  let target: Buffer;
  try {
    target = readlinkSync(reach.absoluteOf(path), 'buffer');
  } catch {
    // Gone, or no longer a link: as if it had gone before.
    return undefined;
  }
  if (isUtf8(target)) return target.toString('utf8');
  problems.push(targetNotUtf8(path));
  return undefined;
}

function parseLimit(text: string | null): number {
  if (text === null) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new PeerRefusal(400, 'usage', `"${text}" is not a valid limit.`);
  return Number(text);
}

/** One level, in one page: folders (with a slash at their end) stand for their contents. */
function foldedRows({ query }: PeerCall, look: Look): readonly PeerEntryRow[] {
  const { reach } = look;
  const after = query.get('after');
  const rows: PeerEntryRow[] = [];
  for (const name of readFolderNames(reach.absoluteOf('')).names) {
    const stats = lstatSync(reach.absoluteOf(name), { throwIfNoEntry: false });
    if (!stats || isReservedName(name, 'linux') || isUnfinishedName(name)) continue;
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
    const row = rowOf(look, {
      path,
      kind,
      sizeBytes,
      mtimeMs,
      ctimeMs,
      inode,
      executable: false,
      mode: modeBits(mode),
    });
    if (row) rows.push(row);
  }
  rows.sort(([left], [right]) => comparePaths(left, right));
  return rows;
}
