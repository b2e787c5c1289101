/** A commit from a program's own content, without a folder. */
import pLimit from 'p-limit';
import { DrayError } from '../../engine/api/error.ts';
import type { JobContext } from '../../engine/api/jobs/jobs.ts';
import { checkAborted } from '../../engine/base/abort.ts';
import { systemClock } from '../../engine/base/clock.ts';
import { TaskSet } from '../../engine/base/task-set.ts';
import { userAuthor } from '../../engine/jobs/push/author.ts';
import type { OpenedRemote } from '../../engine/jobs/session/opened-remote.ts';
import { createProgress, type Progress } from '../../engine/jobs/session/progress.ts';
import { createTraffic } from '../../engine/jobs/session/traffic.ts';
import type { ContentWriter } from '../../engine/jobs/versions/content-writer.ts';
import { createVersions } from '../../engine/jobs/versions/open-versions.ts';
import type { RepositoryWriter } from '../../engine/jobs/versions/repository-writer.ts';
import type { BlobHash, Entry } from '../../engine/model/entry.ts';
import { checkRefName } from '../../engine/repository/ref-name.ts';
import { changesOver } from './commit-changes.ts';
import { type Content, type FileOptions, GivenFile } from './given-file.ts';
import { checkText, type StopOptions } from './library-context.ts';

/** What a commit says of itself, and what stops it. */
export interface CommitRecordOptions extends StopOptions {
  /** Default: empty. */
  readonly message?: string;
  /** Default: `DRAY_AUTHOR`, or the user and the machine. */
  readonly author?: string;
}

/** What was published. */
export interface CommitOutcome {
  /** The hash of the commit; that of the branch's last one if nothing differs. */
  readonly commit: string;
  /** The content that was sent, in bytes as they are stored: compressed, and without what was there. */
  readonly sentBytes: number;
}

/**
 * Changes for a branch. No stream is read and nothing is sent before `publish`. Of two changes to one path
 * the last one counts.
 */
export interface CommitBuilder {
  /**
   * A file with this content, new or instead of the one at the path. Folders need not be made.
   * @throws DrayError `unsafePath`, and `usage` if an argument is not what its type says
   */
  put(path: string, content: Content, options?: FileOptions): CommitBuilder;
  /** A file, a link, or with `/` at its end a folder and all in it. What is not there is no error. */
  delete(path: string): CommitBuilder;
  /**
   * Sends the content, writes a commit over what the branch has now, and moves the branch to it. Makes the
   * branch if there is none. What others pushed meanwhile stays. If it fails or is stopped, the branch does
   * not move, and all streams are stopped; content that was sent stays until garbage is collected.
   *
   * Sends progress. Several of one machine to one repository take turns: the later ones wait. A builder can
   * be published once.
   * @throws DrayError `conflict` if a path would be a file and a folder, or the branch never stands still;
   * `io` if a stream fails, with its error as the cause; `damaged` if the content has another size than was
   * said; `aborted`, `usage`, and those of the stores
   */
  publish(options?: CommitRecordOptions): Promise<CommitOutcome>;
}

const PUTS_AT_ONCE = 8;

interface Stored {
  readonly hash: BlobHash;
  readonly sizeBytes: number;
}

export class BranchCommit implements CommitBuilder {
  readonly #context: JobContext;
  readonly #openRemote: () => OpenedRemote;
  readonly #branch: string;
  readonly #files = new Map<string, GivenFile>();
  readonly #deleted = new Set<string>();
  readonly #stored = new Map<string, Stored>();
  #isPublished = false;
  #sentBytes = 0;

  /** @param openRemote Throws if the repository is closed. */
  constructor(context: JobContext, openRemote: () => OpenedRemote, branch: string) {
    checkText(branch, 'A branch');
    checkRefName(branch);
    this.#context = context;
    this.#openRemote = openRemote;
    this.#branch = branch;
  }

  put(path: string, content: Content, options: FileOptions = {}): CommitBuilder {
    this.#checkOpen();
    const file = new GivenFile(path, content, options);
    this.#drop(path);
    this.#files.set(path, file);
    return this;
  }

