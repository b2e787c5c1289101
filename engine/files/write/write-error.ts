/** Translates the writer's file system errors, once. */
import { DrayError } from '../../api/error.ts';

/** @param path The workspace's path that the user knows, not the temporary file's. */
export function writeError(cause: unknown, path: string): DrayError {
  if (cause instanceof DrayError) return cause;
  const errno = errnoOf(cause);
  const data = { path, errno };
  // A read that fails is never a full disk, whatever the system calls it.
  if (isRead(cause)) return new DrayError('io', `${path} could not be read (${errno}).`, { data, cause });
  switch (errno) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new DrayError('diskFull', `The disk is full: ${path} was not written.`, { data, cause });
    case 'ENAMETOOLONG':
    case 'EILSEQ':
    case 'EINVAL':
      return new DrayError('unsafePath', `${path} cannot exist on this file system (${errno}).`, {
        data,
        cause,
      });
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new DrayError('io', `No permission to write ${path} (${errno}).`, { data, cause });
    case 'EXDEV':
      return new DrayError('io', `${path} is on another file system than the workspace's temporary folder.`, {
        data,
        cause,
      });
    default: {
      const message = cause instanceof Error ? cause.message : String(cause);
      return new DrayError('io', `${path} could not be written: ${message}.`, { data, cause });
    }
  }
}

function isRead(cause: unknown): boolean {
  return cause instanceof Error && 'syscall' in cause && cause.syscall === 'read';
}

/** @throws DrayError, as `writeError` translates what the work throws. */
export function attemptWrite<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw writeError(cause, path);
  }
}

/** Such as `ENOENT`; `undefined` for an error of another kind. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

export function damagedFile(path: string, reason: string): DrayError {
  return new DrayError('damaged', `${path} was not written: ${reason}.`, { data: { path } });
}

export function contentDiffers(path: string, blob: string): DrayError {
  return damagedFile(path, `the received bytes are not ${blob}`);
}

export function folderInTheWay(path: string): DrayError {
  return new DrayError(
    'conflict',
    `${path} is a folder that is not empty. Move or remove its content, then run the command again.`,
    { data: { path, reason: 'folderInTheWay' } },
  );
}

export function fileInTheWay(folder: string): DrayError {
  return new DrayError('conflict', `${folder} is a file, but must be a folder. Move or remove it first.`, {
    data: { path: folder, reason: 'fileInTheWay' },
  });
}

export function linkInTheWay(folder: string): DrayError {
  const reason = 'it is a symbolic link, but must be a folder; its target is not part of the workspace';
  return unsafePath(folder, reason, { reason: 'linkInTheWay' });
}

export function unsafePath(
  path: string,
  reason: string,
  data: Readonly<Record<string, string>> = {},
): DrayError {
  return new DrayError('unsafePath', `${path} was not changed: ${reason}.`, { data: { ...data, path } });
}
