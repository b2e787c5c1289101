/** Adds a line to a workspace's top `.drayignore`, and removes it again. Changes no other byte. */
import { lstatSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { type IgnoreAdded, ignoreLineOf } from '../../api/text/ignore-line.ts';
import { replaceFile } from '../../base/replace-file.ts';
import { IGNORE_FILE_BYTES_MAX } from '../../files/scan/ignore-rules.ts';
import { attemptWrite } from '../../files/write/write-error.ts';
import { IGNORE_FILE_NAME } from '../../model/ignore-file-name.ts';
import { requireWorkspace } from '../../workspace/workspace-folder.ts';
import { allowedBy } from '../session/user-remotes.ts';

/** @throws `usage` if no line can match the path; `unsafePath` if the file is a link or a folder; `io`. */
export function ignorePath(context: JobContext, path: string): IgnoreAdded {
  const line = ignoreLineOf(path);
  if (line === undefined)
    throw new DrayError('usage', `No line of ${IGNORE_FILE_NAME} can hold the name of ${path}.`, {
      data: { path },
      advice: 'Rename it, or ignore its folder.',
    });
  const file = fileIn(context);
  const found = readIgnoreFile(file);
  const text = found?.text ?? '';
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const gap = text === '' || text.endsWith('\n') ? '' : end;
  const added = `${gap}${line}${end}`;
  const next = text + bytesOf(added);
  if (next.length > IGNORE_FILE_BYTES_MAX)
    throw new DrayError('usage', `${file} is full. Remove lines from it, then try again.`, {
      data: { path: file },
    });
  writeIgnoreFile(file, next, found?.mode);
  return { line, added, isNew: found === undefined };
}

/** @returns False if the line was already removed. */
export function unignorePath(context: JobContext, { added, isNew, line }: IgnoreAdded): boolean {
  const file = fileIn(context);
  const found = readIgnoreFile(file);
  if (!found) return false;
  const { mode, text } = found;
  const end = bytesOf(added);
  if (text.endsWith(end)) {
    const before = text.slice(0, -end.length);
    if (before === '' && isNew) rmSync(file, { force: true });
    else writeIgnoreFile(file, before, mode);
    return true;
  }
  // Another program has written lines below it.
  const lines = text.split('\n');
  const at = lines.findLastIndex((one) => one.replace(/\r$/, '') === bytesOf(line));
  if (at === -1) return false;
  writeIgnoreFile(file, lines.toSpliced(at, 1).join('\n'), mode);
  return true;
}

function fileIn(context: JobContext): string {
  return join(requireWorkspace(context.directory, allowedBy(context)).root, IGNORE_FILE_NAME);
}

/** Reads as Latin-1, one character for each byte, so invalid UTF-8 is preserved. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1');
}

/** The content as Latin-1. Undefined if the file does not exist. */
function readIgnoreFile(file: string): { readonly text: string; readonly mode: number } | undefined {
  const stat = lstatSync(file, { throwIfNoEntry: false });
  if (!stat) return undefined;
  if (!stat.isFile())
    throw new DrayError('unsafePath', `${file} is not a file, so Dray changed nothing.`, {
      data: { path: file },
    });
  try {
    return { text: readFileSync(file, 'latin1'), mode: stat.mode & 0o777 };
  } catch (cause) {
    throw new DrayError('io', `${file} cannot be read.`, { data: { path: file }, cause });
  }
}

function writeIgnoreFile(file: string, text: string, mode: number | undefined): void {
  attemptWrite(IGNORE_FILE_NAME, () => replaceFile(file, Buffer.from(text, 'latin1'), mode));
}
