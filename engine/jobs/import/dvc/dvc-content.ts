/**
 * Brings the content of a DVC project into a repository, each MD5 once: read from where DVC keeps it, checked
 * against its MD5, hashed with SHA-256 and sent on, without a copy on the disk.
 */
import { DrayError } from '../../../api/error.ts';
import type { KnownContent, Md5Table } from '../../../index/md5-table.ts';
import type { ContentSource, ContentStream, ContentWriter } from '../../versions/content-writer.ts';
import type { RepositoryWriter } from '../../versions/repository-writer.ts';
import { type Contents, createContents } from '../bring-contents.ts';
import { problemOf } from '../import-problem.ts';
import { candidatesOf, type DvcCandidate, type DvcFile, missing } from './dvc-files.ts';
import { md5CheckedBody } from './dvc-md5.ts';
import type { DvcPlaces } from './dvc-places.ts';

export interface DvcContentOptions {
  readonly places: DvcPlaces;
  readonly repository: RepositoryWriter;
  readonly content: ContentWriter;
  readonly known: Md5Table;
  readonly signal: AbortSignal;
  readonly onFile: (sizeBytes: number, isKept: boolean) => void;
}

export function createDvcContent(options: DvcContentOptions): Contents<DvcFile> {
  const { content: writer, known, onFile, repository, signal } = options;
  return createContents({
    repository,
    writer,
    known,
    signal,
    onFile,
    idOf,
    attemptOf: (file) => `${idOf(file)} ${file.cloud?.remote ?? file.output.remote ?? ''}`,
    bring: (file) => bring(options, file),
    problemOf: ({ path }, error) => problemOf(path, error),
    sameProblem: ({ output, path }, problem) =>
      problem.reason === 'dvcMissing'
        ? problemOf(path, missing(options.places, path, output))
        : { ...problem, path },
  });
}

function idOf({ cloud, hashKind, md5 }: DvcFile): string {
  if (md5 !== undefined) return `${hashKind}:${md5}`;
  return `cloud:${JSON.stringify([cloud?.remote, cloud?.path, cloud?.versionId, cloud?.etag])}`;
}

async function bring(options: DvcContentOptions, file: DvcFile): Promise<KnownContent> {
  let damaged: unknown;
  for await (const candidate of candidatesOf(options.places, file)) {
    try {
      return await options.content.put(sourceOf(options, candidate, file));
    } catch (error) {
      const reason = error instanceof DrayError ? error.data.reason : undefined;
      if (reason === 'otherMd5') damaged = error;
      else if (reason !== 'dvcMissing') throw error;
    }
  }
  // At a remote with cloud versioning, other content is another version of the file.
  if (damaged !== undefined && !file.cloud) throw damaged;
  throw file.cloud ? otherVersion(file) : missing(options.places, file.path, file.output);
}

function sourceOf(options: DvcContentOptions, candidate: DvcCandidate, file: DvcFile): ContentSource {
  const { signal } = options;
  const { key, place, versionId } = candidate;
  const name = `${key}${versionId === undefined ? '' : ` (version ${versionId})`} at ${place.address}`;
  return {
    name,
    async open(): Promise<ContentStream> {
      const read = await readCandidate(candidate, signal);
      if (!read) throw missing(options.places, file.path, file.output);
      const { hashKind: kind, md5 } = file;
      if (md5 !== undefined)
        return { sizeBytes: read.sizeBytes, body: md5CheckedBody(read.body, { kind, md5, name }) };
      // Without an MD5 only the etag and the version say that this is what was recorded.
      const etag = file.cloud?.etag?.replaceAll('"', '') ?? '';
      if (etag === '' ? versionId !== undefined : read.etag === etag) return read;
      read.body.destroy();
      throw missing(options.places, file.path, file.output);
    },
  };
}

async function readCandidate({ key, place, versionId }: DvcCandidate, signal: AbortSignal) {
  const { limit, store } = place.opened;
  const version = versionId === undefined ? {} : { versionId };
  try {
    const get = () => store.get(key, { ...version, isResumed: true, signal });
    return await limit.run(get, { bytes: 0, signal });
  } catch (error) {
    // S3 answers so to an id that is none of its own, as of a bucket that was copied, or that of a deletion.
    const isNoVersion = error instanceof DrayError && NO_VERSION.has(error.data.remoteCode);
    if (versionId !== undefined && isNoVersion) return undefined;
    throw error;
  }
}

const NO_VERSION: ReadonlySet<unknown> = new Set(['InvalidArgument', 'MethodNotAllowed', 'NoSuchVersion']);

function otherVersion({ cloud, path }: DvcFile): DrayError {
  const version = cloud?.versionId === undefined ? '' : ` ${cloud.versionId}`;
  return new DrayError(
    'notFound',
    `The DVC remote does not have the version${version} of ${path} any more.`,
    {
      data: { path, reason: 'dvcVersion' },
      advice: 'Run "dvc fetch" for that revision where a cache has it, and add "--remote .dvc/cache".',
    },
  );
}
