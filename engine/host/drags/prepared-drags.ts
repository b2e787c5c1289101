/**
 * Parts of a version as real files, for a drag out of the desktop app: the system's drag takes paths. They
 * lie in a private temporary folder, which goes with the dialog, an hour after a drag has begun, or with
 * the engine. What a killed engine left goes with the next drag a day later.
 */
import { randomUUID } from 'node:crypto';
import { lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DrayError } from '../../api/error.ts';
import { DRAG_BYTES_MAX, DRAG_FILES_MAX } from '../../api/host/drags.ts';
import type { AnswerOf, InputOf } from '../../api/host.ts';
import type { JobContext } from '../../api/jobs/jobs.ts';
import { formatBytes, formatCount } from '../../api/text/numbers.ts';
import { parseNamedPlace } from '../../jobs/places/open-side.ts';
import { openPlaceVersion, type RemotePlace, type VersionUrl } from '../../jobs/places/places.ts';
import { copyTree } from '../../jobs/trees/copy-tree.ts';
import type { Version } from '../../jobs/versions/version.ts';
import type { Entry } from '../../model/entry.ts';
import type { HostState } from '../host-state.ts';
import { type HostCall, jobContextOf } from '../port/host-call.ts';

const NAME = 'dray-drag-';
const HOUR_MS = 3_600_000;
const LEFTOVER_MS = 24 * HOUR_MS;

interface Prepared {
  readonly folder: string;
  hasBegun: boolean;
}

const PREPARED = new WeakMap<HostState, Map<string, Prepared>>();

export async function prepareDrag(
  { paths, place: text }: InputOf<'drags.prepare'>,
  call: HostCall,
): Promise<AnswerOf<'drags.prepare'>> {
  const context = jobContextOf(call, homedir(), { throttle: call.host.throttle });
  const place = parseNamedPlace(context, { place: text });
  if (place.kind === 'local' || place.url.kind !== 'version')
    throw new DrayError('usage', `${place.text} is not a version of a repository.`);
  const part = await findPart(context, place, place.url, paths);
  removeLeftovers(call.host.clock.nowMs());
  // Its owner alone may enter it.
  const folder = mkdtempSync(join(tmpdir(), NAME));
  try {
    await copyPart(context, text, folder, part);
    call.signal.throwIfAborted();
  } catch (error) {
    remove(folder);
    throw error;
  }
  const id = randomUUID();
  const prepared = preparedOf(call.host);
  prepared.set(id, { folder, hasBegun: false });
  // A page that is gone asks for nothing more.
  call.owner.closed.addEventListener('abort', () => forgetDrag(call.host, id), { once: true });
  if (call.owner.closed.aborted) forgetDrag(call.host, id);
  return { id, files: part.files, bytes: part.bytes };
}

export function beginDrag(host: HostState, id: string): AnswerOf<'drags.begin'> {
  const one = preparedOf(host).get(id);
  if (!one)
    throw new DrayError('notFound', 'The files of this drag are gone. Prepare them again.', { data: { id } });
  if (!one.hasBegun)
    setTimeout(() => {
      preparedOf(host).delete(id);
      remove(one.folder);
    }, HOUR_MS).unref();
  one.hasBegun = true;
  return { paths: readdirSync(one.folder).map((name) => join(one.folder, name)) };
}

export function forgetDrag(host: HostState, id: string): void {
  const one = preparedOf(host).get(id);
  if (!one || one.hasBegun) return;
  preparedOf(host).delete(id);
  remove(one.folder);
}

function preparedOf(host: HostState): Map<string, Prepared> {
  const known = PREPARED.get(host);
  if (known) return known;
  const none = new Map<string, Prepared>();
  PREPARED.set(host, none);
  host.atEnd(() => {
    for (const { folder } of none.values()) remove(folder);
  });
  return none;
}

interface Part {
  /** Files, links and empty folders, below the place. */
  readonly names: readonly string[];
  readonly files: number;
  readonly bytes: number;
}

/** Ends at the first entry that is too much. */
async function findPart(
  context: JobContext,
  place: RemotePlace,
  url: VersionUrl,
  paths: readonly string[],
): Promise<Part> {
  const { signal } = context;
  const { store, version } = await openPlaceVersion(context, place, url);
  const prefix = url.prefix === '' ? '' : `${url.prefix}/`;
  /** A search finds a folder and what is in it. */
  const names = new Set<string>();
  let files = 0;
  let bytes = 0;
  try {
    for (const path of paths)
      for await (const entry of entriesOf(version, path === '.' ? prefix : prefix + path, signal)) {
        const name = entry.path.slice(prefix.length);
        // The place itself may be an empty folder.
        if (name === '' || names.has(name)) continue;
        names.add(name);
        files += entry.kind === 'folder' ? 0 : 1;
        bytes += entry.kind === 'file' ? entry.sizeBytes : 0;
        if (names.size > DRAG_FILES_MAX || bytes > DRAG_BYTES_MAX) throw tooMuch();
      }
  } finally {
    await store.close();
  }
  return { names: [...names], files, bytes };
}

/** @param path A folder's ends in a slash. */
async function* entriesOf(version: Version, path: string, signal: AbortSignal): AsyncGenerator<Entry> {
  if (path !== '' && !path.endsWith('/')) {
    const entry = await version.find(path, { signal });
    if (!entry) throw new DrayError('notFound', `The version has no file ${path}.`, { data: { path } });
    yield entry;
    return;
  }
  for (let after: string | undefined; ; ) {
    const from = after === undefined ? {} : { continuesAfter: after };
    const page = await version.list({ prefix: path, ...from }, { signal });
    yield* page.entries;
    after = page.next;
    if (after === undefined) return;
  }
}

function tooMuch(): DrayError {
  const most = `${formatCount(DRAG_FILES_MAX)} files and ${formatBytes(DRAG_BYTES_MAX)}`;
  return new DrayError('usage', `A drag takes at most ${most}. Copy this part out to a folder instead.`, {
    data: { reason: 'tooMuchToDrag' },
  });
}

async function copyPart(context: JobContext, place: string, folder: string, part: Part): Promise<void> {
  if (part.names.length === 0) return;
  const ends = { source: { place }, destination: { place: folder } };
  const { failed } = await copyTree(context, { ...ends, filter: { filesFrom: part.names }, noIndex: true });
  if (failed > 0) throw new DrayError('io', 'Some of the files could not be written, so nothing is dragged.');
}

function removeLeftovers(nowMs: number): void {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(NAME)) continue;
    const path = join(tmpdir(), name);
    const stat = lstatSync(path, { throwIfNoEntry: false });
    if (!stat?.isDirectory() || (process.getuid && stat.uid !== process.getuid())) continue;
    if (nowMs - stat.mtimeMs > LEFTOVER_MS) remove(path);
  }
}

/** A file that another program holds open on Windows stays, and the next drag tries again. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch {
    // See above.
  }
}
