/**
 * `POST /v1/write`, `/v1/remove`, `/v1/touch`: many small changes in one request, each done in full or not at
 * all.
 */
import * as v from 'valibot';
import { DrayError, type ErrorRecord, toErrorRecord } from '../api/error.ts';
import type { Budget } from '../base/budget.ts';
import { crc64Nvme, formatCrc64 } from '../checksums/crc64-nvme.ts';
import { type FolderParts, setFolder } from '../files/disk/set-folder.ts';
import { loadSetMtime } from '../files/disk/set-mtime.ts';
import { touchLocal } from '../files/scan/local-place.ts';
import { heldReach } from '../files/scan/tree-reach.ts';
import type { PackedFile, TreeWriter, WrittenStat } from '../files/write/tree-writer-types.ts';
import { MODE_BITS, travelling } from '../model/special-modes.ts';
import {
  isFileItem,
  PEER_HEADER,
  PEER_LIMITS,
  type PeerWriteResult,
  type WriteItem,
  WriteItemSchema,
} from '../peer-protocol/messages.ts';
import {
  answerJson,
  bodyBytesOf,
  type PeerCall,
  PeerRefusal,
  parseJson,
  receiveBody,
  receiveJson,
} from './peer-call.ts';
import { peerToken } from './peer-etag.ts';
import { type OfferedFolder, parsePeerPath, statPeerPath } from './peer-paths.ts';

export interface WriteParts {
  readonly folder: OfferedFolder;
  readonly writer: TreeWriter;
  readonly budget: Budget;
  readonly specialModes: boolean;
}

const WriteHead = v.strictObject({
  items: v.pipe(v.array(v.unknown()), v.minLength(1), v.maxLength(PEER_LIMITS.batchItemsMax)),
});

/** Results are in the order of the items. */
export async function answerWrite(call: PeerCall, parts: WriteParts): Promise<void> {
  using body = await receiveBody(call, {
    budget: parts.budget,
    maxBytes: PEER_LIMITS.jsonBytesMax + PEER_LIMITS.batchBytesMax,
    headBytes: headBytesOf(call),
  });
  // They move to the thread that writes them.
  const contents = body.bytes;
  const items = parseWrite(body.head, contents);
  const folders = items.some(({ kind }) => kind === 'folder') ? await foldersOf(parts) : undefined;
  const results: PeerWriteResult[] = new Array(items.length);
  const files: { readonly at: number; readonly file: PackedFile }[] = [];
  let offset = 0;
  for (const [at, item] of items.entries()) {
    const sizeBytes = item.kind === 'file' ? item.sizeBytes : 0;
    const result = attempt(() => prepare({ ...parts, folders }, item, { contents, offset }));
    if ('file' in result) files.push({ at, file: result.file });
    else results[at] = result.result;
    offset += sizeBytes;
  }
  const written =
    files.length > 0
      ? await parts.writer.writeMany(
          contents,
          files.map(({ file }) => file),
        )
      : [];
  for (const [index, result] of written.entries())
    results[files[index]!.at] = 'stat' in result ? writtenResult(result.stat) : { error: result.error };
  answerJson(call.response, 200, { results });
}

function headBytesOf({ request }: PeerCall): number {
  const headBytes = Number(request.headers[PEER_HEADER.headBytes] ?? Number.NaN);
  if (!Number.isSafeInteger(headBytes) || headBytes < 0 || headBytes > bodyBytesOf(request))
    throw new PeerRefusal(
      400,
      'usage',
      `The header ${PEER_HEADER.headBytes} does not say where the contents begin.`,
    );
  return headBytes;
}

function parseWrite(head: Buffer, contents: Buffer): readonly WriteItem[] {
  const parsed = v.safeParse(WriteHead, parseJson(head));
  if (!parsed.success)
    throw new PeerRefusal(
      400,
      'usage',
      `The head is malformed: ${v.flatten(parsed.issues).root?.[0] ?? parsed.issues[0].message}.`,
    );
  const items = parsed.output.items.map(parseItem);
  const announcedBytes = items.reduce(
    (total, item) => total + (item.kind === 'file' ? item.sizeBytes : 0),
    0,
  );
  if (announcedBytes !== contents.length)
    throw new PeerRefusal(
      400,
      'usage',
      `The head announces ${announcedBytes} bytes, and ${contents.length} came.`,
    );
  return items;
}