  delete(path: string): CommitBuilder {
    checkText(path, 'A path');
    this.#checkOpen();
    for (const known of this.#files.keys())
      if (known === path || (path.endsWith('/') && known.startsWith(path))) this.#drop(known);
    this.#deleted.add(path);
    return this;
  }

  async publish({ author, message = '', signal }: CommitRecordOptions = {}): Promise<CommitOutcome> {
    this.#checkOpen();
    this.#isPublished = true;
    const outer = this.#context.signal;
    const context = { ...this.#context, signal: signal ? AbortSignal.any([outer, signal]) : outer };
    try {
      const remote = this.#openRemote();
      // Reading needs no native module; a writer has an index, which is SQLite.
      const { openRepositoryWriter } = await import('../../engine/jobs/versions/repository-writer.ts');
      const patience = { patienceMs: Number.POSITIVE_INFINITY };
      const options = { command: 'library', creates: false, ...patience };
      await using writer = await openRepositoryWriter(context, remote, options);
      await this.#store(context, remote, writer);
      const record = { author: author ?? userAuthor(context), message };
      const commit = await this.#move(context, remote, writer, record);
      return { commit, sentBytes: this.#sentBytes };
    } finally {
      for (const file of this.#files.values()) file.discard();
    }
  }

  async #move(
    context: JobContext,
    remote: OpenedRemote,
    writer: RepositoryWriter,
    record: { readonly author: string; readonly message: string },
  ): Promise<string> {
    const { signal } = context;
    const versions = createVersions(remote.store);
    const { commit } = await writer.publish(`heads/${this.#branch}`, async (tip) => {
      // After a collection, content of earlier rounds may be condemned: it is stored again.
      await this.#store(context, remote, writer);
      context.emit({ type: 'phase', phase: 'commit' });
      const version = tip && (await versions.open(tip.commit, { signal }));
      const files = new Map(
        [...this.#files.values()].map((file) => [file.path, this.#entryOf(writer, file)]),
      );
      const changes = await changesOver({ version, deleted: this.#deleted, files }, { signal });
      if (tip && changes.length === 0) return tip.commit;
      const time = new Date().toISOString();
      const parents = tip ? [tip.commit] : [];
      const draft = { ...record, time, parents, base: version?.commit.manifest, changes: [changes] };
      return (await writer.writeCommit(draft)).hash;
    });
    return commit;
  }

  /** Sends what the store does not have. A failure stops the others: all have ended when it throws. */
  async #store(context: JobContext, remote: OpenedRemote, writer: RepositoryWriter): Promise<void> {
    const missing = [...this.#files.values()].filter(({ path }) => {
      const stored = this.#stored.get(path);
      return !stored || (stored.sizeBytes > 0 && !writer.has(stored.hash));
    });
    if (missing.length === 0) return;
    const gone = missing.find((file) => file.isGone);
    if (gone) throw readTwice(gone.path);
    const traffic = createTraffic([remote.meter], [remote.limit]);
    const totals = () => ({ filesTotal: missing.length });
    const progress = createProgress({ context, clock: systemClock }, { phase: 'upload', totals, traffic });
    const tasks = new TaskSet(context.signal);
    const content = writer.openContent(tasks.signal);
    const limit = pLimit(PUTS_AT_ONCE);
    try {
      for (const file of missing)
        tasks.spawn(() => limit(() => this.#storeOne(file, content, { progress, signal: tasks.signal })));
      await tasks.settle();
      await content.settle();
      this.#sentBytes += content.sent().bytes;
    } finally {
      await content.close();
      tasks.end();
      progress.end();
    }
    await writer.confirm();
  }

  async #storeOne(
    file: GivenFile,
    content: ContentWriter,
    { progress, signal }: { readonly progress: Progress; readonly signal: AbortSignal },
  ): Promise<void> {
    const { path } = file;
    checkAborted(signal);
    const open = async () => {
      const { body, sizeBytes } = file.open(signal);
      if (sizeBytes !== undefined) progress.begin({ path, sizeBytes });
      return { sizeBytes, body: counted(body, (bytes) => progress.add(0, bytes, path)) };
    };
    this.#stored.set(path, await content.put({ name: path, open }));
    progress.finish(path);
    progress.add(1, 0);
  }

  #entryOf(writer: RepositoryWriter, { executable, modified, path }: GivenFile): Entry {
    const { hash, sizeBytes } = this.#stored.get(path)!;
    const mtimeNs = BigInt(modified.getTime()) * 1_000_000n;
    const location = writer.locate(hash, sizeBytes);
    return { kind: 'file', path, sizeBytes, mtimeNs, executable, blob: hash, location };
  }

  #drop(path: string): void {
    this.#files.get(path)?.discard();
    this.#files.delete(path);
  }

  #checkOpen(): void {
    if (this.#isPublished)
      throw new DrayError('usage', 'This commit was published before. Begin another one.');
  }
}

async function* counted(
  body: AsyncIterable<Uint8Array>,
  add: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    add(piece.length);
    yield piece;
  }
}

function readTwice(path: string): DrayError {
  const message = `A collection of garbage began while ${path} was stored, and its stream can be read only once.`;
  return new DrayError('conflict', message, {
    retry: 'retry',
    data: { path },
    advice: 'Make the commit again, or give a function that opens the stream.',
  });
}
