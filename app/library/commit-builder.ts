/** A commit from a program's own content, without a folder. */
import pLimit from 'p-limit';
import { DrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { userAuthor } from '../../engine/jobs/push/author.ts';
import type { OpenedRemote } from '../../engine/jobs/session/opened-remote.ts';
import { createVersions } from '../../engine/jobs/versions/open-versions.ts';
import type { RepositoryWriter } from '../../engine/jobs/versions/repository-writer.ts';
import { type BlobHash, type CommitHash, comparePaths, type Entry } from '../../engine/model/entry.ts';
import { checkEntryPath } from '../../engine/model/safe-path.ts';
import type { EntryChange } from '../../engine/repository/manifest/manifest.ts';
import { checkRefName } from '../../engine/repository/ref-name.ts';
import type { StoredRef } from '../../engine/repository/refs.ts';

/** Bytes, text as UTF-8, or a stream, which is read once. */
export type Content = Uint8Array | string | AsyncIterable<Uint8Array>;

/** What a file is besides its content. */
export interface FileOptions {
  /** Of a stream: needed above 64 MiB. */
  readonly sizeBytes?: number;
  /** Default: now. */
  readonly modified?: Date;
  readonly executable?: boolean;
}

/** What a commit says of itself. */
export interface CommitRecordOptions {
  readonly message?: string;
  /** Default: `DRAY_AUTHOR`, or the user and the machine. */
  readonly author?: string;
}

/** What was published. */
export interface CommitOutcome {
  /** The hash of the commit; that of the branch's last one if nothing differs. */
  readonly commit: string;
  readonly sentBytes: number;
}

/**
 * Changes for a branch. Nothing is read, sent or written before `publish`. Of two changes to one path the
 * last one counts.
 */
export interface CommitBuilder {
  /** @throws DrayError `unsafePath` */
  put(path: string, content: Content, options?: FileOptions): CommitBuilder;
  /** A file, a link, or with `/` at its end a folder and all in it. What is not there is no error. */
  delete(path: string): CommitBuilder;
  /**
   * Sends the content, writes a commit over what the branch has now, and moves the branch to it. Makes the
   * branch if there is none. What others pushed meanwhile stays. Call it once.
   * @throws DrayError `conflict` if a path would be a file and a folder, or the branch never stands still
   */
  publish(options?: CommitRecordOptions): Promise<CommitOutcome>;
}

const MIB = 1024 * 1024;
const UNSIZED_BYTES_MAX = 64 * MIB;
const PUTS_AT_ONCE = 8;

interface Put extends FileOptions {
  readonly path: string;
  readonly content: Content;
}

interface Stored {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
}

export class BranchCommit implements CommitBuilder {
  readonly #context: JobContext;
  readonly #remote: OpenedRemote;
  readonly #branch: string;
  readonly #puts = new Map<string, Put>();
  readonly #deleted = new Set<string>();
  readonly #stored = new Map<string, Stored>();
  #sentBytes = 0;

  constructor(context: JobContext, remote: OpenedRemote, branch: string) {
    checkRefName(branch);
    this.#context = context;
    this.#remote = remote;
    this.#branch = branch;
  }

  put(path: string, content: Content, options: FileOptions = {}): CommitBuilder {
    const fault = path.endsWith('/') ? 'it ends with a slash' : checkEntryPath(path);
    if (fault !== undefined)
      throw new DrayError('unsafePath', `${JSON.stringify(path)} cannot be a file: ${fault}.`, {
        data: { path },
      });
    this.#puts.set(path, { path, content, ...options });
    return this;
  }

  delete(path: string): CommitBuilder {
    for (const known of this.#puts.keys())
      if (known === path || (path.endsWith('/') && known.startsWith(path))) this.#puts.delete(known);
    this.#deleted.add(path);
    return this;
  }

  async publish({ author, message = '' }: CommitRecordOptions = {}): Promise<CommitOutcome> {
    const { signal } = this.#context;
    // Reading needs no native module; a writer has an index, which is SQLite.
    const { openRepositoryWriter } = await import('../../engine/jobs/versions/repository-writer.ts');
    await using writer = await openRepositoryWriter(this.#context, this.#remote, {
      command: 'library',
      creates: false,
    });
    await this.#store(writer);
    const record = { author: author ?? userAuthor(this.#context), message };
    const { commit } = await writer.publish(`heads/${this.#branch}`, async (tip) => {
      // After a collection, content of earlier rounds may be condemned: it is stored again.
      await this.#store(writer);
      const base = tip && (await writer.readCommit(tip.commit));
      const changes = await this.#changesOver(writer, tip, signal);
      if (tip && changes.length === 0) return tip.commit;
      const time = new Date().toISOString();
      const parents = tip ? [tip.commit] : [];
      const draft = { ...record, time, parents, base: base?.manifest, changes: [changes] };
      return (await writer.writeCommit(draft)).hash;
    });
    return { commit, sentBytes: this.#sentBytes };
  }

  /** Sends what the store does not have. */
  async #store(writer: RepositoryWriter): Promise<void> {
    const missing = [...this.#puts.values()].filter(({ path }) => {
      const stored = this.#stored.get(path);
      return !stored || (stored.sizeBytes > 0 && !writer.has(stored.hash));
    });
    if (missing.length === 0) return;
    const content = writer.openContent();
    const limit = pLimit(PUTS_AT_ONCE);
    try {
      await Promise.all(
        missing.map((put) =>
          limit(async () => {
            if (this.#stored.has(put.path) && isStream(put.content)) throw readTwice(put.path);
            const opened = await openContent(put);
            this.#stored.set(put.path, await content.put({ name: put.path, open: async () => opened }));
          }),
        ),
      );
      await content.settle();
      this.#sentBytes += content.sent().bytes;
    } finally {
      await content.close();
    }
    await writer.confirm();
  }

  async #changesOver(
    writer: RepositoryWriter,
    tip: StoredRef | undefined,
    signal: AbortSignal,
  ): Promise<readonly EntryChange[]> {
    const changes = new Map<string, Entry | undefined>();
    const version = tip && (await createVersions(this.#remote.store).open(tip.commit as CommitHash));
    const call = { signal };
    for (const path of this.#deleted) {
      if (!version) break;
      if (!path.endsWith('/')) {
        if (await version.find(path, call)) changes.set(path, undefined);
        continue;
      }
      for (let next: { startAfter?: string } = {}; ; ) {
        const page = await version.list({ prefix: path, ...next }, call);
        for (const entry of page.entries) changes.set(entry.path, undefined);
        if (page.next === undefined) break;
        next = { startAfter: page.next };
      }
    }
    const isGone = (path: string) => changes.has(path) && changes.get(path) === undefined;
    for (const put of this.#puts.values()) {
      const { path } = put;
      for (const folder of foldersAbove(path)) {
        const file = folder.slice(0, -1);
        const isFile = this.#puts.has(file) || (!isGone(file) && (await version?.find(file, call)));
        if (isFile) throw fileAndFolder(file, path);
        // An empty folder that gets content is no entry any more.
        if (await version?.find(folder, call)) changes.set(folder, undefined);
      }
      const below = await version?.list({ prefix: `${path}/`, limit: 1_000 }, call);
      const inside = below?.entries.find((entry) => !isGone(entry.path));
      if (inside && !isGone(inside.path)) throw fileAndFolder(path, inside.path);
      const before = await version?.find(path, call);
      const after = this.#entryOf(writer, put);
      if (!isSame(before, after)) changes.set(path, after);
    }
    const sorted = [...changes].sort(([left], [right]) => comparePaths(left, right));
    return sorted.map(([path, entry]) => ({ path, ...(entry && { entry }) }));
  }

  #entryOf(writer: RepositoryWriter, { executable = false, modified, path }: Put): Entry {
    const { hash, sizeBytes } = this.#stored.get(path)!;
    const mtimeNs = BigInt((modified ?? new Date()).getTime()) * 1_000_000n;
    const location = writer.locate(hash, sizeBytes);
    return { kind: 'file', path, sizeBytes, mtimeNs, executable, blob: hash, location };
  }
}

function isStream(content: Content): content is AsyncIterable<Uint8Array> {
  return typeof content !== 'string' && !(content instanceof Uint8Array);
}

async function openContent({ content, path, sizeBytes }: Put) {
  if (!isStream(content)) {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    return { sizeBytes: bytes.length, body: inOnePiece(bytes) };
  }
  if (sizeBytes !== undefined) return { sizeBytes, body: content };
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of content) {
    pieces.push(piece);
    length += piece.length;
    if (length > UNSIZED_BYTES_MAX)
      throw new DrayError('usage', `The stream for ${path} has more than 64 MiB. Say its size: sizeBytes.`, {
        data: { path },
      });
  }
  return { sizeBytes: length, body: inOnePiece(Buffer.concat(pieces)) };
}

async function* inOnePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  if (bytes.length > 0) yield bytes;
}

function* foldersAbove(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at >= 0; at = path.indexOf('/', at + 1)) yield path.slice(0, at + 1);
}

function isSame(before: Entry | undefined, after: Entry): boolean {
  return (
    before?.kind === 'file' &&
    after.kind === 'file' &&
    before.blob === after.blob &&
    before.executable === after.executable
  );
}

function fileAndFolder(file: string, inside: string): DrayError {
  return new DrayError('conflict', `${file} would be a file, and a folder with ${inside} in it.`, {
    data: { path: file, paths: [file, inside] },
    advice: 'Delete one of them in the same commit.',
  });
}

function readTwice(path: string): DrayError {
  const message = `A collection of garbage began while ${path} was stored, and its stream can be read only once.`;
  return new DrayError('conflict', message, {
    retry: 'retry',
    data: { path },
    advice: 'Make the commit again.',
  });
}
