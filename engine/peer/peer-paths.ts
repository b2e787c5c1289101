/**
 * Resolves paths of clients to files below the offered folder. Each file is reached through its held folder
 * (`base/held-folders.ts`), so a folder that becomes a link in the meantime is not followed.
 */
import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { DrayError } from '../api/error.ts';
import { createHeldFolders, folderAbove, type HeldFolders, isLinkOnTheWay } from '../base/held-folders.ts';
import { OPEN_TO_READ } from '../base/open-to-read.ts';
import { hasUnstatedContent, wrongSize } from '../base/wrong-size.ts';
import { heldReach } from '../files/scan/tree-reach.ts';
import { checkEntryPath, isOwnFolderName } from '../model/safe-path.ts';
import { PEER_LIMITS } from '../peer-protocol/messages.ts';
import { PeerRefusal } from './peer-call.ts';

export interface OfferedFolder {
  /** With all links resolved, as at the server's start. */
  readonly realRoot: string;
  /** The folders below it. Each call checks again that the folder exists and is not a link. */
  readonly folders: HeldFolders;
}

/** @throws DrayError `notFound` if it is not a folder. */
export function openOffered(root: string): OfferedFolder {
  try {
    const realRoot = realpathSync(root);
    if (lstatSync(realRoot).isDirectory()) return { realRoot, folders: createHeldFolders(realRoot) };
  } catch {
    // The same answer.
  }
  throw new DrayError('notFound', `${root} is not a folder, so it cannot be served.`, {
    data: { path: root },
  });
}

/**
 * A path as the client wrote it. '' is the folder itself if `allowRoot`; one slash at the end is removed.
 * @throws PeerRefusal 400, 414; DrayError `unsafePath` for places that no client may reach.
 */
export function parsePeerPath(
  text: string | null,
  { allowRoot = false }: { readonly allowRoot?: boolean } = {},
): string {
  if (text === null) throw new PeerRefusal(400, 'usage', 'The parameter "path" is missing.');
  if (Buffer.byteLength(text) > PEER_LIMITS.pathBytesMax)
    throw new PeerRefusal(414, 'unsafePath', `The path is longer than ${PEER_LIMITS.pathBytesMax} bytes.`);
  const path = text.endsWith('/') ? text.slice(0, -1) : text;
  if (path === '') {
    if (allowRoot) return '';
    throw new PeerRefusal(400, 'usage', 'The path is empty.');
  }
  const reason = reasonToRefuse(path);
  if (reason !== undefined)
    throw new DrayError('unsafePath', `"${text}" is refused: ${reason}.`, { data: { path: text } });
  return path;
}

function reasonToRefuse(path: string): string | undefined {
  const reason = checkEntryPath(path);
  if (reason !== undefined) return reason;
  const parts = path.split('/');
  if (parts.length > PEER_LIMITS.pathPartsMax) return `it has more than ${PEER_LIMITS.pathPartsMax} parts`;
  // At any depth: a folder below may be served as a repository, which keeps its unfinished files there.
  if (parts.some(isOwnFolderName)) return 'that folder holds unfinished files';
  return undefined;
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/**
 * A regular file, open for reading, or undefined if there is none. The caller closes it. @throws DrayError
 * `unsafePath`, `io`
 */
export function openPeerFile(folder: OfferedFolder, path: string): number | undefined {
  return openToRead(folder, path, (stats, fd) => {
    if (stats.isFile() && hasUnstatedContent(fd, stats.size)) throw wrongSize(path);
    return stats.isFile();
  });
}

/** The same for a folder; '' is the offered folder. */
export function openPeerFolder(folder: OfferedFolder, path: string): number | undefined {
  return openToRead(folder, path, (stats) => stats.isDirectory());
}

function openToRead(
  { folders }: OfferedFolder,
  path: string,
  isWanted: (stats: Stats, fd: number) => boolean,
): number | undefined {
  let fd: number;
  try {
    using parent = folders.holdSync(folderAbove(path));
    fd = openSync(parent.at(nameOf(path)), OPEN_TO_READ);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (ABSENT.has(code)) return undefined;
    if (code === 'ELOOP' || isLinkOnTheWay(error)) throw leadsAway(path);
    throw new DrayError('io', `${path} cannot be read: ${code}.`, { data: { path } });
  }
  try {
    // Most likely of another kind: no such file.
    if (isWanted(fstatSync(fd), fd)) return fd;
    closeSync(fd);
    return undefined;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export interface HeldParent {
  /** Leads to the file in the folder that was checked, wherever that folder's name leads by now. */
  readonly path: string;
  close(): void;
}

/**
 * The folder of a path, held open: work through the returned path cannot be led away by a link that appears
 * later. @throws DrayError `notFound` if there is no such folder, `unsafePath` if a link leads to it.
 */
export function holdParent({ folders }: OfferedFolder, path: string): HeldParent {
  const reach = heldReach(folders);
  try {
    return { path: reach.absoluteOf(path), close: () => reach.release() };
  } catch (error) {
    if (error instanceof DrayError) throw error;
    throw new DrayError('notFound', `There is no folder for ${path}.`, { data: { path }, cause: error });
  }
}

/** The item there, never through a link; undefined if nothing. @throws DrayError `unsafePath` */
export function statPeerPath(folder: OfferedFolder, path: string): Stats | undefined {
  return inHeldFolder(folder, path, (at) => lstatSync(at, { throwIfNoEntry: false }));
}

/**
 * A link's target; undefined if something else or nothing is there. One call checks and reads, because
 * another process may exchange a file and a link at any moment. @throws DrayError `unsafePath`
 */
export function readPeerLink(folder: OfferedFolder, path: string): Buffer | undefined {
  return inHeldFolder(folder, path, (at) => {
    try {
      return readlinkSync(at, 'buffer');
    } catch (error) {
      if (NO_LINK.has((error as NodeJS.ErrnoException).code ?? '')) return undefined;
      throw error;
    }
  });
}

/** Errors of `readlink` on something that is not a link; Windows says `UNKNOWN`. */
const NO_LINK = new Set(['EINVAL', 'UNKNOWN']);

/** @param look Gets a path in the held folder. Undefined if there is nothing. */
function inHeldFolder<T>({ folders }: OfferedFolder, path: string, look: (at: string) => T): T | undefined {
  try {
    using parent = folders.holdSync(folderAbove(path));
    return look(parent.at(nameOf(path)));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (ABSENT.has(code)) return undefined;
    if (isLinkOnTheWay(error)) throw leadsAway(path);
    throw error;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

function leadsAway(path: string): DrayError {
  return new DrayError(
    'unsafePath',
    `${path} is refused: it is a symbolic link or is behind one, and links may lead out of the served folder. Name the file itself.`,
    {
      data: { path },
    },
  );
}
