/**
 * A peer's folder as a store of plain objects: each file is one object, under its path. For copies between a
 * peer and another store, and for any work on stores. Copies between a peer and a local folder use
 * `peer-files.ts`, many files per request. Of an object's description only its time (`mtime`) and mode
 * (`mode`, in octal digits) are kept, which are the file's own. Conditions are refused: repositories use
 * another interface of a peer, which supports them.
 */
import { DrayError, fromErrorRecord, type ReceivedError, receivedError } from '../../api/error.ts';
import { comparePaths } from '../../model/entry.ts';
import type { HeldPart } from '../../model/held-part.ts';
import { formatObjectTime, MTIME_METADATA } from '../../model/object-time.ts';
import { PEER_LIMITS, type PeerEntryRow, type WriteItem } from '../../peer-protocol/messages.ts';
import {
  type EntriesOptions,
  type FileCall,
  type FileCalls,
  type FileRead,
  type FileToWrite,
  type FileWritten,
  MODE_METADATA,
  type ServedEntry,
} from '../file-calls.ts';
import type {
  CallOptions,
  CopyOptions,
  CopySource,
  GetOptions,
  HeadOptions,
  ListedObject,
  ListPage,
  ListRequest,
  ObjectBytes,
  ObjectInfo,
  ObjectRead,
  ObjectStore,
  PutOptions,
  PutOutcome,
  ReadOptions,
} from '../object-store.ts';
import { putStreamInParts } from '../stream-in-parts.ts';
import { isNotFound, type PeerClient } from './peer-client.ts';
import { deltaOpening, openPeerDeltaSource, openPeerDeltaTarget } from './peer-delta-sides.ts';
import {
  getPeerFile,
  headPeerFile,
  isPeerReadOnly,
  keepPeerFile,
  listPeerEntries,
  type PeerFileInfo,
  readPeerFile,
  readPeerFiles,
  removePeerFiles,
  sumOf,
  syncPeerFiles,
  touchPeerFile,
  writePeerFiles,
} from './peer-files.ts';
import { createPeerFolders } from './peer-folders.ts';
import { createPeerMultipart, fileMetaOf, mtimeIn, refuseCondition } from './peer-multipart.ts';
import { type PeerRoot, peerRoot } from './peer-root.ts';
import { putLarge } from './put-large.ts';

const PAGE_KEYS = 1_000;
/** Listings that are read a page at a time. Each is an open request meanwhile. */
const OPEN_LISTINGS_MAX = 8;
const REMOVED_AT_ONCE = 1_000;

/** @param below A folder of the peer's, '' for the served folder. The store owns the client. */
export function createPeerFileStore(client: PeerClient, below: string): ObjectStore {
  const root = peerRoot(client, below);
  const listings = new Map<string, Listing>();
  const multipart = createPeerMultipart(root);
  const head: ObjectStore['head'] = (key, options) => headFile(root, key, options);
  const put: ObjectStore['put'] = async (key, bytes, options = {}) => {
    refuseCondition(options);
    const isLarge = bytes.byteLength > PEER_LIMITS.batchBytesMax;
    return isLarge ? putLarge(multipart, key, bytes, options) : putSmall(root, key, bytes, options);
  };
  return {
    address: `${client.address}${below === '' ? '' : `/${below}`}`,
    provider: 'local',
    confirmsWrites: true,
    head,
    get: (key, options) => getFile(root, key, options),
    read: (key, options) => readFile(root, key, options),
    put,
    putStream: (key, body, options = {}) => putStreamInParts({ head, put, multipart }, key, body, options),
    list: (request, options) => listPage({ client, below, listings }, request, root.signalOf(options)),
    delete: (keys, options) => removeFiles(root, keys, options),
    copy: (from, to, options) => setTime(root, from, to, options),
    multipart,
    files: fileCalls(root),
    async close() {
      await Promise.allSettled([...listings.values()].map(({ pages }) => pages.return(undefined)));
      await client.close();
    },
  };
}

async function headFile(
  { client, pathOf, signalOf }: PeerRoot,
  key: string,
  options: HeadOptions = {},
): Promise<ObjectInfo | undefined> {
  const { checksums = false } = options;
  const info = await headPeerFile(client, pathOf(key), { checksums, signal: signalOf(options) });
  return info && objectInfo(key, info);
}

