/**
 * The passes of an import over its contents. Usually one; another for each collection of garbage that begins
 * before the refs move, in which only what it has condemned is sent again.
 */
import type { ImportSummary } from '../../api/jobs/imports.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { systemClock } from '../../base/clock.ts';
import type { OpenedRemote } from '../session/opened-remote.ts';
import { createProgress } from '../session/progress.ts';
import { addTotals, createTraffic } from '../session/traffic.ts';
import type { ContentWriter } from '../versions/content-writer.ts';
import type { RepositoryWriter } from '../versions/repository-writer.ts';

export interface ImportPass {
  readonly writer: ContentWriter;
  readonly onFile: (sizeBytes: number, isKept: boolean) => void;
}

type Sums = Pick<ImportSummary, 'readFiles' | 'readBytes' | 'uploadedObjects' | 'uploadedBytes' | 'requests'>;

export class ImportPasses {
  readonly #context: JobContext;
  readonly #repository: RepositoryWriter;
  readonly #remotes: () => readonly OpenedRemote[];
  #storedIn = -1;
  #readFiles = 0;
  #readBytes = 0;
  #sent = { objects: 0, bytes: 0 };

  /** @param remotes The repository's, and those that are read. */
  constructor(context: JobContext, repository: RepositoryWriter, remotes: () => readonly OpenedRemote[]) {
    this.#context = context;
    this.#repository = repository;
    this.#remotes = remotes;
  }

  /** Whether a collection has begun since the last pass. */
  isOutdated(): boolean {
    return this.#repository.round() !== this.#storedIn;
  }

  /** Runs `work`, which stores contents, and makes sure that the store has them. */
  async store(work: (pass: ImportPass) => Promise<void>): Promise<void> {
    this.#storedIn = this.#repository.round();
    const writer = this.#repository.openContent();
    const remotes = this.#remotes();
    const traffic = createTraffic(
      remotes.map(({ meter }) => meter),
      remotes.map(({ limit }) => limit),
    );
    const progress = createProgress(
      { context: this.#context, clock: systemClock },
      { phase: 'upload', traffic },
    );
    const onFile = (sizeBytes: number, isKept: boolean) => {
      if (isKept) return progress.keep(1, sizeBytes);
      this.#readFiles += 1;
      this.#readBytes += sizeBytes;
      progress.add(1, sizeBytes);
    };
    try {
      await work({ writer, onFile });
      await writer.settle();
    } finally {
      const { bytes, objects } = writer.sent();
      this.#sent = { objects: this.#sent.objects + objects, bytes: this.#sent.bytes + bytes };
      await writer.close();
      progress.end();
    }
    await this.#repository.confirm();
  }

  sums(): Sums {
    return {
      readFiles: this.#readFiles,
      readBytes: this.#readBytes,
      uploadedObjects: this.#sent.objects,
      uploadedBytes: this.#sent.bytes,
      requests: addTotals(this.#remotes().map(({ meter }) => meter)),
    };
  }
}
