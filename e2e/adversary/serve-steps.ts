/**
 * The steps of a hostile client of `dray serve`: every call of the protocol in random order, with ids from
 * earlier answers.
 */
import { Agent, request as httpRequest } from 'node:http';
import { crc64Nvme, formatCrc64, loadCrc64 } from '../../engine/checksums/crc64-nvme.ts';
import type { Draw } from '../seeded-draw.ts';

export interface Step {
  /** The call of the protocol: `write`, `objects/put`, ... */
  readonly name: string;
  readonly method: string;
  /** The path and query below `/v1/`. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Reads from a successful answer what later steps need. */
  readonly learn?: (answer: Buffer) => void;
}

export interface StepAnswer {
  readonly status: number;
  readonly body: Buffer;
}

await loadCrc64();

/**
 * The names that a hostile client uses. Few, so that its steps collide with each other and with the second
 * process.
 */
const FOLDERS = ['play', 'play/d0', 'play/d1', 'play/d1/sub', 'play/d2'] as const;
const NAMES = ['a', 'b', 'c', 'large'] as const;
/** Temporary paths of a folder, as a client might forge them. */
const FORGED = [
  '.dray-tmp/uploads/00000000-0000-4000-8000-000000000000/upload.json',
  '.dray-tmp/uploads/00000000-0000-4000-8000-000000000000/00001',
  '.dray-tmp/writes/1',
  '.dray-tmp/locks/k',
  '.DRAY-TMP/x',
  '.dray/config.json',
  '.Dray/state.json',
] as const;
const OUT = [
  '..',
  '../outside/secret',
  'out/secret',
  'out',
  'secret',
  'out/sub/new',
  'play/out/authorized_keys',
] as const;
/** Roots of an object store. The client chooses the root, so one may lie inside another. */
const ROOTS = ['', 'play', 'play/d0', 'play/d1', 'play/d1/sub', 'out', 'play/d2/.dray-tmp', '..'] as const;
/** Stands for a cut answer: the server had begun it when the file vanished. */
const CUT = 499;
const PART_BYTES = 64 * 1024;

interface Known {
  readonly uploads: string[];
  readonly deltas: string[];
  readonly objectUploads: { at: string; key: string; uploadId: string; parts: unknown[] }[];
}

export interface StepMaker {
  next(): Step;
}

export function createStepMaker(draw: Draw): StepMaker {
  const known: Known = { uploads: [], deltas: [], objectUploads: [] };
  const makers: readonly ((draw: Draw, known: Known) => Step)[] = [
    entries,
    content,
    read,
    write,
    write,
    remove,
    keep,
    touch,
    beginUpload,
    ...Array.from({ length: 4 }, () => goOnWithUpload),
    openDelta,
    ...Array.from({ length: 3 }, () => goOnWithDelta),
    ...Array.from({ length: 6 }, () => objectCall),
    ...Array.from({ length: 6 }, () => objectUpload),
  ];
  return { next: () => draw.of(makers)(draw, known) };
}

function drawPath(draw: Draw): string {
  const roll = draw.below(100);
  if (roll < 70) return `${draw.of(FOLDERS)}/${draw.of(NAMES)}`;
  if (roll < 80) return `${draw.of(FOLDERS)}/${draw.of(FORGED)}`;
  if (roll < 85) return draw.of(FOLDERS);
  return draw.of(OUT);
}

function drawKey(draw: Draw): string {
  const roll = draw.below(100);
  if (roll < 60) return draw.of(NAMES);
  if (roll < 80) return `${draw.of(['d0', 'd1', 'sub', 'd1/sub', 'x'])}/${draw.of(NAMES)}`;
  if (roll < 92) return `${draw.of(['', 'd0/', 'sub/'])}${draw.of(FORGED)}`;
  return draw.of(OUT);
}

const text = (draw: Draw) => Buffer.from(`by the client ${draw.below(1e6)}`);
const crcOf = (bytes: Buffer) => formatCrc64(crc64Nvme(bytes));

function jsonStep(name: string, value: unknown, more: Partial<Step> = {}): Step {
  const body = Buffer.from(JSON.stringify(value));
  return { name, method: 'POST', target: name, headers: {}, body, ...more };
}

function bytesStep(name: string, value: unknown, bytes: Buffer, more: Partial<Step> = {}): Step {
  const head = Buffer.from(JSON.stringify(value));
  return {
    name,
    method: 'POST',
    target: name,
    headers: { 'dray-head-bytes': String(head.length) },
    body: Buffer.concat([head, bytes]),
    ...more,
  };
}

function getStep(name: string, target: string): Step {
  return { name, method: 'GET', target, headers: {}, body: Buffer.alloc(0) };
}

function entries(draw: Draw): Step {
  const more = draw.of(['', '&folded=1', '&folders=1', '&limit=2']);
  return getStep('entries', `entries?path=${encodeURIComponent(draw.of(['', drawPath(draw)]))}${more}`);
}

