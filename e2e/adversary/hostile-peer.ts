/** A hostile peer: most of its answers have a valid form, and content that no honest peer sends. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc64Nvme, formatCrc64, loadCrc64 } from '../../engine/checksums/crc64-nvme.ts';
import type { Draw } from '../seeded-draw.ts';

await loadCrc64();

/** `target`: an absolute path outside the client's folder, to which the links in the peer's listings lead. */
export interface HostilePeerOptions {
  readonly draw: Draw;
  readonly target: string;
}

export interface HostilePeer {
  readonly port: number;
  /** The number of requests answered so far. */
  answered(): number;
  close(): Promise<void>;
}

const GOOD_PATHS = ['a', 'b', 'd/a', 'd/b', 'd/e/f', 'g', 'large'] as const;
const BAD_PATHS = [
  '../outside/secret',
  '../outside/new',
  '/etc/passwd',
  'd/../../outside/new',
  'out/new',
  'out/sub/new',
  'd/out/secret',
  '.dray/config.json',
  '.dray/state.json',
  'd/.dray/config.json',
  '.dray-tmp/x',
  'd/.dray-tmp/writes/x',
  '.',
  '..',
  '',
  'd//a',
  'd/./a',
  'nul\0byte',
  'line\nbreak',
  '\u001b[2Jescape',
  '\u202egnp.exe',
  '\ud800',
  'x'.repeat(5_000),
  `${'p/'.repeat(300)}q`,
  'a/b/c',
  'd',
] as const;
const LARGE_BYTES = 300 * 1024;

