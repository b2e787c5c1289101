/**
 * A store whose every request runs inside a function of the caller's. The one list of a store's methods for
 * all wrappers: what a wrapper does to one method alone, it overrides in the result.
 */
import type { DeltaFile, DeltaTarget } from '../../model/delta-sides.ts';
import type { FileCalls } from '../file-calls.ts';
import type { MultipartStore, MultipartTraits, ObjectStore } from '../object-store.ts';

type MethodNames<T, Prefix extends string, Rest extends string = never> = `${Prefix}${Exclude<
  {
    [K in keyof T]-?: NonNullable<T[K]> extends (...args: never[]) => Promise<unknown> ? K : never;
  }[keyof T] &
    string,
  Rest
>}`;

/** The methods that make requests, except `FileCalls.entries`, which makes one for all its pages. */
export type CallName =
  | MethodNames<ObjectStore, '', 'close'>
  | MethodNames<MultipartStore, 'multipart.', keyof MultipartTraits>
  | MethodNames<FileCalls, 'files.'>
  | MethodNames<FileCalls['folders'], 'folders.'>
  | MethodNames<FileCalls['deltas'], 'deltas.'>
  | MethodNames<DeltaFile, 'source.', 'close'>
  | MethodNames<DeltaTarget, 'target.', 'discard'>;

/**
 * Calls `send`, once or several times.
 * @param key The key of the request, if it has a single one
 */
export type AroundCall = <T>(
  name: CallName,
  signal: AbortSignal | undefined,
  send: () => Promise<T>,
  key?: string,
) => Promise<T>;

export function wrapStore(store: ObjectStore, around: AroundCall): ObjectStore {
  const { confirmsWrites, files, multipart, parts, place, versions } = store;
  return {
    address: store.address,
    provider: store.provider,
    ...(confirmsWrites && { confirmsWrites }),
    ...(place && { place }),
    head: (key, call) => around('head', call?.signal, () => store.head(key, call), key),
    get: (key, call) => around('get', call?.signal, () => store.get(key, call), key),
    read: (key, call) => around('read', call.signal, () => store.read(key, call), key),
    put: (key, bytes, call) => around('put', call?.signal, () => store.put(key, bytes, call), key),
    putStream: (key, body, call) =>
      around('putStream', call?.signal, () => store.putStream(key, body, call), key),
    list: (request, call) => around('list', call?.signal, () => store.list(request, call), request.prefix),
    delete: (keys, call) => around('delete', call?.signal, () => store.delete(keys, call), keys[0]),
    copy: (from, to, call) => around('copy', call?.signal, () => store.copy(from, to, call), to),
    ...(parts && { parts: (key, call) => around('parts', call?.signal, () => store.parts!(key, call), key) }),
    ...(versions && {
      versions: (request, call) =>
        around('versions', call?.signal, () => store.versions!(request, call), request.prefix),
    }),
    ...(multipart && { multipart: wrapMultipart(multipart, around) }),
    ...(files && { files: wrapFiles(files, around) }),
    close: () => store.close(),
  };
}

function wrapMultipart(multipart: MultipartStore, around: AroundCall): MultipartStore {
  const { confirmsWhole, partBytesMax, putStreamBy } = multipart;
  return {
    ...(putStreamBy && { putStreamBy }),
    ...(confirmsWhole && { confirmsWhole }),
    ...(partBytesMax !== undefined && { partBytesMax }),
    create: (key, call) => around('multipart.create', call?.signal, () => multipart.create(key, call), key),
    uploadPart: (upload, number, bytes, call) =>
      around(
        'multipart.uploadPart',
        call?.signal,
        () => multipart.uploadPart(upload, number, bytes, call),
        upload.key,
      ),
    uploadPartCopy: (upload, number, source, call) =>
      around(
        'multipart.uploadPartCopy',
        call?.signal,
        () => multipart.uploadPartCopy(upload, number, source, call),
        upload.key,
      ),
    listParts: (upload, call) =>
      around('multipart.listParts', call?.signal, () => multipart.listParts(upload, call), upload.key),
    complete: (upload, parts, call) =>
      around('multipart.complete', call?.signal, () => multipart.complete(upload, parts, call), upload.key),
    abort: (upload, call) =>
      around('multipart.abort', call?.signal, () => multipart.abort(upload, call), upload.key),
    listUploads: (request, call) =>
      around(
        'multipart.listUploads',
        call?.signal,
        () => multipart.listUploads(request, call),
        request.prefix,
      ),
  };
}

function wrapFiles(files: FileCalls, around: AroundCall): FileCalls {
  const { deltas, folders } = files;
  return {
    machine: files.machine,
    filesMax: files.filesMax,
    bytesMax: files.bytesMax,
    pathOf: (key) => files.pathOf(key),
    entries: (call) => files.entries(call),
    isReadOnly: (call) => around('files.isReadOnly', call.signal, () => files.isReadOnly(call)),
    write: (written, call) => around('files.write', call.signal, () => files.write(written, call)),
    read: (keys, call) => around('files.read', call.signal, () => files.read(keys, call)),
    keep: (file, call) => around('files.keep', call.signal, () => files.keep(file, call)),
    touch: (key, to, call) => around('files.touch', call.signal, () => files.touch(key, to, call)),
    sync: (call) => around('files.sync', call.signal, () => files.sync(call)),
    folders: {
      isRootTheirs: folders.isRootTheirs,
      read: (keys, call) => around('folders.read', call.signal, () => folders.read(keys, call)),
      set: (changed, call) => around('folders.set', call.signal, () => folders.set(changed, call)),
    },
    deltas: {
      async source(key, signature, call) {
        const open = () => deltas.source(key, signature, call);
        return wrapSource(await around('deltas.source', call.signal, open), around, call.signal);
      },
      async target(key, wish, call) {
        const open = () => deltas.target(key, wish, call);
        return wrapTarget(await around('deltas.target', call.signal, open), around, call.signal);
      },
    },
  };
}

/** @param opened The signal that the side was opened with. */
function wrapSource(source: DeltaFile, around: AroundCall, opened: AbortSignal | undefined): DeltaFile {
  return {
    ...source,
    sign: (start, end, signal) => around('source.sign', signal, () => source.sign(start, end, signal)),
    cut: (signal) => around('source.cut', signal, () => source.cut(signal)),
    read: (ranges, into, wish) => around('source.read', wish.signal, () => source.read(ranges, into, wish)),
    checkUnchanged: () => around('source.checkUnchanged', opened, () => source.checkUnchanged()),
  };
}

function wrapTarget(target: DeltaTarget, around: AroundCall, opened: AbortSignal | undefined): DeltaTarget {
  return {
    ...target,
    sign: (start, end, signal) => around('target.sign', signal, () => target.sign(start, end, signal)),
    cut: (signal) => around('target.cut', signal, () => target.cut(signal)),
    begin: (wish) => around('target.begin', opened, () => target.begin(wish)),
    write: (ranges, bytes, signal) =>
      around('target.write', signal, () => target.write(ranges, bytes, signal)),
    clear: (ranges, signal) => around('target.clear', signal, () => target.clear(ranges, signal)),
    copy: (moves, signal) => around('target.copy', signal, () => target.copy(moves, signal)),
    complete: () => around('target.complete', opened, () => target.complete()),
  };
}