function content(draw: Draw): Step {
  return getStep('content', `content?path=${encodeURIComponent(drawPath(draw))}`);
}

function read(draw: Draw): Step {
  return jsonStep('read', { paths: [drawPath(draw), `${drawPath(draw)}/`, drawPath(draw)] });
}

function write(draw: Draw): Step {
  const bytes = text(draw);
  const file = {
    kind: 'file',
    path: drawPath(draw),
    sizeBytes: bytes.length,
    mtimeNs: '1600000000000000000',
    mode: draw.of([0o644, 0o600, 0o4755, 0o7777]),
    crc64: crcOf(bytes),
  };
  const link = {
    kind: 'link',
    path: drawPath(draw),
    target: draw.of(['a', '../../outside', '/etc', '.dray-tmp']),
  };
  const folder = { kind: 'folder', path: drawPath(draw), mode: draw.of([0o755, 0o777]), mtimeNs: '0' };
  return bytesStep('write', { items: draw.of([[file], [link, file], [folder, file], [folder]]) }, bytes);
}

function remove(draw: Draw): Step {
  return jsonStep('remove', { paths: [drawPath(draw), `${drawPath(draw)}/`] });
}

function keep(draw: Draw): Step {
  return jsonStep('keep', { from: drawPath(draw), to: drawPath(draw) });
}

function touch(draw: Draw): Step {
  return jsonStep('touch', { path: drawPath(draw), mtimeNs: '0', mode: draw.of([0o600, 0o6755]) });
}

function beginUpload(draw: Draw, { uploads }: Known): Step {
  const input = {
    path: drawPath(draw),
    sizeBytes: 2 * PART_BYTES,
    mtimeNs: '0',
    rangeBytes: PART_BYTES,
    content: 'c',
  };
  return jsonStep('uploads', input, {
    learn: (answer) => remember(uploads, (JSON.parse(answer.toString()) as { upload: string }).upload),
  });
}

/** Every range of an upload has the same content, so that its checksum is known. */
const RANGE = Buffer.alloc(PART_BYTES, 7);
const UPLOAD_CRC = crcOf(Buffer.concat([RANGE, RANGE]));

function goOnWithUpload(draw: Draw, { uploads }: Known): Step {
  const id = uploads.length === 0 ? '0'.repeat(32) : draw.of(uploads);
  switch (draw.below(8)) {
    case 0:
      return jsonStep('uploads/*/state', {}, { target: `uploads/${id}/state` });
    case 1:
      return { ...getStep('DELETE uploads/*', `uploads/${id}`), method: 'DELETE' };
    case 2:
    case 3:
      return jsonStep(
        'uploads/*/complete',
        { crc64: draw.chance(90) ? UPLOAD_CRC : crcOf(RANGE) },
        { target: `uploads/${id}/complete` },
      );
    default:
      return {
        name: 'PUT uploads/*',
        method: 'PUT',
        target: `uploads/${id}?at=${PART_BYTES * draw.below(2)}`,
        headers: { 'dray-crc64nvme': crcOf(RANGE) },
        body: RANGE,
      };
  }
}

function openDelta(draw: Draw, { deltas }: Known): Step {
  const side = draw.of(['source', 'target']);
  const input = {
    side,
    path: drawPath(draw),
    hash: 'xxh3',
    seed: '1',
    blockBytes: 4_096,
    chunkSize: { min: 4_096, average: 8_192, max: 65_536 },
    ...(side === 'target' ? { isInPlace: draw.chance(50), isDryRun: false, mtimeNs: '0', mode: 0o644 } : {}),
  };
  return jsonStep('deltas', input, {
    learn: (answer) => remember(deltas, (JSON.parse(answer.toString()) as { delta: string }).delta),
  });
}

function goOnWithDelta(draw: Draw, { deltas }: Known): Step {
  const id = deltas.length === 0 ? '0'.repeat(32) : draw.of(deltas);
  const target = (call: string) => ({ target: `deltas/${id}/${call}` });
  const bytes = Buffer.alloc(4_096, draw.below(256));
  switch (draw.below(6)) {
    case 0:
      return jsonStep('deltas/*/sign', { start: 0, end: 4_096 }, target('sign'));
    case 1:
      return jsonStep('deltas/*/begin', { sizeBytes: 8_192, keepsOld: draw.chance(50) }, target('begin'));
    case 2:
      return bytesStep('deltas/*/write', { ranges: [0, 4_096] }, bytes, target('write'));
    case 3:
      return jsonStep('deltas/*/complete', {}, target('complete'));
    case 4:
      return { ...getStep('DELETE deltas/*', `deltas/${id}`), method: 'DELETE' };
    default:
      return jsonStep('deltas/*/read', { ranges: [0, 64], sign: false }, target('read'));
  }
}

