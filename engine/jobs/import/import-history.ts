/**
 * Writes the states of an import as commits, parents first. A state whose commit is in the repository
 * already, from an earlier run, keeps that commit: its message has the name of the state.
 */

import type { KnownContent } from '../../index/md5-table.ts';
import { diffSorted } from '../../model/diff-sorted.ts';
import { type CommitHash, comparePaths, type Entry, type FileEntry } from '../../model/entry.ts';
import type { Manifest } from '../../repository/manifest/manifest.ts';
import type { RepositoryWriter } from '../versions/repository-writer.ts';

export interface ImportedFile extends KnownContent {
  readonly path: string;
  readonly executable: boolean;
  /** Default: the time of the state. */
  readonly mtimeNs?: bigint;
}

export interface ImportedState {
  /** The name of the state, such as a git commit. */
  readonly id: string;
  readonly parents: readonly CommitHash[];
  readonly author: string;
  readonly message: string;
  readonly timeMs: number;
  /** In order of their paths. */
  readonly files: readonly ImportedFile[];
}

/** A commit of an earlier import. */
export interface EarlierCommit {
  readonly hash: CommitHash;
  readonly parents: readonly CommitHash[];
  /** A ref whose history has it. */
  readonly ref: string;
}

export interface ImportHistory {
  earlier(id: string): EarlierCommit | undefined;
  /** The same, by the commit. */
  isEarlier(hash: CommitHash): EarlierCommit | undefined;
  entriesOf(hash: CommitHash): Promise<readonly Entry[]>;
  /** Whether the commit has exactly these files. */
  isSame(hash: CommitHash, files: readonly ImportedFile[]): Promise<boolean>;
  write(state: ImportedState): Promise<CommitHash>;
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

const NAMED_MAX = 20;

/** @param because Completes the sentence. */
export function noteOfLeftOut(leftOut: readonly string[], because: string): string | undefined {
  if (leftOut.length === 0) return undefined;
  const named = leftOut.slice(0, NAMED_MAX).map((path) => JSON.stringify(path));
  const more = leftOut.length > NAMED_MAX ? `, and ${leftOut.length - NAMED_MAX} more` : '';
  return `Left out, ${because}: ${named.join(', ')}${more}.`;
}

interface InMemory {
  readonly manifest: Manifest;
  readonly entries: readonly Entry[];
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
    return state;
  };
  const load = async (hash: CommitHash): Promise<InMemory> => {
    const found = inMemory.get(hash);
    if (found) return found;
    const commit = await repository.readCommit(hash);
    const entries: Entry[] = [];
    for await (const batch of repository.readEntries(commit)) entries.push(...batch);
    return keep(hash, { manifest: commit.manifest, entries });
  };
  return {
    earlier: (id) => byId.get(id),
    isEarlier: (hash) => byHash.get(hash),
    entriesOf: async (hash) => (await load(hash)).entries,
    async isSame(hash, files) {
      const { entries } = await load(hash);
      return entries.length === files.length && entries.every((entry, at) => isSameFile(entry, files[at]!));
    },
    async write({ author, files, id: _, message, parents, timeMs }) {
      const [first] = parents;
      const base = first === undefined ? undefined : await load(first);
      const isTime = Number.isFinite(timeMs) && Math.abs(timeMs) < 8.64e15;
      const time = new Date(isTime ? timeMs : 0);
      const mtimeNs = BigInt(time.getTime()) * 1_000_000n;
      const entries: Entry[] = [];
      const changes = [];
      for (const { left, path, right } of diffSorted(base?.entries ?? [], files, () => false)) {
        if (left && right && isSameFile(left, right)) {
          entries.push(left);
          continue;
        }
        const entry = right && toEntry(repository, right, mtimeNs);
        if (entry) entries.push(entry);
        changes.push({ path, ...(entry ? { entry } : {}) });
      }
      const { commit, hash } = await repository.writeCommit({
        base: base?.manifest,
        changes: [changes],
        parents: parents.slice(0, PARENTS_MAX),
        author: author.slice(0, AUTHOR_MAX).toWellFormed(),
        message,
        time: time.toISOString(),
      });
      keep(hash, { manifest: commit.manifest, entries });
      return hash;
    },
  };
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
  const byId = new Map<string, EarlierCommit>();
  const byHash = new Map<CommitHash, EarlierCommit>();
  const seen = new Set<CommitHash>();
  for (const ref of repository.refs) {
    const open = [ref.commit];
    for (let hash = open.pop(); hash !== undefined; hash = open.pop()) {
      if (seen.has(hash)) continue;
      seen.add(hash);
      const { message, parents } = await repository.readCommit(hash);
      open.push(...parents);
      const earlier = { hash, parents, ref: ref.name };
      byHash.set(hash, earlier);
      const id = importedStateOf(message, trailer);
      if (id !== undefined && !byId.has(id)) byId.set(id, earlier);
    }
  }
  return { byHash, byId };
}
