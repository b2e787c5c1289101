/**
 * The built window, held in memory: a few files under names that are known when the server starts. No path of
 * a request ever reaches the disk.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { DrayError } from '../../engine/api/error.ts';
import { pageTypeOf } from '../../engine/host/window-page.ts';

const FILES_MAX = 500;
const BYTES_MAX = 32 * 1024 * 1024;
const PAGE = '/index.html';
/** Vite puts the content's hash into these names. */
const HASHED = /^\/assets\//;

export interface ServedFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly brotli?: Buffer;
  readonly etag: string;
  readonly isImmutable: boolean;
}

/** By the path of the request; `/` is the page. */
export type WindowFiles = ReadonlyMap<string, ServedFile>;

/** @throws `notFound` if the folder holds no built window. */
export function readWindowFiles(folder: string): WindowFiles {
  const files = new Map<string, ServedFile>();
  let bytes = 0;
  for (const name of listFiles(folder)) {
    const path = `/${name.replaceAll('\\', '/')}`;
    if (path.endsWith('.br')) continue;
    const plain = readFileSync(join(folder, name));
    const brotli = readIfThere(join(folder, `${name}.br`));
    bytes += plain.length + (brotli?.length ?? 0);
    if (files.size >= FILES_MAX || bytes > BYTES_MAX)
      throw new DrayError('internal', `${folder} holds too many files to be a built window.`, {
        data: { folder },
      });
    files.set(path, {
      type: pageTypeOf(path),
      plain,
      ...(brotli ? { brotli } : {}),
      etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
      isImmutable: HASHED.test(path),
    });
  }
  const page = files.get(PAGE);
  if (!page) throw new DrayError('notFound', `${folder} holds no built window.`, { data: { folder } });
  return files.set('/', page);
}

export function sendFile(request: IncomingMessage, response: ServerResponse, file: ServedFile): void {
  response.setHeader('content-type', file.type);
  response.setHeader('etag', file.etag);
  response.setHeader('vary', 'accept-encoding');
  response.setHeader(
    'cache-control',
    file.isImmutable ? 'private, max-age=31536000, immutable' : 'private, no-cache',
  );
  if (request.headers['if-none-match'] === file.etag) {
    response.writeHead(304).end();
    return;
  }
  const takesBrotli = /\bbr\b/.test(String(request.headers['accept-encoding'] ?? ''));
  const body = takesBrotli && file.brotli ? file.brotli : file.plain;
  if (body === file.brotli) response.setHeader('content-encoding', 'br');
  response.setHeader('content-length', body.length);
  response.writeHead(200).end(request.method === 'HEAD' ? undefined : body);
}

function listFiles(folder: string): readonly string[] {
  try {
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => statSync(join(folder, name)).isFile()).sort();
  } catch (cause) {
    throw new DrayError('notFound', `There is no built window at ${folder}.`, { data: { folder }, cause });
  }
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