async function getFile(
  { client, pathOf, signalOf }: PeerRoot,
  key: string,
  options: GetOptions = {},
): Promise<ObjectRead | undefined> {
  const read = await getPeerFile(client, pathOf(key), { ...options, signal: signalOf(options) });
  if (!read) return undefined;
  const { body, info, sizeBytes } = read;
  return { sizeBytes, etag: info.etag, body, info: objectInfo(key, info) };
}

async function readFile(
  { client, pathOf, signalOf }: PeerRoot,
  key: string,
  options: ReadOptions,
): Promise<ObjectBytes | undefined> {
  const read = await readPeerFile(client, pathOf(key), { ...options, signal: signalOf(options) });
  return read && { bytes: read.bytes, etag: read.info.etag, info: objectInfo(key, read.info) };
}

/** In one request. */
async function putSmall(
  { client, pathOf, signalOf }: PeerRoot,
  key: string,
  bytes: Uint8Array,
  options: PutOptions,
): Promise<PutOutcome> {
  const { mode, mtimeNs } = fileMetaOf(options);
  const item = {
    kind: 'file',
    path: pathOf(key),
    sizeBytes: bytes.byteLength,
    mtimeNs: mtimeNs.toString(),
    crc64: sumOf(bytes),
    ...(mode === undefined ? {} : { mode }),
  } as const;
  const [result] = await writePeerFiles(client, { items: [item], contents: [bytes] }, signalOf(options));
  if ('error' in result!) throw errorOf(result.error);
  const checksums = { covers: 'whole', crc64nvme: BigInt(`0x${item.crc64}`) } as const;
  return { written: true, etag: result!.token, checksums };
}

async function removeFiles(
  { client, entryPathOf, signalOf }: PeerRoot,
  keys: readonly string[],
  options: CallOptions | undefined,
): Promise<void> {
  for (let at = 0; at < keys.length; at += REMOVED_AT_ONCE) {
    const paths = keys.slice(at, at + REMOVED_AT_ONCE).map(entryPathOf);
    for (const error of await removePeerFiles(client, paths, signalOf(options)))
      if (error) throw errorOf(error);
  }
}

/** The only supported copy: a file onto itself with another time, without sending its bytes. */
async function setTime(
  { client, pathOf, signalOf }: PeerRoot,
  from: CopySource,
  to: string,
  options: CopyOptions = {},
): Promise<PutOutcome> {
  const mtimeNs = options.description && mtimeIn(options.description);
  if (from !== to || mtimeNs === undefined)
    throw new DrayError('unsupported', `${client.address} does not support copying within itself.`);
  const signal = signalOf(options);
  const before = await headPeerFile(client, pathOf(to), { checksums: false, signal });
  if (!before)
    throw new DrayError('notFound', `There is no ${to} at ${client.address}.`, { data: { key: to } });
  if (options.ifMatch !== undefined && options.ifMatch !== before.etag)
    throw new DrayError('conflict', `${to} has changed.`, { data: { key: to } });
  return { written: true, etag: await touchPeerFile(client, { path: pathOf(to), mtimeNs }, signal) };
}

function fileCalls(root: PeerRoot): FileCalls {
  const { below, client, entryPathOf, pathOf, signalOf } = root;
  return {
    machine: client.address,
    pathOf: entryPathOf,
    isReadOnly: (options) => isPeerReadOnly(client, signalOf(options)),
    filesMax: PEER_LIMITS.batchItemsMax,
    bytesMax: PEER_LIMITS.batchBytesMax,
    entries: ({ after, folders, onPart, onProblem, ...options }) =>
      entriesOf(client, { below, after, folders, onPart, onProblem }, signalOf(options)),
    folders: createPeerFolders(client, below),
    keep: ({ fromPath, to }, options) =>
      keepPeerFile(client, { from: fromPath, to: pathOf(to) }, signalOf(options)),
    touch: (key, to, options) => touchPeerFile(client, { path: pathOf(key), ...to }, signalOf(options)),
    sync: (options) => syncPeerFiles(client, signalOf(options)),
    write: (files, options) => writeFiles(root, files, options),
    read: (keys, options) => readFiles(root, keys, options),
    deltas: {
      source: (key, signature, options) =>
        openPeerDeltaSource(client, deltaOpening(pathOf(key), signature), signalOf(options)),
      target: (key, { isDryRun, mode, mtimeNs, signature }, options) =>
        openPeerDeltaTarget(
          client,
          { ...deltaOpening(pathOf(key), signature), isDryRun, mode, mtimeNs: mtimeNs.toString() },
          signalOf(options),
        ),
    },
  };
}

