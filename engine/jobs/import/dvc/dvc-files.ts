/** The files of a project's outputs: folders are lists of their own (`.dir` objects). */
import * as v from 'valibot';
import { DrayError } from '../../../api/error.ts';
import { comparePaths } from '../../../model/entry.ts';
import { checkEntryPath } from '../../../model/safe-path.ts';
import { type ImportProblem, problemOf } from '../import-problem.ts';
import { createDvcDigest, otherContent } from './dvc-md5.ts';
import type { DvcCloudFile, DvcHashKind, DvcOutput } from './dvc-outputs.ts';
import { type DvcPlace, type DvcPlaces, keysOfMd5 } from './dvc-places.ts';

export interface DvcFile {
  /** From the root of the project. */
  readonly path: string;
  readonly executable: boolean;
  readonly hashKind: DvcHashKind;
  /** Absent: only the cloud's own version says what the content is. */
  readonly md5?: string;
  readonly output: DvcOutput;
  readonly cloud?: DvcCloudFile;
}

export interface DvcState {
  /** In order of their paths. */
  readonly files: readonly DvcFile[];
  readonly problems: readonly ImportProblem[];
}

/** One place and key at which content may lie. */
export interface DvcCandidate {
  readonly place: DvcPlace;
  readonly key: string;
  /** Absent: what the key is now. */
  readonly versionId?: string;
}

const LIST_BYTES_MAX = 512 * 1024 * 1024;
/** Entries of lists in memory. */
const LISTED_MAX = 1_000_000;
const listSchema = v.array(
  v.object({ md5: v.pipe(v.string(), v.regex(/^[0-9a-f]{32}$/)), relpath: v.string() }),
);
type FolderList = v.InferOutput<typeof listSchema>;

/** Reads the lists of folders, each once if they fit in memory. */
export function createFolderLists(places: DvcPlaces) {
  const known = new Map<string, FolderList>();
  let listed = 0;
  return {
    async read(output: DvcOutput, signal: AbortSignal): Promise<FolderList> {
      const id = `${output.hashKind} ${output.md5}`;
      const found = known.get(id);
      if (found) return found;
      const list = await readFolderList(places, output, signal);
      if (listed > LISTED_MAX) {
        known.clear();
        listed = 0;
      }
      known.set(id, list);
      listed += list.length;
      return list;
    },
  };
}

export async function stateOf(
  outputs: readonly DvcOutput[],
  lists: ReturnType<typeof createFolderLists>,
  signal: AbortSignal,
): Promise<DvcState> {
  const files: DvcFile[] = [];
  const problems: ImportProblem[] = [];
  for (const output of outputs) {
    const { executable, hashKind, md5, path, problem } = output;
    const same = { executable, hashKind, output };
    if (problem !== undefined) {
      problems.push({ path, ...problem });
    } else if (output.files) {
      for (const cloud of output.files) {
        const sum = cloud.md5 === undefined ? {} : { md5: cloud.md5 };
        files.push({ ...same, path: cloud.path, ...sum, cloud });
      }
    } else if (md5?.endsWith('.dir')) {
      try {
        for (const { md5: sum, relpath } of await lists.read(output, signal))
          files.push({ ...same, executable: false, path: `${path}/${relpath}`, md5: sum });
      } catch (error) {
        problems.push(problemOf(path, error));
      }
    } else files.push({ ...same, path, md5: md5! });
  }
  const safe = onlySafe(files);
  return { files: safe.files, problems: [...problems, ...safe.problems] };
}

function onlySafe(found: readonly DvcFile[]): DvcState {
  const files: DvcFile[] = [];
  const problems: ImportProblem[] = [];
  const paths = new Set<string>();
  for (const file of found.toSorted((left, right) => comparePaths(left.path, right.path))) {
    const { path } = file;
    const reason = paths.has(path)
      ? 'it is named twice'
      : isBelowFile(path, paths)
        ? 'its folder is a file'
        : checkEntryPath(path, { kind: 'file', platform: 'linux' });
    if (reason === undefined) {
      paths.add(path);
      files.push(file);
    } else problems.push({ path, code: 'unsafePath', message: `${path} cannot be imported: ${reason}.` });
  }
  return { files, problems };
}

/** The path of a file sorts before those below it. */
function isBelowFile(path: string, paths: ReadonlySet<string>): boolean {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1))
    if (paths.has(path.slice(0, at))) return true;
  return false;
}

/** Where content may lie: in the cache of this machine, then on the remote, which is opened only then. */
export async function* candidatesOf(
  places: DvcPlaces,
  { cloud, hashKind, md5, output }: Pick<DvcFile, 'cloud' | 'hashKind' | 'md5' | 'output'>,
): AsyncGenerator<DvcCandidate, void, undefined> {
  const keys = md5 === undefined ? [] : keysOfMd5(md5, hashKind);
  if (places.cache) for (const key of keys) yield { place: places.cache, key };
  const place = await places.remote(cloud?.remote ?? output.remote);
  if (!place) return;
  if (cloud) {
    const { path: key, versionId } = cloud;
    if (versionId !== undefined && place.opened.store.versions) yield { place, key, versionId };
    yield { place, key };
  }
  for (const key of keys) yield { place, key };
}

async function readFolderList(
  places: DvcPlaces,
  output: DvcOutput,
  signal: AbortSignal,
): Promise<FolderList> {
  const { hashKind, path } = output;
  const md5 = output.md5!;
  let damaged: DrayError | undefined;
  for await (const { key, place } of candidatesOf(places, { hashKind, md5, output })) {
    const { limit, store } = place.opened;
    const read = await limit.run(() => store.read(key, { maxBytes: LIST_BYTES_MAX, signal }), {
      bytes: 0,
      signal,
    });
    if (!read) continue;
    const digest = createDvcDigest(hashKind);
    digest.add(read.bytes);
    const name = `${key} at ${place.address}, the list of ${path},`;
    damaged = otherContent(name);
    if (!digest.end().includes(md5.slice(0, -'.dir'.length))) continue;
    const checked = v.safeParse(listSchema, parseJson(read.bytes), { abortEarly: true });
    if (checked.success) return checked.output;
    damaged = new DrayError('damaged', `${name} is no list of files.`, { data: { path } });
  }
  throw damaged ?? missing(places, path, output);
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** @param places Those in which the content was looked for. */
export function missing(places: DvcPlaces, path: string, { notPushed, remote }: DvcOutput): DrayError {
  const address = places.addressOf(remote);
  const where = address === undefined ? "in the project's cache" : `on the DVC remote ${address}`;
  const because = notPushed === undefined ? '' : `: ${notPushed}`;
  const isNowhere = address === undefined && because === '';
  return new DrayError('notFound', `The content of ${path} is not ${where}${because}.`, {
    data: { path, reason: 'dvcMissing' },
    ...(isNowhere
      ? { advice: 'The project has no default remote (core.remote): name one with --remote.' }
      : {}),
  });
}
