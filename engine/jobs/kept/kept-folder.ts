/**
 * The bin of a workspace, `.dray/kept/`: a folder for each run that overwrote local files which no commit
 * has, with the files at their paths below `files/`. A scan never enters `.dray`, so it is neither scanned
 * nor pushed.
 *
 * A run older than `KEPT_DAYS` is removed in two steps, `GRACE_DAYS` apart: a sweep notes the time in the
 * run's folder, and only a later sweep removes it. The age is a difference of two readings of a clock that
 * may jump (an empty battery, a wrong year before the network sets it), so one reading must not empty the
 * bin. A sweep of a clock that is right again removes the note.
 */
import { randomUUID } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { makeFolder, type WorkspaceFolder } from '../../workspace/workspace-folder.ts';

export const KEPT_DAYS = 30;
const GRACE_DAYS = 7;
const DAY_MS = 24 * 60 * 60 * 1000;
const RUN_NAME = /^(\d{13})-[0-9a-f]{8}$/;
const ABOUT = v.object({ words: v.pipe(v.string(), v.maxLength(1_000)) });

export interface KeptRunFolder {
  readonly id: string;
  readonly atMs: number;
  readonly folder: string;
  readonly files: string;
}

function keptFolderOf({ root }: WorkspaceFolder): string {
  return join(root, '.dray', 'kept');
}

export function makeRun(workspace: WorkspaceFolder, nowMs: number, words: string): KeptRunFolder {
  const bin = keptFolderOf(workspace);
  makeFolder(bin, 0o700);
  if (!isFolder(bin)) throw new DrayError('unsafePath', `${bin} is not a folder. Remove it, then run again.`);
  const run = runAt(bin, `${String(nowMs).padStart(13, '0')}-${randomUUID().slice(0, 8)}`, nowMs);
  makeFolder(run.files, 0o700);
  writeFileSync(join(run.folder, 'about.json'), JSON.stringify({ words }));
  return run;
}

/** The newest first. What is not a folder of this form is none of ours. */
export function listRuns(workspace: WorkspaceFolder): KeptRunFolder[] {
  const bin = keptFolderOf(workspace);
  if (!isFolder(bin)) return [];
  return readdirSync(bin)
    .flatMap((id) => {
      const atMs = RUN_NAME.exec(id)?.[1];
      return atMs !== undefined && isFolder(join(bin, id)) ? [runAt(bin, id, Number(atMs))] : [];
    })
    .sort((a, b) => b.atMs - a.atMs);
}

export function removeRun({ folder }: KeptRunFolder): void {
  // Removes links, and never what they lead to.
  rmSync(folder, { recursive: true, force: true });
}

/** Removes what has expired. A run that cannot be removed now stays for the next sweep. */
export function sweepRuns(workspace: WorkspaceFolder, nowMs: number): void {
  for (const run of listRuns(workspace)) {
    try {
      sweepRun(run, nowMs);
    } catch {
      // Somebody else's files among them, or a full disk.
    }
  }
}

function sweepRun(run: KeptRunFolder, nowMs: number): void {
  const note = join(run.folder, 'expired');
  const notedMs = readNote(note);
  const isExpired = run.atMs < nowMs - KEPT_DAYS * DAY_MS;
  const isNoted = notedMs !== undefined && notedMs <= nowMs;
  if (!isExpired) {
    if (notedMs !== undefined) rmSync(note);
  } else if (!isNoted) {
    rmSync(note, { recursive: true, force: true });
    writeFileSync(note, String(nowMs), { flag: 'wx' });
  } else if (notedMs < nowMs - GRACE_DAYS * DAY_MS) removeRun(run);
}

/** Undefined for none, and for one that a power cut damaged. */
function readNote(note: string): number | undefined {
  if (!lstatSync(note, { throwIfNoEntry: false })?.isFile()) return undefined;
  const text = readFileSync(note, 'utf8');
  return /^\d{13}$/.test(text) ? Number(text) : undefined;
}

/** The command that made the run, for people. */
export function wordsOfRun({ folder }: KeptRunFolder): string {
  try {
    return v.parse(ABOUT, JSON.parse(readFileSync(join(folder, 'about.json'), 'utf8'))).words;
  } catch {
    return '';
  }
}

/** The kept files and links of a run, by their paths in the workspace. Follows no link. */
export function* filesOfRun({ files }: KeptRunFolder): Generator<string> {
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    let entries: Dirent[] = [];
    try {
      entries = readdirSync(join(files, folder), { withFileTypes: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      if (entry.isDirectory()) open.push(`${folder}${entry.name}/`);
      else yield `${folder}${entry.name}`;
    }
  }
}

function runAt(bin: string, id: string, atMs: number): KeptRunFolder {
  const folder = join(bin, id);
  return { id, atMs, folder, files: join(folder, 'files') };
}

function isFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