function parseItem(item: unknown): WriteItem {
  if (isFileItem(item)) return item as WriteItem;
  const parsed = v.safeParse(WriteItemSchema, item);
  if (parsed.success) return parsed.output;
  throw new PeerRefusal(400, 'usage', `The head is malformed: ${parsed.issues[0].message}.`);
}

async function foldersOf({ folder, specialModes, writer }: WriteParts): Promise<FolderParts> {
  return {
    reach: heldReach(folder.folders),
    setMtime: await loadSetMtime(),
    make: (path) => writer.makeFolder(path),
    specialModes,
  };
}

type Prepared = { readonly file: PackedFile } | { readonly result: PeerWriteResult };

function prepare(
  { folders, specialModes, writer }: WriteParts & { readonly folders: FolderParts | undefined },
  item: WriteItem,
  { contents, offset }: { readonly contents: Buffer; readonly offset: number },
): Prepared {
  const path = parsePeerPath(item.path);
  switch (item.kind) {
    case 'file': {
      const { crc64, mode, mtimeNs, sizeBytes } = item;
      const sum = formatCrc64(crc64Nvme(contents.subarray(offset, offset + sizeBytes)));
      if (sum !== crc64)
        throw new DrayError('checksumRefused', `${path} was damaged on its way. Send it again.`, {
          retry: 'retry',
          data: { path },
        });
      return {
        file: {
          path,
          sizeBytes,
          mtimeNs: BigInt(mtimeNs),
          executable: false,
          offset,
          ...travelling(mode, { specialModes }),
        },
      };
    }
    case 'link':
      return { result: writtenResult(writer.writeLink(path, item.target)) };
    case 'folder': {
      const { mode, mtimeNs } = item;
      if (mode === undefined && mtimeNs === undefined) writer.makeFolder(`${path}/`);
      else
        setFolder(folders!, path, {
          ...(mode === undefined ? {} : { mode }),
          ...(mtimeNs === undefined ? {} : { mtimeNs: BigInt(mtimeNs) }),
        });
      return { result: { token: '', mtimeMs: 0 } };
    }
  }
}

const RemoveHead = v.strictObject({
  paths: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(PEER_LIMITS.batchItemsMax)),
});

/** Files, links and empty folders (with a slash at their end). A missing one is not an error. */
const NothingHead = v.strictObject({});

/** Answers once all earlier writes, of any client, are on the disk. */
export async function answerSync(call: PeerCall, { budget, writer }: WriteParts): Promise<void> {
  await receiveJson(call, { budget, schema: NothingHead, form: '{}' });
  await writer.sync();
  answerJson(call.response, 200, {});
}

export async function answerRemove(call: PeerCall, { budget, writer }: WriteParts): Promise<void> {
  const { paths } = await receiveJson(call, { budget, schema: RemoveHead, form: '{"paths":[...]}' });
  const errors: (ErrorRecord | null)[] = paths.map((text) => {
    try {
      const path = parsePeerPath(text);
      writer.remove(text.endsWith('/') ? `${path}/` : path);
      return null;
    } catch (error) {
      return toErrorRecord(error);
    }
  });
  answerJson(call.response, 200, { errors });
}

const TouchHead = v.strictObject({
  path: v.string(),
  mtimeNs: v.optional(v.pipe(v.string(), v.regex(/^-?\d{1,20}$/))),
  mode: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MODE_BITS))),
});

export async function answerTouch(
  call: PeerCall,
  { budget, folder, specialModes }: WriteParts,
): Promise<void> {
  const form = '{"path":"...","mtimeNs":"...","mode":...}';
  const wish = await receiveJson(call, { budget, schema: TouchHead, form });
  const { mode, mtimeNs } = wish;
  const path = parsePeerPath(wish.path);
  if (!statPeerPath(folder, path))
    throw new DrayError('notFound', `There is no file ${path}.`, { data: { path } });
  const to = {
    ...(mtimeNs === undefined ? {} : { mtimeNs: BigInt(mtimeNs) }),
    ...travelling(mode, { specialModes }),
  };
  const { stat } = await touchLocal(folder.realRoot, path, to, heldReach(folder.folders));
  answerJson(call.response, 200, writtenResult(stat));
}

export function writtenResult(stat: WrittenStat): { readonly token: string; readonly mtimeMs: number } {
  return { token: peerToken(stat, Date.now()), mtimeMs: stat.mtimeMs };
}

function attempt(work: () => Prepared): Prepared {
  try {
    return work();
  } catch (error) {
    return { result: { error: toErrorRecord(error) } };
  }
}
