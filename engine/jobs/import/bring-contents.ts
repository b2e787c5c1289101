/** Brings contents into a repository, each once: what this machine has sent before is not read again. */
import { Budget } from '../../base/budget.ts';
import type { KnownContent, Md5Table } from '../../index/md5-table.ts';
import type { RepositoryWriter } from '../versions/repository-writer.ts';
import type { ImportProblem } from './import-problem.ts';

const FILES_AT_ONCE = 16;

export interface BringOptions<File> {
  readonly repository: RepositoryWriter;
  /** By the names of contents. */
  readonly known: Md5Table;
  readonly signal: AbortSignal;
  /** Called once for each content that was read, or kept since it was known. */
  readonly onFile: (sizeBytes: number, isKept: boolean) => void;
  /** Names the content: the same name, the same bytes. */
  idOf(file: File): string;
  /** Reads, checks and stores the content of a file. */
  bring(file: File): Promise<KnownContent>;
  /** @throws an error that does not concern this one file */
  problemOf(file: File, error: unknown): ImportProblem;
}

export interface Contents<File> {
  /** Brings the contents of all files. What cannot be brought is a problem of each file that has it. */
  bring(files: Iterable<File>): Promise<readonly ImportProblem[]>;
  /** Undefined: it could not be brought. */
  find(file: File): KnownContent | undefined;
}

export function createContents<File>(options: BringOptions<File>): Contents<File> {
  const { idOf, known, onFile, problemOf, repository, signal } = options;
  /** Brought by this run, perhaps in a pack that is not sent yet. */
  const brought = new Set<string>();
  const failed = new Map<string, unknown>();
  const inFlight = new Budget(FILES_AT_ONCE);
  const isThere = (id: string) => {
    const content = known.find(id);
    return content !== undefined && (content.sizeBytes === 0 || repository.has(content.hash));
  };
  const bringOne = async (id: string, file: File) => {
    try {
      const content = await options.bring(file);
      known.add(id, content);
      brought.add(id);
      onFile(content.sizeBytes, false);
    } catch (error) {
      problemOf(file, error);
      failed.set(id, error);
    }
  };
  return {
    find: (file) => {
      const id = idOf(file);
      return failed.has(id) ? undefined : known.find(id);
    },
    async bring(files) {
      const work = new Map<string, Promise<void>>();
      const asked: File[] = [];
      let failure: { readonly error: unknown } | undefined;
      for (const file of files) {
        const id = idOf(file);
        asked.push(file);
        if (brought.has(id) || failed.has(id) || work.has(id)) continue;
        if (isThere(id)) {
          brought.add(id);
          onFile(known.find(id)!.sizeBytes, true);
          continue;
        }
        const permit = await inFlight.acquire(1, signal);
        const task = bringOne(id, file)
          .catch((error) => {
            failure ??= { error };
          })
          .finally(() => permit.release());
        work.set(id, task);
        if (failure) break;
      }
      await Promise.all(work.values());
      if (failure) throw failure.error;
      return asked.flatMap((file) => {
        const id = idOf(file);
        return failed.has(id) ? [problemOf(file, failed.get(id))] : [];
      });
    },
  };
}
