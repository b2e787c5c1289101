/**
 * Writes the states of an import as commits, parents first. A state whose commit is in the repository
 * already, from an earlier run, keeps that commit: its message has the name of the state.
 */

import type { KnownContent } from '../../index/md5-table.ts';
import { diffSorted } from '../../model/diff-sorted.ts';
import { type CommitHash, comparePaths, type Entry, type FileEntry } from '../../model/entry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { RepositoryWriter } from '../versions/repository-writer.ts';
import { type LeftOutFiles, leftOutOf } from './left-out.ts';

export interface ImportedFile extends KnownContent {
  readonly path: string;
  readonly executable: boolean;
  /** Default: the time of the state. */
  readonly mtimeNs?: bigint;
}

export interface ImportedState {
  readonly parents: readonly CommitHash[];
  readonly author: string;
  readonly message: string;
  readonly timeMs: number;
}

/** From the first parent to a state. Without `file`: the path is removed. */
export interface ImportedChange {
  readonly path: string;
  readonly file?: ImportedFile | undefined;
}

/** A commit of an earlier import. */
export interface EarlierCommit {
  readonly hash: CommitHash;
  readonly parents: readonly CommitHash[];
  /** A ref whose history has it. */
  readonly ref: string;
  readonly leftOut?: LeftOutFiles | undefined;
}

export interface ImportHistory {
  /** All of a state: one that was imported alone, and one that was imported with its history. */
  earlier(id: string): readonly EarlierCommit[];
  /** The same, by the commit. */
  isEarlier(hash: CommitHash): EarlierCommit | undefined;
  entriesOf(hash: CommitHash): Promise<readonly Entry[]>;
  /** Whether the commit has exactly these files. */
  isSame(hash: CommitHash, files: readonly ImportedFile[]): Promise<boolean>;
  /** @param files All, in order of their paths. */
  write(state: ImportedState, files: readonly ImportedFile[]): Promise<CommitHash>;
  /** The same, at a cost proportional to the changes. @param changes In order of their paths. */
  writeChanges(state: ImportedState, changes: readonly ImportedChange[]): Promise<CommitHash>;
}

const MESSAGE_MAX = 60_000;
const AUTHOR_MAX = 1_000;
/** Of a commit. */
export const PARENTS_MAX = 16;
const COMMITS_IN_MEMORY = 4;

/** Begins the last line of a message, which names the state. */
export type StateTrailer = 'DVC-Revision' | 'S3-Versions';

/** Whether an import made the commit with this message, and of which state. */
export function importedStateOf(message: string, trailer: StateTrailer): string | undefined {
  const last = message.slice(message.lastIndexOf('\n') + 1);
  return last.startsWith(`${trailer}: `) ? last.slice(trailer.length + 2) : undefined;
}

export interface ImportMessage {
  readonly text: string;
  readonly trailer: StateTrailer;
  readonly id: string;
  /** A paragraph of its own, such as one about files that were left out. */
  readonly note?: string | undefined;
}

export function importMessage({ id, note, text, trailer }: ImportMessage): string {
  const body = text.slice(0, MESSAGE_MAX).toWellFormed();
  return [body, note, `${trailer}: ${id}`].filter(Boolean).join('\n\n');
}

interface InMemory {
  readonly manifest: Manifest;
  /** Absent: not read, because only changes were written. */
  readonly entries?: readonly Entry[];
}