async function writeFiles(
  { client, entryPathOf, signalOf }: PeerRoot,
  files: readonly FileToWrite[],
  options: FileCall,
): Promise<readonly FileWritten[]> {
  const items = files.map((file) => itemOf(entryPathOf(file.key), file));
  const contents = files.filter(({ special }) => !special).map(({ bytes }) => bytes);
  const results = await writePeerFiles(client, { items, contents }, signalOf(options));
  return results.map((result) =>
    'error' in result ? { error: receivedError(result.error) } : { etag: result.token },
  );
}

async function readFiles(
  { client, pathOf, signalOf }: PeerRoot,
  keys: readonly string[],
  options: FileCall,
): Promise<readonly FileRead[]> {
  const { contents, results } = await readPeerFiles(client, { paths: keys.map(pathOf) }, signalOf(options));
  let at = 0;
  return results.map((result) => {
    if ('error' in result) return { error: receivedError(result.error) };
    const bytes = contents.subarray(at, at + result.sizeBytes);
    at += result.sizeBytes;
    return { bytes, mtimeNs: BigInt(result.mtimeNs), mode: result.mode, etag: result.token };
  });
}

/** A missing folder is empty. One that disappears during its listing is an error. */
async function* entriesOf(
  client: PeerClient,
  {
    after,
    below,
    folders = false,
    onPart,
    onProblem = () => {},
  }: {
    readonly below: string;
    readonly after: string | undefined;
    readonly folders: boolean | undefined;
    readonly onProblem: EntriesOptions['onProblem'];
    readonly onPart: EntriesOptions['onPart'];
  },
  signal: AbortSignal,
): AsyncGenerator<readonly ServedEntry[]> {
  const options = { below, folders, signal, onPart, onProblem, ...(after === undefined ? {} : { after }) };
  try {
    for await (const rows of listPeerEntries(client, options)) yield rows.map(entryOf);
  } catch (error) {
    if (!isNotFound(error) || after !== undefined) throw error;
  }
}

function entryOf([key, kind, sizeBytes, modifiedMs, mode, etag, target = '']: PeerEntryRow): ServedEntry {
  const entry = { key, sizeBytes, modifiedMs, mode, etag };
  switch (kind) {
    case 'f':
      return entry;
    case 'l':
      return { ...entry, special: { kind: 'link', target } };
    case 'd':
      return { ...entry, special: { kind: 'folder' } };
    case 'D':
      return { ...entry, special: { kind: 'folder', holds: true } };
  }
}

function itemOf(path: string, { bytes, mode, mtimeNs, special }: FileToWrite): WriteItem {
  if (special?.kind === 'link') return { kind: 'link', path, target: special.target };
  const modes = mode === undefined ? {} : { mode };
  if (special?.kind === 'folder') return { kind: 'folder', path, ...modes };
  const sizeBytes = bytes.byteLength;
  return { kind: 'file', path, sizeBytes, mtimeNs: mtimeNs.toString(), crc64: sumOf(bytes), ...modes };
}

function objectInfo(
  key: string,
  { crc64, etag, isSparse, mode, mtimeNs, sizeBytes }: PeerFileInfo,
): ObjectInfo {
  return {
    key,
    sizeBytes,
    etag,
    etagIsOpaque: true,
    ...(isSparse ? { isSparse } : {}),
    modifiedMs: Number(mtimeNs / 1_000_000n),
    metadata: { [MTIME_METADATA]: formatObjectTime(mtimeNs), [MODE_METADATA]: mode.toString(8) },
    ...(crc64 === undefined ? {} : { checksums: { covers: 'whole', crc64nvme: crc64 } as const }),
  };
}

interface Listing {
  readonly pages: AsyncGenerator<readonly PeerEntryRow[]>;
  readonly rest: ListedObject[];
  readonly problems: string[];
  readonly parts: HeldPart[];
  /** Given by earlier pages, this key included: skipped. */
  givenUpTo: string | undefined;
}

interface Lister {
  readonly client: PeerClient;
  readonly below: string;
  /** By its parameters and its position. */
  readonly listings: Map<string, Listing>;
}

