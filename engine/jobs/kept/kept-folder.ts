/**
 * The bin of a workspace, `.dray/kept/`: a folder for each run that overwrote local files which no commit
 * has. The files are at their paths below `files/`. A scan never enters `.dray`, so the bin is never pushed.
 *
 * A run older than `KEPT_DAYS` is removed in two steps, at least `GRACE_DAYS` apart: a sweep writes its time
 * into the run's folder, and a later sweep removes the run. The clock may jump (an empty battery, a wrong
 * year until the network sets it), so a single reading must not empty the bin. When the clock is right again,
 * the next sweep removes the noted time.
 */
import { randomUUID } from 'node:crypto';
import { type Dirent, lstatSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import { DrayError } from '../../api/error.ts';
import { errnoOf } from '../../files/write/write-error.ts';
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

/** Newest first. Entries whose names do not have the form of a run are ignored. */
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
  // Removes links, never their targets.
  rmSync(folder, { recursive: true, force: true });
}

/** Removes expired runs. A run that cannot be removed now is left to the next sweep. */
export function sweepRuns(workspace: WorkspaceFolder, nowMs: number): void {
  for (const run of listRuns(workspace)) {
    try {
      sweepRun(run, nowMs);
    } catch {
      // Such as files of another user, or a full disk.
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

/** Undefined if there is no note, or a power cut damaged it. */
function readNote(note: string): number | undefined {
  if (!lstatSync(note, { throwIfNoEntry: false })?.isFile()) return undefined;
  const text = readFileSync(note, 'utf8');
  return /^\d{13}$/.test(text) ? Number(text) : undefined;
}

/** The command that made the run, for display. Empty if it cannot be read. */
export function wordsOfRun({ folder }: KeptRunFolder): string {
  try {
    return v.parse(ABOUT, JSON.parse(readFileSync(join(folder, 'about.json'), 'utf8'))).words;
  } catch {
    return '';
  }
}

/** Yields the workspace paths of a run's files and links. Follows no link. */
export function* filesOfRun({ files }: KeptRunFolder): Generator<string> {
  const open = [''];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    let entries: Dirent[] = [];
    try {
      entries = readdirSync(join(files, folder), { withFileTypes: true });
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
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