export async function startHostilePeer(options: HostilePeerOptions): Promise<HostilePeer> {
  let answered = 0;
  const server: Server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('error', () => {});
    response.on('error', () => {});
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const route = `${request.method} ${new URL(request.url ?? '', 'http://peer').pathname.slice(4)}`;
      answered += 1;
      answer(options, { request, response, route, body: Buffer.concat(pieces) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    answered: () => answered,
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Asked {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly route: string;
  readonly body: Buffer;
}

function answer(options: HostilePeerOptions, asked: Asked): void {
  const { draw } = options;
  const { response, route } = asked;
  if (draw.chance(1)) {
    response.destroy();
    return;
  }
  if (draw.chance(3)) {
    send(asked, draw.of([400, 403, 404, 409, 422, 501]), Buffer.from(drawJunk(draw)));
    return;
  }
  if (draw.chance(2)) {
    send(asked, 200, Buffer.from(drawJunk(draw)));
    return;
  }
  if (route === 'GET ') sendJson(asked, describe(draw));
  else if (route === 'GET entries') send(asked, 200, Buffer.from(listing(options)));
  else if (route.endsWith(' content')) sendContent(draw, asked);
  else if (route === 'POST read') sendBatch(draw, asked);
  else if (route === 'POST write') sendJson(asked, { results: itemsOf(asked.body).map(() => written(draw)) });
  else if (route === 'POST remove') sendJson(asked, { errors: pathsOf(asked.body).map(() => null) });
  else if (route === 'POST uploads')
    sendJson(asked, { upload: 'f'.repeat(32), ranges: [], done: draw.of([[], [0]]) });
  else sendJson(asked, draw.of([{}, { token: 't', mtimeMs: 0 }, { delta: 'e'.repeat(32), sizeBytes: 9 }]));
}

function send(
  { request, response }: Asked,
  status: number,
  bytes: Buffer,
  more: Record<string, string> = {},
): void {
  response.writeHead(status, { 'dray-peer': '1', 'content-length': String(bytes.length), ...more });
  response.end(request.method === 'HEAD' ? undefined : bytes);
}

function sendJson(asked: Asked, value: unknown): void {
  send(asked, 200, Buffer.from(JSON.stringify(value)), { 'content-type': 'application/json' });
}

function describe(draw: Draw): unknown {
  const limits = { bodyBytesMax: draw.of([64 << 20, 1, 1e15]), batchItemsMax: draw.of([4_096, 0, -1]) };
  return {
    protocol: draw.chance(97) ? 1 : draw.of([0, 2, '1', null]),
    software: draw.of(['dray 0.1.0', '\u001b[31mred', 'x'.repeat(9_000)]),
    readOnly: draw.chance(10),
    ...(draw.chance(80) ? {} : { limits }),
    platform: 'linux',
    timeMs: draw.of([0, Date.UTC(2026, 0, 1), -1]),
  };
}

/** Mostly in byte order, since clients refuse a whole listing that is out of order. */
function listing({ draw, target }: HostilePeerOptions): string {
  const rows = new Map<string, unknown[]>();
  const count = 1 + draw.below(8);
  for (let at = 0; at < count; at += 1) {
    const path = draw.chance(70) ? draw.of(GOOD_PATHS) : draw.of(BAD_PATHS);
    rows.set(path, drawRow(draw, path, target));
  }
  // A link, and a file below it: writing the file would leave the folder.
  if (draw.chance(20)) {
    rows.set('out', ['out', 'l', 0, 0, 0o777, 't', target]);
    rows.set('out/new', ['out/new', 'f', 3, 0, 0o644, 't']);
  }
  let entries = [...rows.values()];
  if (draw.chance(90))
    entries = entries.sort((a, b) => Buffer.compare(Buffer.from(String(a[0])), Buffer.from(String(b[0]))));
  if (draw.chance(5)) entries.push(...entries.slice(0, 1));
  const lines = [JSON.stringify({ entries })];
  if (draw.chance(95))
    lines.push(JSON.stringify({ end: true, problems: draw.chance(5) ? ['\u001b[2J'] : [] }));
  return `${lines.join('\n')}${draw.chance(97) ? '\n' : ''}`;
}

function drawRow(draw: Draw, path: string, target: string): unknown[] {
  const kind = draw.chance(80) ? 'f' : draw.of(['l', 'd', 'D', 'x']);
  const sizeBytes = draw.chance(85) ? sizeOf(path) : draw.of([0, -1, 1.5, 2 ** 53, 1e18, null]);
  const mtimeMs = draw.chance(90) ? 1.6e12 + draw.below(9) * 1_000 : draw.of([-1e18, 1e300, null, 'now']);
  const mode = draw.of([0o644, 0o600, 0o4755, 0o7777, 0o100_644, -1]);
  const row = [path, kind, sizeBytes, mtimeMs, mode, draw.of(['t', '', 'x'.repeat(2_000)])];
  return kind === 'l' ? [...row, draw.of([target, '../outside/secret', 'a', '', '\0'])] : row;
}

const sizeOf = (path: string) => (path === 'large' ? LARGE_BYTES : path.length);
const contentOf = (path: string) => Buffer.alloc(sizeOf(path), path || ' ');
const crcOf = (bytes: Buffer) => formatCrc64(crc64Nvme(bytes));

function sendContent(draw: Draw, asked: Asked): void {
  const path = new URL(asked.request.url ?? '', 'http://peer').searchParams.get('path') ?? '';
  const whole = contentOf(path);
  const [, start = '0', end = ''] = /bytes=(\d+)-(\d*)/.exec(asked.request.headers.range ?? '') ?? [];
  const bytes = whole.subarray(Number(start), end === '' ? undefined : Number(end) + 1);
  const sent = draw.chance(85) ? bytes : Buffer.alloc(draw.of([0, 1, bytes.length + 9]), 'z');
  const isPart = asked.request.headers.range !== undefined && draw.chance(95);
  send(asked, isPart ? 206 : 200, sent, {
    etag: draw.chance(90) ? '"t"' : draw.of(['"u"', 't', '""']),
    'dray-mtime-ns': draw.of(['1600000000000000000', '-1', '99999999999999999999', 'x']),
    'dray-mode': draw.of(['644', '7777', '-1', '999']),
    ...(draw.chance(80) ? { 'dray-crc64nvme': crcOf(draw.chance(90) ? whole : sent) } : {}),
    ...(isPart
      ? {
          'content-range': `bytes ${start}-${Number(start) + sent.length - 1}/${draw.chance(90) ? whole.length : 7}`,
        }
      : {}),
  });
}

function sendBatch(draw: Draw, asked: Asked): void {
  const contents: Buffer[] = [];
  const results = pathsOf(asked.body).map((path) => {
    if (draw.chance(6))
      return {
        error: {
          code: draw.of(['io', 'notFound', 'made-up']),
          message: '\u001b[2J\r\n',
          retry: 'no',
          data: {},
        },
      };
    const bytes = contentOf(path);
    contents.push(bytes);
    return {
      sizeBytes: draw.chance(95) ? bytes.length : draw.of([0, bytes.length + 1, 2 ** 40]),
      mtimeNs: draw.of(['1600000000000000000', '0']),
      mode: draw.of([0o644, 0o4755, 0o7777]),
      token: 't',
      crc64: draw.chance(92) ? crcOf(bytes) : '0123456789abcdef',
    };
  });
  const head = Buffer.from(JSON.stringify({ results: draw.chance(95) ? results : [...results, ...results] }));
  const headBytes = draw.chance(97) ? head.length : draw.of([0, -1, head.length + 5]);
  send(asked, 200, Buffer.concat([head, ...contents]), { 'dray-head-bytes': String(headBytes) });
}

function written(draw: Draw): unknown {
  return draw.chance(90) ? { token: 't', mtimeMs: 1.6e12 } : draw.of([{}, null, { token: 7, mtimeMs: 'x' }]);
}

function pathsOf(body: Buffer): readonly string[] {
  return (JSON.parse(body.toString()) as { paths: string[] }).paths;
}

function itemsOf(body: Buffer): readonly unknown[] {
  // The head is JSON and ends at its last bracket; the contents in these tests have no brackets.
  const text = body.toString('latin1');
  return (JSON.parse(text.slice(0, text.indexOf(']}') + 2)) as { items: unknown[] }).items;
}

function drawJunk(draw: Draw): string {
  return draw.of([
    '',
    '{',
    'null',
    '[]',
    '{"error":{}}',
    '{"error":{"code":"internal","message":"x","retry":"no","data":{}}}',
    '{"error":{"code":"notFound","message":"\\u001b[2J","retry":"retry","data":{"__proto__":{"x":1}}}}',
    `{"error":{"code":"${'c'.repeat(9_000)}","message":"${'m'.repeat(200_000)}","retry":"no","data":{}}}`,
    '['.repeat(100_000),
    `{"entries":[${'["a","f",1,1,1,"t"],'.repeat(2_000)}[]]}`,
    '<html>',
    '\0\u0001\u0002',
  ]);
}
