/**
 * Brings contents into a repository, each once: what this machine has sent before is not read again.
 *
 * Memory: the last contents and the names of those that failed. Of all others the table of known contents and
 * the index of what is stored say that they are there, and the writer what it has not sent yet.
 */
import { LRUCache } from 'lru-cache';
import { Budget } from '../../base/budget.ts';
import type { KnownContent, Md5Table } from '../../index/md5-table.ts';
import type { ContentWriter } from '../versions/content-writer.ts';
import type { RepositoryWriter } from '../versions/repository-writer.ts';
import type { ImportProblem } from './import-problem.ts';

const FILES_AT_ONCE = 16;
/** 90 MB with the longest usual names. */
const RECENT_MAX = 200_000;

export interface BringOptions<File> {
  readonly repository: Pick<RepositoryWriter, 'has'>;
  readonly writer: Pick<ContentWriter, 'holds'>;
  /** By the names of contents. */
  readonly known: Pick<Md5Table, 'add' | 'find'>;
  readonly signal: AbortSignal;
  /** Called for each content that was read, and now and then for one that is kept since it was known. */
  readonly onFile: (sizeBytes: number, isKept: boolean) => void;
  /** Names the content: the same name, the same bytes. */
  idOf(file: File): string;
  /** Names the content and where it is looked for: what failed once is not tried there again. */
  attemptOf(file: File): string;
  /** Reads, checks and stores the content of a file. */
  bring(file: File): Promise<KnownContent>;
  /** @throws an error that does not concern this one file */
  problemOf(file: File, error: unknown): ImportProblem;
  /** The problem of a file with the same content as another one that failed. */
  sameProblem(file: File, problem: ImportProblem): ImportProblem;
}

export interface Contents<File> {
  /** Brings the contents of all files. What cannot be brought is a problem of each file that has it. */
  bring(files: readonly File[]): Promise<readonly ImportProblem[]>;
  /** Undefined: it could not be brought. */
  find(file: File): KnownContent | undefined;
}

export function createContents<File>(options: BringOptions<File>): Contents<File> {
  const { attemptOf, idOf, known, onFile, problemOf, repository, sameProblem, signal, writer } = options;
  /** By the names of contents: those that were added or asked for last. */
  const recent = new LRUCache<string, KnownContent>({ max: RECENT_MAX });
  const failed = new Map<string, ImportProblem>();
  const inFlight = new Budget(FILES_AT_ONCE);
  /** The content, if it is stored or will be with a pack that is not sent yet. */
  const findStored = (id: string) => {
    const content = known.find(id);
    if (!content) return undefined;
    const { hash, sizeBytes } = content;
    return sizeBytes === 0 || repository.has(hash) || writer.holds(hash) ? content : undefined;
  };
  const bringOne = async (id: string, attempt: string, file: File) => {
    try {
      const content = await options.bring(file);
      known.add(id, content);
      recent.set(id, content);
      onFile(content.sizeBytes, false);
    } catch (error) {
      failed.set(attempt, problemOf(file, error));
    }
  };
  return {
    find: (file) => {
      const id = idOf(file);
      return recent.get(id) ?? findStored(id);
    },
    async bring(files) {
      /** By their attempts. */
      const work = new Map<string, Promise<void>>();
      let failure: { readonly error: unknown } | undefined;
      for (const file of files) {
        const id = idOf(file);
        const attempt = attemptOf(file);
        if (recent.get(id) || failed.has(attempt) || work.has(attempt)) continue;
        const stored = findStored(id);
        if (stored) {
          recent.set(id, stored);
          onFile(stored.sizeBytes, true);
          continue;
        }
        const permit = await inFlight.acquire(1, signal);
        const task = bringOne(id, attempt, file)
          .catch((error) => {
            failure ??= { error };
          })
          .finally(() => {
            work.delete(attempt);
            permit.release();
          });
        work.set(attempt, task);
        if (failure) break;
      }
      await Promise.all(work.values());
      if (failure) throw failure.error;
      if (failed.size === 0) return [];
      return files.flatMap((file) => {
        const problem = failed.get(attemptOf(file));
        return problem && !findStored(idOf(file)) ? [sameProblem(file, problem)] : [];
      });
    },
  };
}