export async function openImportHistory(
  repository: RepositoryWriter,
  trailer: StateTrailer,
): Promise<ImportHistory> {
  const { byHash, byId } = await findEarlier(repository, trailer);
  const inMemory = new Map<CommitHash, InMemory>();
  const keep = (hash: CommitHash, state: InMemory) => {
    inMemory.delete(hash);
    inMemory.set(hash, state);
    for (const oldest of inMemory.keys()) if (inMemory.size > COMMITS_IN_MEMORY) inMemory.delete(oldest);
  };
  const manifestOf = async (hash: CommitHash) =>
    inMemory.get(hash)?.manifest ?? (await repository.readCommit(hash)).manifest;
  const entriesOf = async (hash: CommitHash) => {
    const found = inMemory.get(hash)?.entries;
    if (found) return found;
    const commit = await repository.readCommit(hash);
    const entries: Entry[] = [];
    for await (const batch of repository.readEntries(commit)) entries.push(...batch);
    keep(hash, { manifest: commit.manifest, entries });
    return entries;
  };
  const store = async (
    { author, message, parents, timeMs }: ImportedState,
    changes: readonly ImportedChange[],
  ) => {
    const [first] = parents;
    const time = timeOf(timeMs);
    const mtimeNs = BigInt(time.getTime()) * 1_000_000n;
    const entries = changes.map(({ file, path }) => ({
      path,
      ...(file ? { entry: toEntry(repository, file, mtimeNs) } : {}),
    }));
    const { commit, hash } = await repository.writeCommit({
      base: first === undefined ? undefined : await manifestOf(first),
      changes: [entries],
      parents: parents.slice(0, PARENTS_MAX),
      author: author.slice(0, AUTHOR_MAX).toWellFormed(),
      message,
      time: time.toISOString(),
    });
    return { entries, hash, manifest: commit.manifest };
  };
  return {
    earlier: (id) => byId.get(id) ?? [],
    isEarlier: (hash) => byHash.get(hash),
    entriesOf,
    async isSame(hash, files) {
      const entries = await entriesOf(hash);
      return entries.length === files.length && entries.every((entry, at) => isSameFile(entry, files[at]!));
    },
    async write(state, files) {
      const [first] = state.parents;
      const base = first === undefined ? [] : await entriesOf(first);
      const changes: ImportedChange[] = [...diffSorted(base, files, isSameFile)].map(({ path, right }) => ({
        path,
        file: right,
      }));
      const { entries, hash, manifest } = await store(state, changes);
      const merged = [...diffSorted(base, entries, () => false)].flatMap(({ left, right }) =>
        right ? (right.entry ?? []) : left!,
      );
      keep(hash, { manifest, entries: merged });
      return hash;
    },
    async writeChanges(state, changes) {
      const { hash, manifest } = await store(state, changes);
      keep(hash, { manifest });
      return hash;
    },
  };
}

/** Git's dates may be any number. */
function timeOf(timeMs: number): Date {
  const isTime = Number.isFinite(timeMs) && Math.abs(timeMs) < 8.64e15;
  return new Date(isTime ? timeMs : 0);
}

function toEntry(
  repository: RepositoryWriter,
  { executable, hash, mtimeNs, path, sizeBytes }: ImportedFile,
  stateNs: bigint,
): FileEntry {
  const location = repository.locate(hash, sizeBytes);
  return { kind: 'file', path, sizeBytes, mtimeNs: mtimeNs ?? stateNs, executable, blob: hash, location };
}

function isSameFile(entry: Entry, { executable, hash, path }: ImportedFile): boolean {
  if (entry.kind !== 'file' || comparePaths(entry.path, path) !== 0) return false;
  return entry.blob === hash && entry.executable === executable;
}

/** One request for each commit of the repository. */
async function findEarlier(repository: RepositoryWriter, trailer: StateTrailer) {
  const byId = new Map<string, EarlierCommit[]>();
  const byHash = new Map<CommitHash, EarlierCommit>();
  const seen = new Set<CommitHash>();
  for (const ref of repository.refs) {
    const open = [ref.commit];
    for (let hash = open.pop(); hash !== undefined; hash = open.pop()) {
      if (seen.has(hash)) continue;
      seen.add(hash);
      const { message, parents } = await repository.readCommit(hash);
      open.push(...parents);
      const id = importedStateOf(message, trailer);
      const leftOut = id === undefined ? undefined : leftOutOf(message);
      const earlier = { hash, parents, ref: ref.name, leftOut };
      byHash.set(hash, earlier);
      if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), earlier]);
    }
  }
  return { byHash, byId };
}
