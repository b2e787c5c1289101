/**
 * From the paths that clients send to files below the offered folder. What is opened here was seen to lie below it after it was
 * opened: a folder that becomes a link meanwhile leads nowhere.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  type Stats,
} from 'node:fs';
import { DrayError } from '../api/error.ts';
import { PEER_LIMITS } from '../model/peer-protocol.ts';
import { checkEntryPath } from '../model/safe-path.ts';
import { TEMPORARY_FOLDER_NAME } from '../model/unfinished-name.ts';
import { absoluteIn, heldReach, isReal } from '../workspace/tree-reach.ts';
import { parentOf } from '../workspace/tree-writer-folders.ts';
import { PeerRefusal } from './peer-call.ts';

export interface OfferedFolder {
  /** As the user named it; absolute. */
  readonly root: string;
  /** With all links resolved, as it was when the server began. */
  readonly realRoot: string;
}

/** @throws DrayError `notFound` when it is no folder. */
export function openOffered(root: string): OfferedFolder {
  try {
    const realRoot = realpathSync(root);
    if (lstatSync(realRoot).isDirectory()) return { root, realRoot };
  } catch {
    // The same answer.
  }
  throw new DrayError('notFound', `${root} is no folder that could be offered.`, { data: { path: root } });
}

/**
 * A path as a client wrote it. '' is the folder itself where `allowRoot`; one slash at the end is taken off.
 * @throws PeerRefusal 400, 414; DrayError `unsafePath` for what lies in nobody's reach.
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
  // Where the case of names makes no difference, this is the same folder.
  if (parts[0]!.toLowerCase() === TEMPORARY_FOLDER_NAME) return 'unfinished files lie there';
  return undefined;
}

const READ_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);
const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG']);

/** A regular file, open to be read, or undefined when there is none. The caller closes it. @throws DrayError `unsafePath`, `io` */
export function openPeerFile(folder: OfferedFolder, path: string): number | undefined {
  return openToRead(folder, path, (stats) => stats.isFile());
}

/** The same for a folder; '' is the one that is offered. */
export function openPeerFolder(folder: OfferedFolder, path: string): number | undefined {
  return openToRead(folder, path, (stats) => stats.isDirectory());
}

function openToRead(
  { realRoot }: OfferedFolder,
  path: string,
  isWanted: (stats: Stats) => boolean,
): number | undefined {
  const absolute = absoluteIn(realRoot, path);
  let fd: number;
  try {
    fd = openSync(absolute, READ_FLAGS);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (ABSENT.has(code)) return undefined;
    if (code === 'ELOOP') throw leadsAway(path);
    throw new DrayError('io', `${path} cannot be read: ${code}.`, { data: { path } });
  }
  try {
    if (!liesAt(fd, absolute)) throw leadsAway(path);
    // Of the other kind, most likely: there is no such thing.
    if (!isWanted(fstatSync(fd))) {
      closeSync(fd);
      return undefined;
    }
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

export interface HeldParent {
  /** Leads to the file in the folder that was looked at, wherever that folder's name leads by now. */
  readonly path: string;
  close(): void;
}

/**
 * The folder of a path, held open: what is done by the path given cannot be led away by a link that appears later.
 * @throws DrayError `notFound` when there is no such folder, `unsafePath` when it is reached through a link.
 */
export function holdParent({ realRoot }: OfferedFolder, path: string): HeldParent {
  const reach = heldReach(realRoot);
  try {
    return { path: reach.absoluteOf(path), close: () => reach.release() };
  } catch (error) {
    if (error instanceof DrayError) throw error;
    throw new DrayError('notFound', `There is no folder for ${path}.`, { data: { path }, cause: error });
  }
}

/** What lies there, never through a link; undefined when nothing does. @throws DrayError `unsafePath` */
export function statPeerPath({ realRoot }: OfferedFolder, path: string): Stats | undefined {
  try {
    if (!isReal(absoluteIn(realRoot, parentOf(path)))) throw leadsAway(path);
    return lstatSync(absoluteIn(realRoot, path), { throwIfNoEntry: false });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (ABSENT.has(code)) return undefined;
    if (code === 'ELOOP') throw leadsAway(path);
    throw error;
  }
}

/** Whether what is open lies where its path says, every part of it a real folder. */
function liesAt(fd: number, absolute: string): boolean {
  if (process.platform === 'linux') return readlinkSync(`/proc/self/fd/${fd}`) === absolute;
  // Elsewhere the path is looked at again, and has to lead to what is open.
  const [opened, found] = [fstatSync(fd), lstatSync(absolute)];
  return isReal(absolute) && opened.ino === found.ino && opened.dev === found.dev;
}

export function leadsAway(path: string): DrayError {
  return new DrayError(
    'unsafePath',
    `${path} is refused: it is a symbolic link or lies behind one, and links may lead out of what the peer offers. Name the file itself.`,
    {
      data: { path },
    },
  );
}
