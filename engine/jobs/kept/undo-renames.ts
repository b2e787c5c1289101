/**
 * Takes renames back, and makes them again. A file gets its other name before it loses the first one, and
 * never over another file, so a kill leaves it under one of the names or both. The run in the bin notes the
 * renames before the first of them, so that Undo knows them.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as v from 'valibot';
import { toErrorRecord } from '../../api/error.ts';
import type { DiskSync } from '../../files/disk/sync-disk.ts';
import { writeError } from '../../files/write/write-error.ts';
import { RENAMES_MAX } from '../../model/diff.ts';
import { checkEntryPath } from '../../model/safe-path.ts';
import type { Session } from '../session/open-workspace.ts';
import type { KeptRunFolder } from './kept-folder.ts';
import { checkParents, giveName, statIfThere } from './local-keeper.ts';

const PATH = v.pipe(
  v.string(),
  v.check((path) => checkEntryPath(path) === undefined),
);
const NOTED = v.pipe(v.array(v.strictObject({ fromPath: PATH, toPath: PATH })), v.maxLength(RENAMES_MAX));

export type Renamed = v.InferOutput<typeof NOTED>[number];

/** @returns Those that have their old names again. */
export async function renameBack(
  { context, workspace: { root } }: Pick<Session, 'context' | 'workspace'>,
  run: KeptRunFolder,
  renames: readonly Renamed[],
  disk: DiskSync,
): Promise<ReadonlySet<Renamed>> {
  const done = new Set<Renamed>();
  if (renames.length === 0) return done;
  const note = noteOf(run);
  writeFileSync(note, JSON.stringify(renames.map(({ fromPath, toPath }) => ({ fromPath, toPath }))));
  disk.note(note);
  await disk.sync();
  for (const rename of renames) {
    if (context.signal.aborted) break;
    try {
      disk.note(moveInside(root, { from: rename.toPath, to: rename.fromPath }));
      done.add(rename);
    } catch {
      // Its old path is taken again, or it cannot be written: the file goes to the bin like a new one.
    }
  }
  return done;
}

/** Makes the renames of a run again. */
export function renameAgain(
  { context, workspace: { root } }: Pick<Session, 'context' | 'workspace'>,
  run: KeptRunFolder,
): { readonly renamed: number; readonly failed: number } {
  let renamed = 0;
  let failed = 0;
  for (const { fromPath, toPath } of readNote(run)) {
    try {
      // A kill came before this rename was taken back, so there is nothing to undo.
      if (!statIfThere(join(root, fromPath))) continue;
      moveInside(root, { from: fromPath, to: toPath });
      renamed += 1;
    } catch (error) {
      failed += 1;
      context.emit({ type: 'fileFailed', path: toPath, error: toErrorRecord(writeError(error, toPath)) });
    }
  }
  if (failed === 0) rmSync(noteOf(run), { force: true });
  return { renamed, failed };
}

/** @returns Where it is now. */
function moveInside(root: string, { from, to }: { readonly from: string; readonly to: string }): string {
  checkParents(root, from);
  checkParents(root, to);
  const target = join(root, to);
  mkdirSync(dirname(target), { recursive: true });
  giveName(join(root, from), target);
  // Where a file system has no hard links, the name is gone already.
  rmSync(join(root, from), { force: true });
  return target;
}

function readNote(run: KeptRunFolder): readonly Renamed[] {
  try {
    return v.parse(NOTED, JSON.parse(readFileSync(noteOf(run), 'utf8')));
  } catch {
    return [];
  }
}

function noteOf({ folder }: KeptRunFolder): string {
  return join(folder, 'renames.json');
}