/** A listing continues where it is: the peer walks its folder once, however many pages are taken. */
async function listPage(lister: Lister, request: ListRequest, signal: AbortSignal): Promise<ListPage> {
  const { limit = PAGE_KEYS, prefix } = request;
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
  const listing = takeListing(lister, request) ?? openListing(lister, request, { folder, signal });
  const folders: string[] = [];
  const objects: ListedObject[] = listing.rest.splice(0);
  let isEnded = false;
  while (objects.length < limit && !isEnded) {
    const { done, value } = await nextRows(listing.pages, request);
    if (done) isEnded = true;
    else
      for (const row of value) {
        const key = folder + row[0];
        if (!key.startsWith(prefix) || isTold(listing, key)) continue;
        if (row[1] === 'f') objects.push(listedObject(key, row));
        else if (row[1] === 'd' && request.delimiter) folders.push(key);
      }
  }
  listing.rest.push(...objects.splice(limit));
  const last = objects.at(-1)?.key;
  if ((isEnded && listing.rest.length === 0) || last === undefined) {
    const { parts, problems } = listing;
    const told = { ...(problems.length > 0 ? { problems } : {}), ...(parts.length > 0 ? { parts } : {}) };
    return { objects, folders, ...told };
  }
  keepListing(lister, listingName(request, last), listing);
  return { objects, folders, continuation: last };
}

function openListing(
  { below, client }: Lister,
  request: ListRequest,
  { folder, signal }: { readonly folder: string; readonly signal: AbortSignal },
): Listing {
  const problems: string[] = [];
  const parts: HeldPart[] = [];
  const pages = listPeerEntries(client, {
    below: [below, folder.slice(0, -1)].filter((part) => part !== '').join('/'),
    ...afterOf(request, folder),
    ...(request.delimiter ? { folded: true } : {}),
    signal,
    onProblem: (message) => problems.push(message),
    // The parts below a folder are named from there.
    ...(folder === '' ? { onPart: (part) => parts.push(part) } : {}),
  });
  return {
    pages,
    rest: [],
    parts,
    problems,
    givenUpTo: request.delimiter ? undefined : request.continuation,
  };
}

/** A missing folder is an empty prefix, unless it existed for the page before. */
async function nextRows(
  pages: Listing['pages'],
  { continuation }: ListRequest,
): Promise<IteratorResult<readonly PeerEntryRow[]>> {
  try {
    return await pages.next();
  } catch (error) {
    if (isNotFound(error) && continuation === undefined) return { done: true, value: undefined };
    throw error;
  }
}

function isTold(listing: Listing, key: string): boolean {
  if (listing.givenUpTo === undefined) return false;
  if (comparePaths(key, listing.givenUpTo) <= 0) return true;
  listing.givenUpTo = undefined;
  return false;
}

function takeListing({ listings }: Lister, request: ListRequest): Listing | undefined {
  const { continuation } = request;
  if (continuation === undefined) return undefined;
  const name = listingName(request, continuation);
  const listing = listings.get(name);
  listings.delete(name);
  return listing;
}

/** Two listings may be at the same key. */
function listingName({ delimiter, prefix }: ListRequest, continuation: string): string {
  return [delimiter ?? '', prefix, continuation].join('\0');
}

function keepListing({ listings }: Lister, name: string, listing: Listing): void {
  listings.set(name, listing);
  for (const [oldest, { pages }] of listings) {
    if (listings.size <= OPEN_LISTINGS_MAX) break;
    listings.delete(oldest);
    void pages.return(undefined);
  }
}

/**
 * An interrupted listing starts again, except for one level: it reports unreadable entries only at its end.
 */
function afterOf(
  { continuation, delimiter, startAfter }: ListRequest,
  folder: string,
): { readonly after?: string } {
  const after = delimiter ? (continuation ?? startAfter) : startAfter;
  return after?.startsWith(folder) && after !== folder ? { after: after.slice(folder.length) } : {};
}

function listedObject(key: string, [, , sizeBytes, modifiedMs, , etag]: PeerEntryRow): ListedObject {
  return { key, sizeBytes, etag, modifiedMs, isFile: true };
}

function errorOf(error: ReceivedError): DrayError {
  return fromErrorRecord(receivedError(error));
}
