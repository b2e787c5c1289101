/** Uses the built library as a program would, in any process that has Node. For `library.test.ts`. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Dray from '../../app/library/dray.ts';
import type { PullSummary } from '../../engine/api/jobs/jobs.ts';

export interface LibraryTask {
  /** The URL of the built library. */
  readonly library: string;
  /** Made by `prepareLibraryTask`. The answer is written into it. */
  readonly folder: string;
  /** Of repositories in other stores, whose settings are in the environment. */
  readonly remoteUrls: readonly string[];
}

/** What a program that used all of the library saw, or the stack of its error. */
export type LibraryAnswer = Readonly<Record<string, unknown>> | { readonly error: string };

export const ANSWER = 'answer.json';

/** Never fails: the answer says what happened. */
export async function runLibraryTask(task: LibraryTask): Promise<void> {
  const answer = await doAll(task).catch((error: unknown) => ({
    error: error instanceof Error ? (error.stack ?? error.message) : String(error),
  }));
  await writeFile(join(task.folder, ANSWER), JSON.stringify(answer));
}

async function doAll({ library, folder, remoteUrls }: LibraryTask): Promise<LibraryAnswer> {
  const { copy, openRepository, openWorkspace }: typeof Dray = await import(library);
  const at = (name: string) => join(folder, name);
  const url = pathToFileURL(at('store')).href;
  const repository = await openRepository(url);
  const found: Record<string, unknown> = {};
  found.refs = (await repository.refs()).map(({ kind, name }) => `${kind} ${name}`);
  const all = { recursive: true };
  found.listed = (await gather(repository.list('v1', all))).map(({ path, sizeBytes }) => [path, sizeBytes]);
  found.large = await hashOf(repository.read('v1', 'large'));
  found.range = String(Buffer.concat(await gather(repository.read('v1', 'a.txt', { start: 1, end: 3 }))));
  found.diff = (await gather(repository.diff('v1', 'main'))).map(({ kind, path }) => `${kind} ${path}`);

  const { commit } = await repository.commit('main').put('notes', 'checked').publish({ message: 'notes' });
  found.published = (await repository.show('main')).hash === commit;

  const workspace = openWorkspace(at('work'));
  found.pulled = totalsOf(await workspace.pull());
  found.pushed = totalsOf(await workspace.push({ message: 'from the workspace' }));
  found.after = (await gather(repository.list('main', all))).map(({ path }) => path);
  found.archive = await hashOf(repository.read('main', 'program.asar'));
  await repository.close();

  const { failed, files } = await copy(`${url}?ref=main`, at('copy'));
  found.copied = { failed, files };

  const remotes: string[] = [];
  for (const url of remoteUrls) {
    const remote = await openRepository(url);
    remotes.push(String(Buffer.concat(await gather(remote.read('main', '007')))));
    await remote.close();
  }
  found.remotes = remotes;
  return found;
}

function totalsOf({ changes }: Pick<PullSummary, 'changes'>): readonly number[] {
  return [changes.added, changes.modified, changes.deleted];
}

async function gather<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

async function hashOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of bytes) hash.update(chunk);
  return hash.digest('hex');
}