function objectStep(at: string, call: string, input: unknown, bytes: Buffer, learn?: Step['learn']): Step {
  const target = `objects/${call}?at=${encodeURIComponent(at)}`;
  return bytesStep(`objects/${call}`, input, bytes, { target, ...(learn ? { learn } : {}) });
}

function objectCall(draw: Draw): Step {
  const at = draw.of(ROOTS);
  const none = Buffer.alloc(0);
  switch (draw.below(7)) {
    case 0:
      return objectStep(at, 'head', { key: drawKey(draw) }, none);
    case 1:
      return objectStep(at, 'get', { key: drawKey(draw) }, none);
    case 2:
      return objectStep(at, 'list', { prefix: draw.of(['', 'd0/', '.dray-tmp/', 'out/']) }, none);
    case 3:
      return objectStep(at, 'delete', { keys: [drawKey(draw), drawKey(draw)] }, none);
    case 4:
      return objectStep(at, 'copy', { from: drawKey(draw), to: drawKey(draw) }, none);
    default:
      return objectStep(at, 'put', { key: drawKey(draw) }, text(draw));
  }
}

/** An upload in parts: any of its calls at any time, also under another root or key than its first call. */
function objectUpload(draw: Draw, { objectUploads }: Known): Step {
  if (objectUploads.length === 0 || draw.chance(15)) {
    const [at, key] = [draw.of(ROOTS), drawKey(draw)];
    return objectStep(at, 'create', { key }, Buffer.alloc(0), (answer) => {
      const { uploadId } = JSON.parse(answer.toString()) as { uploadId: string };
      remember(objectUploads, { at, key, uploadId, parts: [] });
    });
  }
  const upload = draw.of(objectUploads);
  const at = draw.chance(85) ? upload.at : draw.of(ROOTS);
  const key = draw.chance(85) ? upload.key : drawKey(draw);
  const uploadId = draw.chance(90)
    ? upload.uploadId
    : draw.of([
        '../../outside',
        '..',
        '00000000-0000-4000-8000-000000000000',
        '',
        `../writes/${upload.uploadId}`,
      ]);
  const named = { key, uploadId };
  switch (draw.below(7)) {
    case 0:
      return objectStep(at, 'listParts', named, Buffer.alloc(0));
    case 1:
      return objectStep(at, 'listUploads', { prefix: '' }, Buffer.alloc(0));
    case 2:
      return draw.chance(30)
        ? objectStep(at, 'abort', named, Buffer.alloc(0))
        : objectStep(at, 'uploadPartCopy', { ...named, number: 1, from: drawKey(draw) }, Buffer.alloc(0));
    case 3:
    case 4:
      return objectStep(at, 'complete', { ...named, parts: upload.parts.slice(0, 1) }, Buffer.alloc(0));
    default:
      return objectStep(at, 'uploadPart', { ...named, number: 1 }, Buffer.alloc(PART_BYTES, 7), (answer) => {
        upload.parts[0] = JSON.parse(answer.toString());
      });
  }
}

const REMEMBERED_MAX = 4;

/**
 * Keeps only the newest items. A forgotten upload stays unfinished on the server, as after a client that
 * vanished.
 */
function remember<T>(list: T[], item: T): void {
  list.push(item);
  if (list.length > REMEMBERED_MAX) list.shift();
}

export interface Sender {
  send(step: Step): Promise<StepAnswer>;
  close(): void;
}

/**
 * Sends over one connection at a time. The server may close it after a refusal just as the next request is
 * sent; that request is sent again.
 */
export function createSender(port: number, token: string): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (step: Step): Promise<StepAnswer> =>
    new Promise((resolve, reject) => {
      const sent = httpRequest(
        {
          agent,
          host: '127.0.0.1',
          port,
          method: step.method,
          path: `/v1/${step.target}`,
          headers: {
            ...step.headers,
            authorization: `Bearer ${token}`,
            ...(step.method === 'GET' ? {} : { 'content-length': String(step.body.length) }),
          },
        },
        (response) => {
          const pieces: Buffer[] = [];
          response.on('data', (piece: Buffer) => pieces.push(piece));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(pieces) }),
          );
          response.on('error', () => resolve({ status: CUT, body: Buffer.concat(pieces) }));
        },
      );
      sent.on('error', (error: NodeJS.ErrnoException) => {
        if (sent.reusedSocket) send(step).then(resolve, reject);
        // The server cuts a listing that fails right after its head, before the head is sent.
        else if (error.code === 'ECONNRESET') resolve({ status: CUT, body: Buffer.alloc(0) });
        else reject(new Error(`${step.method} ${step.target}: ${error.message}`, { cause: error }));
      });
      sent.end(step.body);
    });
  return { send, close: () => agent.destroy() };
}
